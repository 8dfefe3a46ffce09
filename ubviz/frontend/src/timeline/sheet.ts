/**
 * What all drawing of one picture shares: the context, what is taken of the room for text, what has
 * appeared.
 */

import type { Picture, Seen } from "./draw";
import type { Measure } from "../base/text";
import { max, round } from "../base/numbers";
import { dashes, hatch } from "../base/patterns";
import { rectangle } from "../base/shapes";
import { CAP, clean, measureBy, NOTE_FONT, Room, SMALL } from "../base/text";

type Box = Parameters<typeof rectangle> extends [unknown, ...infer Rest] ? Rest : never;

export class Sheet {
  readonly ctx: CanvasRenderingContext2D;
  readonly measure: Measure;
  readonly room: Room;
  /** What marks alone have taken: names within bars keep clear of these, and of nothing else. */
  readonly marks: Room;
  readonly seen: Seen = new Set();
  /** The plot: where time is. */
  readonly left: number;
  readonly right: number;
  /** So many shapes that letters in narrow ones and rounded corners would cost more than they show. */
  crowded = false;
  /** As the context has it: reading it there is slow. */
  #font = "";
  #stripes: CanvasPattern | null = null;
  #dots: CanvasPattern | null = null;

  constructor(readonly p: Picture) {
    this.ctx = p.ctx;
    this.measure = measureBy(p.ctx);
    this.room = new Room(p.width, p.height);
    this.marks = new Room(p.width, p.height);
    this.left = p.scale.left;
    this.right = p.scale.right;
  }

  takeMark(x0: number, y0: number, x1: number, y1: number): void {
    this.room.take(x0, y0, x1, y1);
    this.marks.take(x0, y0, x1, y1);
  }

  get stripes(): CanvasPattern {
    return (this.#stripes ??= hatch(this.ctx, this.p.palette.hatch, this.p.dpr));
  }

  get dots(): CanvasPattern {
    return (this.#dots ??= dashes(this.ctx, this.p.palette.waiting, this.p.dpr));
  }

  /** A dotted line for each stretch at one height, all at once. */
  dotted(y: number, stretches: Iterable<readonly [number, number]>): void {
    const { ctx } = this;
    const thick = this.thin(1.4);
    ctx.fillStyle = this.dots;
    ctx.beginPath();
    for (const [a, b] of stretches) ctx.rect(a, this.snap(y - thick / 2), b - a, thick);
    ctx.fill();
  }

  /** To the nearest edge between device pixels. */
  snap(v: number): number {
    return round(v * this.p.dpr) / this.p.dpr;
  }

  /** One device pixel at least. */
  thin(width: number): number {
    return max(round(width * this.p.dpr), 1) / this.p.dpr;
  }

  /** Narrower shapes are plain rectangles: corners would not be seen. */
  get leastRound(): number {
    return this.crowded ? 32 : 9;
  }

  rect(colour: string | CanvasPattern, x: number, y: number, wide: number, high: number): void {
    this.ctx.fillStyle = colour;
    this.ctx.fillRect(x, y, wide, high);
  }

  /** A filled rectangle with rounded corners: what `rectangle` takes. */
  rounded(colour: string, ...box: Box): void {
    this.ctx.fillStyle = colour;
    this.ctx.beginPath();
    rectangle(this.ctx, ...box);
    this.ctx.fill();
  }

  /** A note round x, where there is room for it; `ground`: how much behind it is cleared. */
  note(text: string, x: number, y: number, around: number, ground: number, colour: string): boolean {
    const half = this.measure(text, NOTE_FONT) / 2;
    if (!this.room.free(x - half - around, y - 7, x + half + around, y + 7)) return false;
    this.room.take(x - half, y - 7, x + half, y + 7);
    if (ground) this.rect(this.p.palette.background, x - half - 5, y - ground / 2, 2 * half + 10, ground);
    this.text(text, x, y, NOTE_FONT, SMALL, colour, 0.5);
    return true;
  }

  /** Draw only within the plot, a little beyond its sides. */
  clipped(draw: () => void, beyond = 0): void {
    const { ctx, p } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.left - beyond, 0, this.right - this.left + 2 * beyond, p.height);
    ctx.clip();
    draw();
    ctx.restore();
    this.#font = "";
  }

  /** Set a text, centred on y; `at` 0: x is its left, 0.5: its middle, 1: its right. */
  text(text: string, x: number, y: number, font: string, size: number, colour: string, at = 0): void {
    const { ctx } = this;
    if (this.#font !== font) ctx.font = this.#font = font;
    ctx.fillStyle = colour;
    const wide = at ? this.measure(text, font) : 0;
    ctx.fillText(text, this.snap(x - wide * at), this.snap(y + size * CAP));
  }

  /** The first of some texts that is no wider than the room. */
  fit(texts: readonly string[], font: string, room: number): string | null {
    for (const text of texts) {
      const shown = clean(text);
      if (shown && this.measure(shown, font) <= room) return shown;
    }
    return null;
  }
}
