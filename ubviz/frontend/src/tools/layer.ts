/** A canvas in front of the picture, for what tools mark; it is there only while one of them does. */

import { make } from "../base/dom";
import { sized } from "../base/surface";
import type { Palette } from "../base/theme";
import type { Layout } from "../timeline/layout";
import type { Timeline } from "../timeline/timeline";

export interface Paint {
  ctx: CanvasRenderingContext2D;
  view: Timeline;
  palette: Palette;
  layout: Layout;
  /** The plot, in pixels of the stage. */
  left: number;
  right: number;
  height: number;
  /** What is seen, in nanoseconds. */
  from: number;
  to: number;
  /** Where a moment is, in either order. */
  x(ns: number): number;
}

export type Painter = (paint: Paint) => void;

export class Layer {
  readonly #canvas = make("canvas.marks", { "aria-hidden": "true" });
  readonly #painters = new Set<Painter>();
  #frame = 0;

  constructor(private readonly view: Timeline) {}

  /** Later ones are drawn over earlier ones. */
  add(painter: Painter): void {
    this.#painters.add(painter);
    this.soon();
  }

  remove(painter: Painter): void {
    if (this.#painters.delete(painter)) this.soon();
  }

  /** Draw again with the next frame. */
  soon(): void {
    this.#frame ||= requestAnimationFrame(() => this.paint());
  }

  paint(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const { picture, axis, shell: { stage, front }, signal } = this.view;
    if (signal.aborted || !picture || !axis || !this.#painters.size) return this.#canvas.remove();
    if (!this.#canvas.isConnected) front.after(this.#canvas);
    const { width, height, dpr, palette, layout, scale } = picture;
    sized(this.#canvas, width, height, dpr);
    const ctx = this.#canvas.getContext("2d")!;
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.clearRect(0, 0, width, height);
    const [from, to] = this.view.range;
    const x = (ns: number) => axis.x(axis.moment(ns));
    const paint = { ctx, view: this.view, palette, layout, left: scale.left, right: scale.right, height, from, to, x };
    for (const painter of this.#painters) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(scale.left - 5, 0, scale.right - scale.left + 10, height);
      ctx.clip();
      painter(paint);
      ctx.restore();
    }
    stage.dataset.ubvizMarks = String(Number(stage.dataset.ubvizMarks ?? 0) + 1);
  }
}
