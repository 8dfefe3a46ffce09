/** The schedules tried so far, each as a strip of choices; what it shares with the one above it is faint. */

import { make } from "../base/dom";
import type { Palette } from "../base/theme";
import { paint, ubatchOf } from "./colours";
import type { Game } from "./model";
import type { Walk } from "./walk";
import { counted } from "./words";

export class Tried {
  readonly element = make("div.tried");
  readonly #list = make("ol");
  readonly #heading = make("p");

  constructor(private readonly game: Game, private readonly open: (threads: readonly number[]) => void) {
    this.element.append(this.#heading, this.#list);
    this.element.hidden = true;
    this.#list.addEventListener("click", (event) => {
      const row = (event.target as Element).closest("li");
      const at = row ? [...this.#list.children].indexOf(row) : -1;
      if (at >= 0) this.open(this.#rows[at]);
    });
  }

  #rows: number[][] = [];

  show(walk: Walk, palette: Palette): void {
    const focused = [...this.#list.children].findIndex((row) => row.contains(document.activeElement));
    this.#rows = [...walk.tried].sort(inOrder);
    this.element.hidden = this.#rows.length < 2;
    if (this.element.hidden) return;
    const ends = this.#rows.map((threads) => this.#endOf(threads));
    const bad = ends.filter((words) => words === "deadlock").length;
    this.#heading.textContent = `tried: ${counted(this.#rows.length, "schedule")}`
      + (bad > 0 ? `, ${counted(bad, "deadlock")}` : "");
    this.#list.replaceChildren(...this.#rows.map((threads, i) =>
      make("li", this.#row(threads, i === 0 ? [] : this.#rows[i - 1], ends[i], walk, palette))));
    if (focused >= 0) this.#list.children[focused]?.querySelector("button")?.focus({ preventScroll: true });
  }

  #row(threads: readonly number[], above: readonly number[], end: string, walk: Walk, palette: Palette): HTMLElement {
    const shared = threads.findIndex((thread, i) => thread !== above[i]);
    const strip = make("span.strip", { "aria-hidden": "true" });
    threads.forEach((thread, i) => {
      const tick = make("i");
      paint(tick, palette, ubatchOf(this.game.threads[thread], thread));
      tick.dataset.shared = String(shared < 0 ? above.length > 0 : i < shared);
      strip.append(tick);
    });
    const made = make("button", { type: "button" }, strip, make("span.end", end));
    made.setAttribute("aria-label", `Schedule of ${counted(threads.length, "choice")}: ${end}`);
    made.dataset.end = end;
    const here = threads.length === walk.threads.length && threads.every((thread, i) => thread === walk.threads[i]);
    if (here) made.setAttribute("aria-current", "true");
    return made;
  }

  #endOf(threads: readonly number[]): string {
    let state = this.game.start;
    for (const thread of threads) {
      const { able, next } = this.game.nodes[state];
      state = next[able.indexOf(thread)];
    }
    const { end } = this.game.nodes[state];
    return end === null ? "left open" : ENDS[this.game.ends[end].verdict];
  }
}

const ENDS = { done: "all ended", deadlock: "deadlock", raised: "raised" };

/** Those that share a beginning stand together. */
function inOrder(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((thread, i) => thread !== b[i]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
}
