/** The line between the two parts of what is lit, with the duration of each beside it. */

import { duration } from "../base/format";
import { rectangle, swing } from "../base/shapes";
import { KEY_FONT, LABEL } from "../base/text";
import type { Data, Part } from "./data";
import { write, type Sheet } from "./draw";
import { rowOf, type Layout } from "./layout";

export function paintTie(sheet: Sheet, data: Data, layout: Layout, lit: number): void {
  const { ctx, palette, scale, width } = sheet;
  const operation = data.operations[lit];
  if (!operation) return;
  const rows = operation.parts.map((part, side) => part && rowOf(layout, side, part.lane));
  const [a, b] = operation.parts;
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.left - 4, 0, width - scale.left + 4, layout.height);
  ctx.clip();
  if (a && b && rows[0] && rows[1]) {
    ctx.beginPath();
    swing(ctx, scale.x(a.start), rows[0].bottom - 2, scale.x(b.start), rows[1].top + 2);
    ctx.strokeStyle = palette.ink;
    ctx.lineWidth = 1.2;
    ctx.stroke();
  }
  ctx.restore();
  operation.parts.forEach((part, side) => {
    const row = rows[side];
    if (part && row) pill(sheet, part, side === 0 ? row.bottom + 7 : row.top - 7);
  });
}

/** How long a part runs, beside the line; it stays on the sheet, and is not there where its part is not. */
function pill(sheet: Sheet, part: Part, y: number): void {
  const { ctx, palette, scale, width } = sheet;
  const [x0, x1] = [scale.x(part.start), scale.x(part.end)];
  if (x1 < scale.left || x0 > scale.right + 4) return;
  const text = duration(part.duration);
  const wide = sheet.measure(text, KEY_FONT) + 10;
  const left = Math.min(Math.max(x0 + 6, scale.left), width - wide - 1);
  ctx.beginPath();
  rectangle(ctx, left, y - 9, left + wide, y + 9, 4);
  ctx.fillStyle = palette.ink;
  ctx.fill();
  write(sheet, text, left + wide / 2, y, KEY_FONT, LABEL, palette.background, "center");
}
