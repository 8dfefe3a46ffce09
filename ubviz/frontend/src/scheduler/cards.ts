/** The threads side by side: what each is about to do, whether it can, why not, where it stands. */

import { listen, make } from "../base/dom";
import type { Palette } from "../base/theme";
import { cut, visible } from "../base/visible";
import { codeOf, reachable } from "./code";
import { paint, ubatchOf } from "./colours";
import { keyOf } from "./keys";
import type { Game, Node } from "./model";
import { actOf, standOf, type Standing } from "./words";

const STANDING: Record<Standing, string> = { able: "can go on", waits: "waits", ended: "ended", absent: "not started" };

export class Cards {
  readonly element = make("div.threads");
  readonly #cards: Card[];

  constructor(private readonly game: Game, choose: (thread: number) => void, signal: AbortSignal) {
    this.#cards = game.threads.map((_, thread) => new Card(game, thread, choose, signal));
    this.element.append(...this.#cards.map((card) => card.element));
    const calls = game.acts.some(({ at, caller }) => caller !== null && caller !== at);
    this.element.dataset.calls = String(calls); // whether room for two places is kept
  }

  show(node: Node, palette: Palette, wanted: boolean): void {
    const code = wanted && node.acts.some((act) => act >= 0); // after a good end there is none
    const turn = this.game.threads.map((_, thread) => node.turn.includes(thread));
    this.element.dataset.code = String(code);
    this.#cards.forEach((card, thread) => card.show(node, palette, turn[thread], code));
  }
}

class Card {
  readonly element = make("article.thread", { role: "group" });
  readonly #standing = make("span.standing");
  readonly #turn = make("span.turn", "has the turn");
  readonly #doing = make("p.doing", { dir: "auto" });
  readonly #why = make("p.why", { dir: "auto" });
  readonly #go = make("button.go", { type: "button" });
  readonly #code = make("div.code");
  #shown: number | null = null;

  constructor(
    private readonly game: Game, private readonly thread: number, choose: (thread: number) => void, signal: AbortSignal,
  ) {
    const name = cut(game.threads[thread], 60);
    const key = keyOf(thread);
    this.#go.append(make("span", { dir: "auto" }, `Let ${name} go on`));
    if (key) {
      this.#go.append(make("kbd", { "aria-hidden": "true" }, key));
      this.#go.setAttribute("aria-keyshortcuts", key);
    }
    listen(this.#go, "click", () => choose(thread), signal);
    const head = make("header", make("span.dot", { "aria-hidden": "true" }), make("b", { dir: "auto" }, name),
      this.#standing, this.#turn);
    this.element.append(head, make("div.words", this.#doing, this.#why), this.#go, this.#code);
  }

  show(node: Node, palette: Palette, turn: boolean, code: boolean): void {
    const { game, thread } = this;
    const { standing, doing, why } = standOf(game, node, thread);
    const name = game.threads[thread];
    paint(this.element, palette, ubatchOf(name, thread));
    this.element.dataset.standing = standing;
    this.element.setAttribute("aria-label", `${visible(name)}: ${[doing, why].filter(Boolean).join("; ")}`);
    this.#standing.textContent = STANDING[standing];
    this.#turn.hidden = !turn;
    this.#doing.textContent = doing;
    this.#why.textContent = why;
    this.#go.setAttribute("aria-disabled", String(standing !== "able"));
    this.#code.hidden = !code;
    if (code) this.#showCode(node);
  }

  /** Where it stands; a thread that stays where it was keeps its elements, and how far they were scrolled. */
  #showCode(node: Node): void {
    const number = node.acts[this.thread];
    if (this.#shown === number) return;
    this.#shown = number;
    const act = actOf(this.game, node, this.thread);
    this.#code.replaceChildren(...(act ? codeOf(this.game, act.at, act.caller) : []));
    reachable(this.#code);
  }
}
