/** The critical path of the step: its stretches on their lanes, one line from beginning to end, and what they are. */

import { make } from "../base/dom";
import { duration } from "../base/format";
import { max, min } from "../base/numbers";
import { stepAt } from "../base/range";
import { cut } from "../base/visible";
import { rowOfLane } from "../timeline/layout";
import { answer, sentenceOf, type Entry } from "./answers";
import type { Paint } from "./layer";
import { exact, Panel, type Shared, type Tool } from "./tool";

/** What the edges of the path are, in words. */
const WORDS = new Map(Object.entries({
  run: "kernels running", program: "threads at work", flight: "data in flight", blocked: "calls that block",
  launch: "launches", enqueue: "records and waits put in", stream: "behind others in the stream",
  stall: "streams waiting", event: "record to wait", wake: "wake-ups", arrive: "arrivals at a barrier",
  barrier: "barriers opening", release: "releases from a barrier", create: "threads beginning",
  join: "threads joined", done: "the device to the host", send: "sends", arrival: "arrivals of data",
  link: "behind other transfers", slack: "delays without a recorded cause", start: "before its first cause",
}));
const DIM = 0.62;
const THICK = 3;

export class Path implements Tool {
  readonly name = "Critical path";
  readonly key = "c";
  readonly word = "path";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #list = make("ul.parts");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  #entries: Entry[] = [];
  #step: string | null = null;

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, this.name, () => this.close());
    this.#panel.head.append(this.#words, this.#list);
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.#panel.show();
    this.shared.layer.add(this.#paint);
    this.#follow();
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
    this.#entries = [];
    this.#step = null;
  }

  /** Another step may be in the middle now. */
  painted(base: boolean): void {
    if (base) this.#follow();
  }

  #follow(): void {
    const { scene, range } = this.shared.view;
    if (!scene) return;
    const at = stepAt(scene.index.steps, range);
    const step = at === null ? "" : String(scene.index.steps[at]![0]);
    if (step !== this.#step) void this.#find((this.#step = step));
  }

  async #find(step: string): Promise<void> {
    const { view, layer } = this.shared;
    let words: string;
    let entries: Entry[] = [];
    try {
      entries = await answer<Entry[]>(view.scene!, `critical:${step}`);
      words = entries.length ? "" : "nothing ran on a stream: there is no critical path";
    } catch (error) {
      words = sentenceOf(error);
    }
    if (step !== this.#step) return;
    this.#entries = entries;
    const total = entries.reduce((sum, [, , , , ns]) => sum + ns, 0);
    const parts = sumsOf(entries);
    this.#words.textContent = words || `${duration(total)}:`;
    this.#list.replaceChildren(...parts.map(([edge, ns]) =>
      make("li", { title: exact(ns) }, make("b", duration(ns)), ` ${cut(WORDS.get(edge) ?? edge, 60)}`)));
    view.live.say(words || `critical path of ${duration(total)}: `
      + parts.slice(0, 4).map(([edge, ns]) => `${duration(ns)} ${WORDS.get(edge) ?? cut(edge, 60)}`).join(", "));
    layer.soon();
  }

  #draw({ ctx, palette, layout, left, right, height, x }: Paint): void {
    if (!this.#entries.length) return;
    const top = layout.rulerY + 10;
    ctx.fillStyle = palette.background;
    ctx.globalAlpha = DIM;
    ctx.fillRect(left - 5, top, right - left + 10, height - top);
    ctx.globalAlpha = 1;
    const stretches = stretchesOf(this.#entries);
    const placed = stretches.flatMap(({ lane, start, end }) => {
      const row = rowOfLane(layout, lane);
      return row ? [{ row, a: x(start), b: x(end) }] : [];
    });
    for (const { row, a, b } of placed) {
      if (b >= left - 5 && a <= right + 5) ctx.clearRect(a, row.top - 1, max(b - a, 1), row.bottom - row.top + 2);
    }
    ctx.fillStyle = palette.fails;
    let last: { y: number; b: number } | null = null;
    for (const { row, a, b } of placed) {
      const y = row.bottom + 1;
      const [from, to] = [max(a, left - 5), min(b, right + 5)];
      if (to >= from) ctx.fillRect(from, y, max(to - from, 1), THICK);
      if (last && last.y !== y && a >= left - 5 && a <= right + 5) {
        ctx.fillRect(a - 0.75, min(y, last.y), 1.5, Math.abs(y - last.y) + THICK);
      }
      last = { y, b };
    }
  }
}

/** What the path is spent on, the longest first. */
export function sumsOf(entries: readonly Entry[]): [edge: string, ns: number][] {
  const sums = new Map<string, number>();
  for (const [, , , , ns, edge] of entries) sums.set(edge, (sums.get(edge) ?? 0) + ns);
  return [...sums].filter(([, ns]) => ns !== 0).sort((a, b) => b[1] - a[1]);
}

/** Entries of one lane that follow one another as one stretch. */
export function stretchesOf(entries: readonly Entry[]): { lane: number; start: number; end: number }[] {
  const found: { lane: number; start: number; end: number }[] = [];
  for (const [, , lane, start, ns] of entries) {
    const last = found[found.length - 1];
    if (lane < 0) continue;
    if (last && last.lane === lane && start <= last.end) last.end = max(last.end, start + ns);
    else found.push({ lane, start, end: start + ns });
  }
  return found;
}

