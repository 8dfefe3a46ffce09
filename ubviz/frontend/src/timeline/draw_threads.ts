/**
 * Threads: awake is a bar, waiting for others is a dotted line, blocked by the device is a pale outlined
 * bar.
 */

import { lower } from "./columns";
import { outlined } from "./draw_streams";
import type { Strip } from "./draw_strips";
import type { LaneRow } from "./layout";
import type { Wide } from "./lod";
import { max, min } from "../base/numbers";
import { rectangle } from "../base/shapes";
import type { Sheet } from "./sheet";
import { clean, NOTE_FONT, SMALL } from "../base/text";
import type { BarTrack } from "./tracks";

const RADIUS = 2.2;
const SHARES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8];

interface Bar {
  x0: number;
  x1: number;
  begins: boolean;
  ends: boolean;
}

function barOf(sheet: Sheet, { bars, from, to }: Wide): Bar {
  const { scale } = sheet.p;
  const a = scale.x(bars.start[from]);
  const b = scale.x(bars.end[to - 1]);
  return {
    x0: max(a, sheet.left),
    x1: min(b, sheet.right),
    begins: a >= sheet.left,
    ends: b <= sheet.right,
  };
}

/** Bars, outlines and dotted lines; what is written on them comes later, where there is still room. */
export function paintThread(sheet: Sheet, strip: Strip): void {
  const { ctx } = sheet;
  const top = strip.y - strip.row.half;
  const bottom = strip.y + strip.row.half;
  const waits: [number, number][] = [];
  for (const wide of strip.wide) {
    const { x0, x1, begins, ends } = barOf(sheet, wide);
    const colour = colourOf(sheet, wide);
    switch (styleOf(sheet, wide)) {
      case "waiting":
        waits.push([x0, x1]);
        break;
      case "device":
        outlined(sheet, x0, top, x1, bottom, colour, 0.14, RADIUS, begins, ends);
        break;
      default:
        ctx.fillStyle = colour;
        if (x1 - x0 < sheet.leastRound) {
          ctx.fillRect(x0, top, x1 - x0, bottom - top);
          break;
        }
        ctx.beginPath();
        rectangle(ctx, x0, top, x1, bottom, RADIUS, begins, ends);
        ctx.fill();
    }
  }
  sheet.dotted(strip.y, waits);
}

function styleOf(sheet: Sheet, { bars, from }: Wide): string {
  return sheet.p.data.index.styles[bars.style[from]] ?? "awake";
}

function colourOf(sheet: Sheet, { bars, from }: Wide): string {
  return sheet.p.palette.ubatch(bars.ubatch[from] ? bars.ubatch[from] - 1 : null);
}

/** Why it waits, each reason once a lane, where it waits longest; what blocks it, where there is room. */
export function paintThreadTexts(sheet: Sheet, strip: Strip): void {
  const waits: { bar: Bar; name: string }[] = [];
  for (const wide of strip.wide) {
    const bar = barOf(sheet, wide);
    const name = clean(sheet.p.data.facts.names[wide.bars.name[wide.from]] ?? "");
    const style = styleOf(sheet, wide);
    if (style === "waiting") waits.push({ bar, name });
    else if (style === "device") paintDeviceText(sheet, strip, wide, bar, name);
  }
  waits.sort((a, b) => b.bar.x1 - b.bar.x0 - (a.bar.x1 - a.bar.x0));
  const said = new Set<string>();
  for (const { bar, name } of waits) {
    if (said.has(name)) continue;
    if (paintReason(sheet, strip.y, bar, name)) said.add(name);
  }
}

function paintReason(sheet: Sheet, y: number, { x0, x1 }: Bar, name: string): boolean {
  const text = sheet.fit([name, "waits"], NOTE_FONT, x1 - x0 - 38);
  if (!text) return false;
  const half = sheet.measure(text, NOTE_FONT) / 2;
  for (const share of SHARES) {
    const x = x0 + (x1 - x0) * share;
    if (x - half < x0 + 16 || x + half > x1 - 16) continue;
    if (sheet.note(text, x, y, 4, 14, sheet.p.palette.soft)) return true;
  }
  return false;
}

function paintDeviceText(sheet: Sheet, strip: Strip, wide: Wide, { x0, x1 }: Bar, name: string): void {
  if (2 * strip.row.half < SMALL + 2) return;
  const { data, palette } = sheet.p;
  const { bars, from } = wide;
  const what = bars.op[from]
    ? clean(data.facts.names[bars.op[from] - 1] ?? "")
    : name.replace(/^blocked in /, "");
  const short = data.shortOf(what);
  const text = sheet.fit(
    [name, what, name.split(" ")[0] === "blocked" ? "" : name.split(" ")[0], short],
    NOTE_FONT,
    x1 - x0 - 9,
  );
  if (!text) return;
  const written = sheet.note(text, (x0 + x1) / 2, strip.y, 0, 0, palette.ink);
  if (written && text === short) sheet.seen.add(`short ${short} ${what}`);
}

/**
 * The operations that a thread is in: where each begins a fine line, and its name, within the bars that are
 * awake.
 */
export function paintInner(sheet: Sheet, track: BarTrack, main: Strip | undefined, row: LaneRow): void {
  if (!main || 2 * row.half < SMALL + 2) return;
  const { scale } = sheet.p;
  const awake = main.wide.filter((wide) => styleOf(sheet, wide) === "awake");
  for (const wide of awake) {
    const { x0, x1 } = barOf(sheet, wide);
    const colour = colourOf(sheet, wide);
    if (x1 - x0 < 20) continue;
    const a = scale.ns(x0);
    const b = scale.ns(x1);
    for (const bars of track.within(a, b)) {
      let shown = 0;
      for (
        let i = lower(bars.end, a, 0, bars.rows);
        i < bars.rows && bars.start[i] < b && shown < 300;
        i++, shown++
      ) {
        const name = clean(sheet.p.data.facts.names[bars.op[i] ? bars.op[i] - 1 : bars.name[i]] ?? "");
        paintOperation(sheet, name, row, colour, [scale.x(bars.start[i]), scale.x(bars.end[i])], [x0, x1]);
      }
    }
  }
}

function paintOperation(
  sheet: Sheet,
  name: string,
  row: LaneRow,
  colour: string,
  [a, b]: [number, number],
  [x0, x1]: [number, number],
): void {
  const { ctx, p, room } = sheet;
  if (b - a < 8) return;
  ctx.fillStyle = p.palette.background;
  ctx.globalAlpha = 0.55;
  for (const x of [a, b]) {
    if (x > x0 + 2 && x < x1 - 2) ctx.fillRect(sheet.snap(x), row.top, sheet.thin(0.8), 2 * row.half);
  }
  ctx.globalAlpha = 1;
  const from = max(a, x0);
  const to = min(b, x1);
  const half = sheet.measure(name, NOTE_FONT) / 2;
  const x = (from + to) / 2;
  if (2 * half + 9 > to - from || !room.free(x - half - 2, row.y - 7, x + half + 2, row.y + 7)) return;
  room.take(x - half - 2, row.y - 7, x + half + 2, row.y + 7);
  sheet.text(name, x, row.y, NOTE_FONT, SMALL, p.palette.on(colour), 0.5);
}
