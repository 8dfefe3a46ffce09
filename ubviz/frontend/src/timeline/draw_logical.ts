/** The picture by order: one column for each event, a chip with its verb, launches tied to their stream. */

import { lower } from "./columns";
import type { Picture, Seen } from "./draw";
import { between, strokeArrows, type Arrow } from "./draw_arrows";
import { paintBackground, paintNames } from "./draw_ground";
import { pill, RING, TIP } from "./draw_marks";
import { outlined } from "./draw_streams";
import { kept } from "../base/kept";
import { rowOfLane, type LaneRow } from "./layout";
import { columnScale, seenColumns, type ColumnScale } from "./logical";
import type { Logical } from "./model";
import { abs, ceil, max, min } from "../base/numbers";
import { diamond, ring } from "../base/shapes";
import { Sheet } from "./sheet";
import { clean, NOTE_FONT, SMALL, SMALL_FONT } from "../base/text";

/** Half the heights of a chip and of the band of a thread that is awake. */
export const CHIP = 9.5;
const BAND = 11.5;

export function order(p: Picture, logical: Logical, columns: readonly [number, number]): Seen {
  const sheet = new Sheet(p);
  const scale = columnScale(logical, p.layout, columns, sheet.right, sheet.measure);
  const seen = seenColumns(logical, columns);
  paintBackground(sheet);
  paintNames(sheet);
  sheet.clipped(() => {
    paintLanes(sheet);
    paintStretches(sheet, logical, scale);
    const shown = [...shownColumns(logical, scale, seen)];
    for (const i of shown) paintTie(sheet, logical, scale, i);
    paintArrows(sheet, logical, scale, seen);
    for (const i of shown) paintSign(sheet, logical, scale, i);
  }, 4);
  return sheet.seen;
}

/** All columns that are seen; where they are narrower than a pixel and a half, one in so much, and all gates. */
function* shownColumns(logical: Logical, scale: ColumnScale, [from, to]: [number, number]): Generator<number> {
  let last = -Infinity;
  for (let i = from; i < to; i++) {
    const x = scale.x(i + 0.5);
    if (x - last >= 1.5 || logical.sign[i] === "gate") {
      last = x;
      yield i;
    }
  }
}

function paintLanes(sheet: Sheet): void {
  const { ctx, p } = sheet;
  ctx.fillStyle = p.palette.grid;
  const thin = sheet.thin(1);
  for (const row of p.layout.rows) {
    ctx.fillRect(sheet.left, sheet.snap(row.y - thin / 2), sheet.right - sheet.left, thin);
  }
}

// ---- threads, awake and waiting

interface Lane {
  from: Float64Array;
  to: Float64Array;
  awake: Uint8Array;
}

const lanes = new WeakMap<Logical, Map<number, Lane>>();

function lanesOf(logical: Logical): Map<number, Lane> {
  return kept(lanes, logical, () => {
    const sorted = [...logical.stretches].sort((a, b) => a[1] - b[1]);
    const known = new Map<number, Lane>();
    for (const lane of new Set(sorted.map((stretch) => stretch[0]))) {
      const mine = sorted.filter((stretch) => stretch[0] === lane);
      known.set(lane, {
        from: Float64Array.from(mine, (stretch) => stretch[1]),
        to: Float64Array.from(mine, (stretch) => stretch[2]),
        awake: Uint8Array.from(mine, (stretch) => stretch[3]),
      });
    }
    return known;
  });
}

/** Awake is a pale bar, waiting a dotted line. */
function paintStretches(sheet: Sheet, logical: Logical, scale: ColumnScale): void {
  const { p } = sheet;
  const [a, b] = [scale.column(scale.left), scale.column(scale.right)];
  for (const [lane, { from, to, awake }] of lanesOf(logical)) {
    const row = rowOfLane(p.layout, lane);
    if (!row) continue;
    let drawn = -Infinity;
    for (let i = lower(to, a, 0, to.length); i < from.length && from[i] < b; i++) {
      const x0 = max(scale.x(from[i]), scale.left);
      const x1 = min(scale.x(to[i]), scale.right);
      if (x1 - drawn < 0.5) continue;
      drawn = x1;
      if (awake[i]) {
        const colour = p.palette.tint(p.palette.ubatch(row.ubatch), 0.2);
        sheet.rounded(colour, x0, row.y - BAND, x1, row.y + BAND, 4, from[i] >= a, to[i] <= b);
      } else {
        sheet.seen.add("waiting");
        sheet.dotted(row.y, [[x0, x1]]);
      }
    }
  }
}

// ---- signs

function colourOf(sheet: Sheet, logical: Logical, i: number): string {
  const ubatch = logical.ubatch[i] ?? rowOfLane(sheet.p.layout, logical.thread[i])?.ubatch ?? null;
  sheet.seen.add(ubatch === null ? "main" : `ubatch ${ubatch}`);
  return sheet.p.palette.ubatch(ubatch);
}

/** A hairline from the thread that launches to the stream, with a dot on the thread. */
function paintTie(sheet: Sheet, logical: Logical, scale: ColumnScale, i: number): void {
  const { ctx, p } = sheet;
  const thread = rowOfLane(p.layout, logical.thread[i]);
  const row = rowOfLane(p.layout, logical.lane[i]);
  if (!thread || !row || thread === row) return;
  const x = scale.x(i + 0.5);
  const high = abs(row.y - thread.y);
  sheet.rect(p.palette.waiting, sheet.snap(x - 0.4), min(thread.y, row.y), sheet.thin(0.8), high);
  ctx.fillStyle = colourOf(sheet, logical, i);
  const r = min(2.5, max(scale.half(i), 0.8));
  ctx.beginPath();
  ctx.arc(x, thread.y, r, 0, 2 * Math.PI);
  ctx.fill();
}

function paintSign(sheet: Sheet, logical: Logical, scale: ColumnScale, i: number): void {
  const row = rowOfLane(sheet.p.layout, logical.lane[i]);
  if (!row) return;
  const x = scale.x(i + 0.5);
  switch (logical.sign[i]) {
    case "ring":
      return paintRing(sheet, logical, scale, i, x, row);
    case "gate":
      return paintGate(sheet, logical, i, x);
    case "record":
    case "wait":
      return paintDiamond(sheet, logical, scale, i, x, row);
    default:
      return paintChip(sheet, logical, scale, i, x, row);
  }
}

function paintChip(
  sheet: Sheet,
  logical: Logical,
  scale: ColumnScale,
  i: number,
  x: number,
  row: LaneRow,
): void {
  const { p } = sheet;
  const colour = colourOf(sheet, logical, i);
  const half = max(scale.half(i), 0.7);
  const [x0, x1, y0, y1] = [sheet.snap(x - half), sheet.snap(x + half), row.y - CHIP, row.y + CHIP];
  const pale = logical.sign[i] === "outline" || logical.cls[i] === "copy" || logical.cls[i] === "other";
  if (half < 3) {
    const inner = pale ? 3 : 0;
    const shown = pale ? p.palette.tint(colour, 0.45) : colour;
    sheet.rect(shown, x0, y0 + inner, max(x1 - x0, 0.7), y1 - y0 - 2 * inner);
    return;
  }
  if (pale) outlined(sheet, x0, y0, x1, y1, colour, 0.08, 3);
  else {
    sheet.rounded(colour, x0, y0, x1, y1, 3);
  }
  if (logical.sign[i] === "launch" && !pale) sheet.seen.add(logical.cls[i]);
  const text = clean(logical.text[i]);
  const wide = sheet.measure(text, SMALL_FONT);
  const fits = wide + 6 <= 2 * half && x - half >= sheet.left - 3 && x + half <= sheet.right + 3;
  if (logical.cls[i] === "comm") {
    sheet.rect(sheet.stripes, x0, y0, x1 - x0, y1 - y0);
    if (fits) {
      sheet.rounded(colour, x - wide / 2 - 3, row.y - 7, x + wide / 2 + 3, row.y + 7, 2.5);
    }
  }
  if (!fits) return;
  const ground = pale ? p.palette.tint(colour, 0.08) : colour;
  sheet.text(text, x, row.y, SMALL_FONT, SMALL, p.palette.on(ground), 0.5);
}

function paintRing(
  sheet: Sheet,
  logical: Logical,
  scale: ColumnScale,
  i: number,
  x: number,
  row: LaneRow,
): void {
  const { palette } = sheet.p;
  sheet.seen.add("arrives");
  ring(sheet.ctx, x, row.y, min(RING, max(scale.half(i), 1.5)), palette.background, palette.ink);
  paintNote(sheet, clean(logical.text[i]), x, row.y - BAND - 7, scale, i);
}

/** What a mark says, above or below it, where its column has room. */
function paintNote(sheet: Sheet, text: string, x: number, y: number, scale: ColumnScale, i: number): void {
  const half = sheet.measure(text, NOTE_FONT) / 2;
  if (half > scale.half(i) + 1 || !sheet.room.free(x - half, y - 6, x + half, y + 6)) return;
  sheet.room.take(x - half, y - 6, x + half, y + 6);
  sheet.text(text, x, y, NOTE_FONT, SMALL, sheet.p.palette.soft, 0.5);
}

function paintGate(sheet: Sheet, logical: Logical, i: number, x: number): void {
  const { ctx, p } = sheet;
  const threads = p.layout.rows.filter((row) => row.group === "threads");
  if (!threads.length) return;
  const top = threads[0].top - 5;
  const bottom = threads[threads.length - 1].bottom + 6;
  ctx.strokeStyle = p.palette.ink;
  ctx.lineWidth = 1.4;
  ctx.setLineDash([4, 2.7]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  pill(sheet, x, top - 19, clean(logical.text[i]));
}

function paintDiamond(
  sheet: Sheet,
  logical: Logical,
  scale: ColumnScale,
  i: number,
  x: number,
  row: LaneRow,
): void {
  const { ctx, p } = sheet;
  const filled = logical.sign[i] === "record";
  sheet.seen.add(filled ? "record" : "released");
  const tip = min(TIP + 0.8, max(scale.half(i), 1.5));
  ctx.beginPath();
  diamond(ctx, x, row.y, tip);
  ctx.fillStyle = filled ? p.palette.ink : p.palette.background;
  ctx.fill();
  ctx.strokeStyle = p.palette.ink;
  ctx.lineWidth = 1.3;
  ctx.stroke();
  const streams = p.layout.rows.filter((other) => other.group !== "threads");
  const below = row === streams[streams.length - 1];
  paintNote(sheet, clean(logical.text[i]), x, row.y + (below ? 16 : -16), scale, i);
}

// ---- arrows

/** set -> wake and hook -> run between threads, record -> wait between streams. */
function paintArrows(sheet: Sheet, logical: Logical, scale: ColumnScale, [from, to]: [number, number]): void {
  const found: Arrow[] = [];
  for (const [a, b, kind] of logical.arrows) {
    if (max(a, b) < from || min(a, b) > to) continue;
    const arrow = arrowOf(sheet, logical, scale, a, b, kind);
    if (arrow) found.push(arrow);
  }
  const room = scale.right - scale.left;
  const stride = max(1, ceil((3 * found.length) / room));
  const fine = found.length > room / 14;
  sheet.ctx.globalAlpha = stride > 1 ? 0.45 : fine ? 0.65 : 1;
  const shown = stride > 1 ? found.filter((_, i) => i % stride === 0) : found;
  strokeArrows(sheet, shown, sheet.p.palette.arrow, fine ? 0.8 : 1.2, stride > 1 ? 0 : 5.6);
  sheet.ctx.globalAlpha = 1;
  for (const { kind } of found) sheet.seen.add(kind);
}

export function arrowOf(
  sheet: Sheet,
  logical: Logical,
  scale: ColumnScale,
  a: number,
  b: number,
  kind: string,
): Arrow | null {
  const from = rowOfLane(sheet.p.layout, logical.lane[a]);
  const to = rowOfLane(sheet.p.layout, logical.lane[b]);
  if (!from || !to || from === to) return null;
  const reach = kind === "record -> wait" ? TIP + 0.8 : CHIP;
  const flat = (row: LaneRow) => ({ ...row, top: row.y - reach, bottom: row.y + reach });
  return between(flat(from), flat(to), scale.x(a + 0.5), scale.x(b + 0.5), kind);
}
