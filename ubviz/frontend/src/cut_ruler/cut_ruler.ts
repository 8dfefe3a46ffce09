/** Requests side by side, their tokens under a ruler, one row a microbatch; drag the lengths and see where the cut falls. */

import { button, listen, make } from "../base/dom";
import type { Model } from "../base/model";
import type { Palette } from "../base/theme";
import { Choice } from "../figure/choice";
import { Figure, type State } from "../figure/figure";
import { Slider } from "../figure/slider";
import { MOST_REQUESTS, partsOf, soundValues, startsOf, type Part, type Values } from "./cut";
import { paintRuler } from "./rows";

const MOST_TOKENS = 32;

export class CutRuler extends Figure<Values> {
  readonly #picture = make("div.cut-picture");
  readonly #table = make("table");
  readonly #rows = make("div.cut-rows");
  readonly #sliders: Slider[] = [];
  readonly #ubatches: Choice;
  readonly #more = button("One request more", "One request more", "+ request");
  readonly #less = button("One request less", "One request less", "− request");

  constructor(model: Model<State<Values>>, el: HTMLElement, signal: AbortSignal) {
    super(model, el, signal, "cut-ruler", "Cut ruler: requests, tokens and where they are cut");
    this.#ubatches = new Choice("Microbatches", [2, 3, 4], (ubatches) => this.change({ ...this.values, ubatches }), signal);
    listen(this.#more, "click", () => this.#resize(1), signal);
    listen(this.#less, "click", () => this.#resize(-1), signal);
    this.body.append(
      make("div.figure-controls", this.#ubatches.element, this.#more, this.#less),
      this.#rows, this.#picture, make("div.figure-scroll", this.#table));
  }

  protected sound(values: unknown): Values {
    return soundValues(values);
  }

  protected draw(values: Values, palette: Palette, width: number): string {
    const parts = partsOf(values);
    this.#showControls(values);
    this.#picture.replaceChildren(paintRuler(values, parts, palette, Math.max(width - 28, 160)));
    const head = ["microbatch", "requests", "tokens", "new tokens", "sequence"];
    this.#table.replaceChildren(
      make("thead", make("tr", ...head.map((word) => make("th", { scope: "col" }, word)))),
      make("tbody", ...parts.map((part, i) => make("tr", ...rowOf(part, i).map((cell) => make("td", cell))))));
    this.root.dataset.ubvizParts = JSON.stringify(parts.map(({ requests, tokens }) => [requests, tokens]));
    return wordsOf(values, parts);
  }

  #resize(by: number): void {
    const { lengths, ...rest } = this.values;
    const next = by > 0 ? [...lengths, 6] : lengths.slice(0, -1);
    if (next.length > 0 && next.length <= MOST_REQUESTS) this.change(soundValues({ ...rest, lengths: next }));
  }

  #showControls({ lengths, ubatches }: Values): void {
    while (this.#sliders.length < lengths.length) this.#sliders.push(this.#slider(this.#sliders.length));
    if (this.#rows.childElementCount !== lengths.length) { // only then: who drags a slider must keep it
      this.#rows.replaceChildren(...this.#sliders.slice(0, lengths.length).map(({ element }) => element));
    }
    const most = Math.max(MOST_TOKENS, ...lengths);
    lengths.forEach((length, request) => this.#sliders[request]!.show(length, 1, most, `${length} tokens`));
    this.#ubatches.show(ubatches);
    this.#more.setAttribute("aria-disabled", String(lengths.length >= MOST_REQUESTS));
    this.#less.setAttribute("aria-disabled", String(lengths.length <= 1));
  }

  #slider(request: number): Slider {
    return new Slider(`request ${request}`, (length) => {
      const { lengths, ...rest } = this.values;
      lengths[request] = length;
      this.change({ ...rest, lengths });
    }, this.signal);
  }
}

const rowOf = ({ requests, tokens, queries, sequences }: Part, i: number): string[] =>
  [String(i), `${requests[0]} to ${requests[1]}`, `${tokens[0]} to ${tokens[1]}`, queries.join(", "), sequences.join(", ")];

function wordsOf({ lengths }: Values, parts: Part[]): string {
  const starts = startsOf(lengths);
  const cuts = parts.slice(1).map(({ tokens: [at] }) => {
    const request = lengths.findIndex((_, i) => starts[i]! < at && at < starts[i + 1]!);
    return request < 0 ? `at token ${at}, between two requests` : `at token ${at}, in the middle of request ${request}`;
  });
  return `${starts[lengths.length]} tokens, cut ${cuts.join("; ")}.`;
}
