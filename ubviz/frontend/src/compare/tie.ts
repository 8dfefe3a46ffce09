/** The line between the two parts of what is lit, and between the recordings both durations and the difference. */

import { duration } from "../base/format";
import { onSwing, rectangle, swing } from "../base/shapes";
import { KEY_FONT, LABEL } from "../base/text";
import { cut } from "../base/visible";
import { later, longer, type Data, type Operation } from "./data";
import { write, type Sheet } from "./draw";
import { rowOf, type Layout } from "./layout";
import { signed, startWords } from "./words";

const HALF = 10;

interface Point {
  x: number;
  y: number;
}

export function paintTie(sheet: Sheet, data: Data, layout: Layout, lit: number): void {
  const operation = data.operations[lit];
  if (!operation) return;
  const { ctx, palette, scale, width } = sheet;
  const y = layout.between;
  const ends = operation.parts.map((part, side) => {
    const row = part && rowOf(layout, side, part.lane);
    return part && row ? { x: scale.x(part.start), y: side === 0 ? row.bottom - 2 : row.top + 2 } : null;
  });
  const known = ends.filter((end) => end !== null);
  if (known.length === 0) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.left - 4, 0, width - scale.left + 4, layout.height);
  ctx.clip();
  ctx.beginPath();
  const [a, b] = ends;
  if (a && b) swing(ctx, a.x, a.y, b.x, b.y);
  else {
    ctx.moveTo(known[0]!.x, known[0]!.y);
    ctx.lineTo(known[0]!.x, y);
  }
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 1.2;
  ctx.stroke();
  ctx.restore();
  pill(sheet, pillWords(operation, data), a && b ? crossing(a, b, y) : known[0]!.x, y);
}

/** Where the line is at a height. */
function crossing(a: Point, b: Point, y: number): number {
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (onSwing(a.x, a.y, b.x, b.y, middle)[1] < y) low = middle;
    else high = middle;
  }
  return onSwing(a.x, a.y, b.x, b.y, low)[0];
}

function pillWords(operation: Operation, { index }: Data): string {
  const [a, b] = operation.parts;
  if (a && b) {
    const [by, moved] = [longer(operation), later(operation)];
    const words = by !== 0 ? signed(by) : moved !== 0 ? startWords(moved) : "the same";
    return `${duration(a.duration)} \u2192 ${duration(b.duration)}, ${words}`;
  }
  return `only in ${cut(index.names[a ? 0 : 1], 20)}, ${duration((a ?? b)!.duration)}`;
}

function pill(sheet: Sheet, text: string, x: number, y: number): void {
  const { ctx, palette, scale, width } = sheet;
  const wide = sheet.measure(text, KEY_FONT) + 14;
  const left = Math.max(Math.min(Math.max(x - wide / 2, scale.left), width - wide - 1), 0);
  ctx.beginPath();
  rectangle(ctx, left, y - HALF, left + wide, y + HALF, 5);
  ctx.fillStyle = palette.ink;
  ctx.fill();
  write(sheet, text, left + wide / 2, y, KEY_FONT, LABEL, palette.background, "center");
}
