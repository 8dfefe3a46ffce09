/**
 * Patterns that say what kind of work a span is: tiles of whole device pixels, so that they are crisp at
 * any zoom.
 */

import { abs, max, min, round } from "./numbers";
import { channels } from "./theme";

/** Pitch and thickness of the stripes, measured along x + y; and of the dots. */
const PITCH = 7.5;
const THICK = 2.7;
const DOTS = 4.8;
const DOT = 1.0;
const DASH = 2.1;
const FINE = 4;

const tiles = new Map<string, CanvasPattern>();

/** Stripes at 45 degrees, to be laid over a filled box: communication. */
export function hatch(ctx: CanvasRenderingContext2D, colour: string, dpr: number): CanvasPattern {
  const size = max(round(PITCH * dpr), 3);
  const thick = THICK * dpr * (size / (PITCH * dpr));
  return tile(ctx, `hatch ${colour} ${dpr}`, colour, size, size, dpr, 0.36, (x, y) => (x + y) % size < thick);
}

/** A calm field of dots: in flight. */
export function dots(ctx: CanvasRenderingContext2D, colour: string, dpr: number): CanvasPattern {
  const half = max(round((DOTS * dpr) / 2), 2);
  const size = 2 * half;
  const r = DOT * dpr;
  return tile(
    ctx,
    `dots ${colour} ${dpr}`,
    colour,
    size,
    2 * size,
    dpr,
    0.8,
    (x, y) =>
      abs(x - half) + abs(y - half) < r * 1.25 ||
      min(x, size - x) + abs(y - half - size) < r * 1.25,
  );
}

/** The dots of a waiting line; what is filled with it is as high as the line is thick. */
export function dashes(ctx: CanvasRenderingContext2D, colour: string, dpr: number): CanvasPattern {
  const on = max(round(DASH * dpr), 1);
  return tile(ctx, `dash ${colour} ${dpr}`, colour, 2 * on, 1, dpr, 1, (x) => x < on);
}

function tile(
  ctx: CanvasRenderingContext2D,
  key: string,
  colour: string,
  w: number,
  h: number,
  dpr: number,
  alpha: number,
  inside: (x: number, y: number) => boolean,
): CanvasPattern {
  const known = tiles.get(key);
  if (known) return known;
  const canvas = ctx.canvas.ownerDocument.createElement("canvas");
  canvas.width = w;
  canvas.height = h;
  const own = canvas.getContext("2d")!;
  const image = own.createImageData(w, h);
  const [red, green, blue] = channels(colour);
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      image.data.set([red, green, blue, round(255 * alpha * covered(x, y, inside))], 4 * (y * w + x));
    }
  }
  own.putImageData(image, 0, 0);
  const pattern = ctx.createPattern(canvas, "repeat")!;
  pattern.setTransform(new DOMMatrix().scale(1 / dpr));
  tiles.set(key, pattern);
  return pattern;
}

/** How much of a pixel lies inside. */
function covered(x: number, y: number, inside: (x: number, y: number) => boolean): number {
  let count = 0;
  for (let j = 0; j < FINE; j++) {
    for (let i = 0; i < FINE; i++) if (inside(x + (i + 0.5) / FINE, y + (j + 0.5) / FINE)) count++;
  }
  return count / (FINE * FINE);
}
