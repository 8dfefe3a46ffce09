/** Marks seen from afar: one pixel each, in a small image that is drawn once a row. */

import type { Sheet } from "./sheet";
import { channels } from "./theme";

interface Kept {
  canvas: HTMLCanvasElement;
  ctx: CanvasRenderingContext2D;
  image: ImageData;
  pixels: Uint32Array;
}

const kept = new WeakMap<HTMLCanvasElement, Kept>();

export class Specks {
  private readonly first: number;
  private readonly store: Kept;
  private readonly rows: { y: number; height: number }[] = [];

  constructor(
    private readonly sheet: Sheet,
    most: number,
  ) {
    const { p } = sheet;
    this.first = Math.round(sheet.left * p.dpr);
    const count = Math.max(Math.round(sheet.right * p.dpr) - this.first, 1);
    this.store = keptFor(p.ctx.canvas, count, Math.max(most, 1));
  }

  /** A row of marks at a height; the function it gives sets a mark at x. */
  row(y: number, height: number, colour: string, alpha: number): (x: number) => void {
    if (this.rows.length === 0) this.store.pixels.fill(0);
    const at = this.rows.push({ y, height }) - 1;
    const { width, height: most } = this.store.image;
    const [red, green, blue] = channels(colour);
    const pixel = ((Math.round(alpha * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    const { pixels } = this.store;
    const { dpr } = this.sheet.p;
    return (x) => {
      const p = Math.round(x * dpr) - this.first;
      if (p >= 0 && p < width && at < most) pixels[at * width + p] = pixel;
    };
  }

  paint(): void {
    if (!this.rows.length) return;
    const { ctx, p } = this.sheet;
    const { canvas, image } = this.store;
    this.store.ctx.putImageData(image, 0, 0);
    ctx.imageSmoothingEnabled = false;
    this.rows.forEach(({ y, height }, i) => {
      const [x, wide] = [this.first / p.dpr, image.width / p.dpr];
      ctx.drawImage(canvas, 0, i, image.width, 1, x, this.sheet.snap(y), wide, height);
    });
  }
}

function keptFor(canvas: HTMLCanvasElement, width: number, height: number): Kept {
  const old = kept.get(canvas);
  if (old && old.image.width === width && old.image.height >= height) return old;
  const own = canvas.ownerDocument.createElement("canvas");
  own.width = width;
  own.height = height;
  const ctx = own.getContext("2d", { willReadFrequently: true })!;
  const image = ctx.createImageData(width, height);
  const made = { canvas: own, ctx, image, pixels: new Uint32Array(image.data.buffer) };
  kept.set(canvas, made);
  return made;
}
