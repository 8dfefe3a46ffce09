/** Outlines that all pictures share; each adds itself to the current path, unless it says that it paints. */

import { min } from "./numbers";

type Ctx = CanvasRenderingContext2D;

/** Of the corners of a block. */
export const RADIUS = 2.6;

/** A rectangle, its corners rounded on the sides asked for (a span that is cut off stays square there). */
export function rectangle(
  ctx: Ctx,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  radius: number,
  left = true,
  right = true,
): void {
  const r = min(radius, (x1 - x0) / 2, (y1 - y0) / 2);
  if (r <= 0.3) {
    ctx.rect(x0, y0, x1 - x0, y1 - y0);
    return;
  }
  const a = left ? r : 0;
  const b = right ? r : 0;
  ctx.roundRect(x0, y0, x1 - x0, y1 - y0, [a, b, b, a]);
}

/** A square on its tip. */
export function diamond(ctx: Ctx, x: number, y: number, r: number): void {
  ctx.moveTo(x, y - r);
  ctx.lineTo(x + r, y);
  ctx.lineTo(x, y + r);
  ctx.lineTo(x - r, y);
  ctx.lineTo(x, y - r); // closePath is slow in paths of many pieces
}

/** The head of an arrow whose tip is at (x, y) and which comes along (dx, dy). */
export function head(ctx: Ctx, x: number, y: number, dx: number, dy: number, size: number): void {
  const length = Math.hypot(dx, dy) || 1;
  const ux = dx / length;
  const uy = dy / length;
  const half = size * 0.42;
  ctx.moveTo(x, y);
  ctx.lineTo(x - ux * size - uy * half, y - uy * size + ux * half);
  ctx.lineTo(x - ux * size + uy * half, y - uy * size - ux * half);
  ctx.lineTo(x, y);
}

/** A curve that leaves and arrives upright. */
export function swing(ctx: Ctx, x0: number, y0: number, x1: number, y1: number, bend = 0.55): void {
  const dy = (y1 - y0) * bend;
  ctx.moveTo(x0, y0);
  ctx.bezierCurveTo(x0, y0 + dy, x1, y1 - dy, x1, y1);
}

/** Where a swing is after a share of its way. */
export function onSwing(x0: number, y0: number, x1: number, y1: number, t: number): [number, number] {
  const dy = (y1 - y0) * 0.55;
  const [a, b, c, d] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t ** 3];
  return [(a + b) * x0 + (c + d) * x1, a * y0 + b * (y0 + dy) + c * (y1 - dy) + d * y1];
}

/** Paints a ring. */
export function ring(ctx: Ctx, x: number, y: number, r: number, fill: string, edge: string): void {
  ctx.beginPath();
  ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.fillStyle = fill;
  ctx.fill();
  ctx.strokeStyle = edge;
  ctx.lineWidth = 1.4;
  ctx.stroke();
}
