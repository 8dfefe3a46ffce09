/** A number of the line under the picture, clicked: the intervals that it is the sum of are lit in the picture. */

import { make } from "../base/dom";
import { max, min } from "../base/numbers";
import { stepAt } from "../base/range";
import { answer, sentenceOf, type Lit } from "./answers";
import type { Paint } from "./layer";
import { counted, exact, Panel, type Shared } from "./tool";

const DIM = 0.7;

export class LitNumbers {
  readonly name = "The intervals of a number";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  #lit: Lit | null = null;
  #place = -1;
  #step = "";

  constructor(private readonly shared: Shared) {
    const { numbers } = shared.view;
    this.#panel = new Panel(shared, "Intervals", () => this.close());
    this.#panel.head.append(this.#words);
    numbers.one = (words, place) => {
      const one = make("button", { type: "button", title: "Show what this is the sum of", "aria-pressed": "false" }, words);
      one.onclick = () => (place === this.#place ? this.close() : this.show(place));
      return one;
    };
    numbers.again();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  /** Light the number at a place, 0 the first; one past the last is none. */
  show(place: number): void {
    this.#place = place;
    this.#step = this.#stepNow();
    this.#panel.show();
    this.shared.layer.add(this.#paint);
    this.#press();
    void this.#find(place, this.#step);
  }

  close(): void {
    this.#place = -1;
    this.#lit = null;
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
    this.#press();
  }

  /** Another step has other numbers. */
  painted(base: boolean): void {
    if (base && this.#stepNow() !== this.#step) this.show(this.#place);
    else if (base) this.#press();
  }

  #stepNow(): string {
    const { scene, range } = this.shared.view;
    const at = scene ? stepAt(scene.index.steps, range) : null;
    return at === null ? "" : String(scene!.index.steps[at]![0]);
  }

  #press(): void {
    const buttons = this.shared.view.numbers.element.querySelectorAll("button");
    buttons.forEach((each, place) => each.setAttribute("aria-pressed", String(place === this.#place)));
  }

  async #find(place: number, step: string): Promise<void> {
    const { view, layer } = this.shared;
    let words: string;
    let lit: Lit | null = null;
    try {
      lit = (await answer<Lit[]>(view.scene!, `intervals:${step}`))[place] ?? null;
      words = lit ? this.#sentence(lit, place) : "this step has no such number";
    } catch (error) {
      words = sentenceOf(error);
    }
    if (place !== this.#place || step !== this.#step) return;
    this.#lit = lit;
    this.#words.textContent = words;
    view.live.say(words);
    layer.soon();
  }

  #sentence({ all, hidden }: Lit, place: number): string {
    const name = this.shared.view.numbers.element.querySelectorAll("button")[place]?.textContent ?? "";
    const many = counted(all.length, "interval");
    const behind = hidden.length ? `; hidden, with a thick line: ${exact(lengthOf(hidden))}` : "";
    return `${name}: ${exact(lengthOf(all))} in ${many}${behind}`;
  }

  #draw({ ctx, palette, layout, left, right, height, from, to, x }: Paint): void {
    if (!this.#lit) return;
    const { all, hidden } = this.#lit;
    const top = layout.rulerY + 10;
    const seen = (intervals: readonly [number, number][]) => merged(intervals, from, to, x)
      .map(([a, b]) => [max(a, left - 5), min(b, right + 5)] as const);
    ctx.fillStyle = palette.background;
    ctx.globalAlpha = DIM;
    ctx.fillRect(left - 5, top, right - left + 10, height - top);
    ctx.globalAlpha = 1;
    const streams = layout.rows.filter((row) => row.group !== "threads");
    ctx.fillStyle = palette.focus;
    for (const [a, b] of seen(all)) {
      for (const row of streams) ctx.clearRect(a, row.top - 1, max(b - a, 1), row.bottom - row.top + 2);
      ctx.fillRect(a, top, max(b - a, 1), 3);
    }
    for (const [a, b] of seen(hidden)) ctx.fillRect(a, top, max(b - a, 1), 7);
  }
}

export const lengthOf = (intervals: readonly [number, number][]): number =>
  intervals.reduce((sum, [a, b]) => sum + b - a, 0);

/** Those that are seen, in pixels; what touches is one. */
export function merged(
  intervals: readonly [number, number][], from: number, to: number, x: (ns: number) => number,
): [number, number][] {
  const found: [number, number][] = [];
  const sorted = intervals.slice().sort((p, q) => p[0] - q[0]);
  for (const [start, end] of sorted) {
    if (end < from || start > to) continue;
    const [a, b] = [x(start), x(end)];
    const last = found[found.length - 1];
    if (last && a - last[1] < 0.5) last[1] = max(last[1], b);
    else found.push([a, b]);
  }
  return found;
}
