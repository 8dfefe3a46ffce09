/** Marks seen from afar: one pixel each, in a small image that is drawn once a row. */

import { max, round } from "../base/numbers";
import { pixelsFor, type Pixels, type PixelStore } from "../base/pixels";
import type { Sheet } from "./sheet";
import { channels } from "../base/theme";

const images: PixelStore = new WeakMap();

export class Specks {
  readonly #first: number;
  readonly #store: Pixels;
  readonly #rows: { y: number; height: number }[] = [];

  constructor(
    private readonly sheet: Sheet,
    most: number,
  ) {
    const { p } = sheet;
    this.#first = round(sheet.left * p.dpr);
    const count = max(round(sheet.right * p.dpr) - this.#first, 1);
    this.#store = pixelsFor(images, p.ctx.canvas, count, max(most, 1));
  }

  /** A row of marks at a height; the function it gives sets a mark at x. */
  row(y: number, height: number, colour: string, alpha: number): (x: number) => void {
    if (this.#rows.length === 0) this.#store.values.fill(0);
    const at = this.#rows.push({ y, height }) - 1;
    const { width, height: most } = this.#store.image;
    const [red, green, blue] = channels(colour);
    const pixel = ((round(alpha * 255) << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    const { values } = this.#store;
    const { dpr } = this.sheet.p;
    return (x) => {
      const p = round(x * dpr) - this.#first;
      if (p >= 0 && p < width && at < most) values[at * width + p] = pixel;
    };
  }

  paint(): void {
    if (!this.#rows.length) return;
    const { ctx, p } = this.sheet;
    const { canvas, image } = this.#store;
    this.#store.ctx.putImageData(image, 0, 0);
    ctx.imageSmoothingEnabled = false;
    this.#rows.forEach(({ y, height }, i) => {
      const [x, wide] = [this.#first / p.dpr, image.width / p.dpr];
      ctx.drawImage(canvas, 0, i, image.width, 1, x, this.sheet.snap(y), wide, height);
    });
  }
}
