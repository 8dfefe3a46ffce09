/**
 * The call path of a step, from above: each rank's tokens and vote, the table that all see, the padding and the cut,
 * and which branch the wrapper takes.
 */

import { listen, make } from "../base/dom";
import type { Model } from "../base/model";
import type { Palette } from "../base/theme";
import { Choice } from "../figure/choice";
import { Figure, type State } from "../figure/figure";
import { Slider } from "../figure/slider";
import { paintCut } from "./bars";
import { agreement, soundValues, type Agreement, type Values } from "./vote";

const MOST_TOKENS = 1024;

interface Rank {
  slider: Slider;
  may: HTMLInputElement;
  vote: HTMLElement;
}

export class RankMap extends Figure<Values> {
  readonly #ranks: Rank[] = [];
  readonly #rows = make("div.rank-rows");
  readonly #threshold: Slider;
  readonly #count: Choice;
  readonly #ubatches: Choice;
  readonly #table = make("table");
  readonly #cut = make("div.rank-cut");
  readonly #cutSays = make("p.rank-says");
  readonly #branches = make("div.rank-branches");
  readonly #why = make("p.rank-why", { dir: "auto" });

  constructor(model: Model<State<Values>>, el: HTMLElement, signal: AbortSignal) {
    super(model, el, signal, "rank-map", "Rank map: the vote on microbatches");
    this.#threshold = new Slider("threshold", (threshold) => this.change({ ...this.values, threshold }), signal);
    this.#count = new Choice("Ranks", [2, 3, 4], (ranks) => this.#resize(ranks), signal);
    this.#ubatches = new Choice("Microbatches", [2, 3, 4], (ubatches) => this.change({ ...this.values, ubatches }), signal);
    this.body.append(
      make("div.figure-controls", this.#count.element, this.#ubatches.element),
      make("ol.rank-path",
        station("check_ubatch_thresholds", "each rank for itself: enough tokens?", this.#threshold.element, this.#rows),
        station("_synchronize_dp_ranks", "one all-reduce: every rank sees this table", make("div.figure-scroll", this.#table)),
        station("maybe_create_ubatch_slices", "", this.#cutSays, this.#cut),
        station("UBatchWrapper.__call__", "the same branch on every rank", this.#branches, this.#why)));
  }

  protected sound(values: unknown): Values {
    return soundValues(values);
  }

  protected draw(values: Values, palette: Palette, width: number): string {
    const agreed = agreement(values);
    this.root.classList.toggle("ubviz-narrow", width < 560);
    for (const [name, colour] of [["yes", palette.ubatch(2)], ["first", palette.ubatch(0)]] as const) {
      this.root.style.setProperty(`--ubviz-${name}`, colour);
    }
    this.#showControls(values, agreed);
    this.#showTable(values, agreed);
    const all = agreed.votes.every(Boolean);
    const padded = Math.max(...values.tokens);
    const at = agreed.cuts.join(" and ");
    this.#cutSays.textContent = agreed.should_ubatch
      ? `All pad to the largest rank, ${padded} tokens, and cut at token ${at}.`
      : all ? `Padded to ${padded} and cut at token ${at}, rank ${agreed.empty} would end with padding only: so nobody is cut.`
        : "Not reached: nobody pads, nobody is cut.";
    this.#cut.replaceChildren(paintCut(values, agreed, palette, Math.max(width - 28 - 24, 120)));
    const [parts, whole] = [`${values.ubatches} microbatches on every rank, a thread each`, "one batch on every rank, no thread"];
    this.#branches.replaceChildren(branch(parts, agreed.should_ubatch), branch(whole, !agreed.should_ubatch));
    this.#why.textContent = `${agreed.why[0]!.toUpperCase()}${agreed.why.slice(1)}.`;
    this.root.dataset.ubvizTaken = agreed.should_ubatch ? "microbatches" : "whole";
    return `${agreed.should_ubatch ? "Microbatches on every rank" : "No microbatches on any rank"}. ${this.#why.textContent}`;
  }

  #resize(ranks: number): void {
    const { tokens, allowed, ...rest } = this.values;
    while (tokens.length < ranks) {
      tokens.push(rest.threshold);
      allowed.push(true);
    }
    this.change({ ...rest, tokens: tokens.slice(0, ranks), allowed: allowed.slice(0, ranks) });
  }

  #showControls({ tokens, allowed, threshold, ubatches }: Values, { votes }: Agreement): void {
    while (this.#ranks.length < tokens.length) this.#ranks.push(this.#rank(this.#ranks.length));
    if (this.#rows.childElementCount !== tokens.length) { // only then: who drags a slider must keep it
      this.#rows.replaceChildren(...this.#ranks.slice(0, tokens.length).map(({ slider }) => slider.element));
    }
    const most = Math.max(MOST_TOKENS, threshold, ...tokens);
    this.#threshold.show(threshold, ubatches, most, `${threshold} tokens`);
    this.#count.show(tokens.length);
    this.#ubatches.show(ubatches);
    tokens.forEach((count, rank) => {
      const { slider, may, vote } = this.#ranks[rank]!;
      slider.show(count, 0, most, `${count} tokens`, threshold);
      may.checked = allowed[rank]!;
      vote.textContent = votes[rank] ? "yes" : "no";
      vote.dataset.ubvizVote = vote.textContent;
    });
  }

  #rank(rank: number): Rank {
    const may = make("input", { type: "checkbox" });
    listen(may, "change", () => {
      const { allowed, ...rest } = this.values;
      allowed[rank] = may.checked;
      this.change({ ...rest, allowed });
    }, this.signal);
    const vote = make("span.rank-vote");
    const slider = new Slider(`rank ${rank}`, (count) => {
      const { tokens, ...rest } = this.values;
      tokens[rank] = count;
      this.change({ ...rest, tokens });
    }, this.signal, make("label.rank-may", may, "allowed"), vote);
    may.setAttribute("aria-label", `rank ${rank} is allowed microbatches`);
    return { slider, may, vote };
  }

  #showTable({ tokens }: Values, { votes }: Agreement): void {
    const head = make("tr", make("th", { scope: "col" }, ""), ...tokens.map((_, rank) => make("th", { scope: "col" }, `rank ${rank}`)));
    const row = (name: string, cells: (string | number)[]) =>
      make("tr", make("th", { scope: "row" }, name), ...cells.map((cell) => make("td", String(cell))));
    this.#table.replaceChildren(make("thead", head),
      make("tbody", row("tokens", tokens), row("vote", votes.map((vote) => (vote ? "yes" : "no")))));
  }
}

/** A stop on the way: the function's name, what it does, and what it shows. */
function station(name: string, does: string, ...shows: HTMLElement[]): HTMLElement {
  return make("li.rank-station", make("p.rank-name", make("code", name), does ? `: ${does}` : ""), ...shows);
}

const branch = (what: string, taken: boolean): HTMLElement =>
  make("div.rank-branch", { "data-ubviz-taken": String(taken) }, make("strong", taken ? "taken" : "not taken"), ` ${what}`);
