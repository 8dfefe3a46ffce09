/** What lies behind: names of lanes, the ruler and its hairlines, where layers and steps begin. */

import { lower } from "./columns";
import { rulerOf } from "../base/format";
import { middle, PAD } from "./layout";
import { ceil, max, min } from "../base/numbers";
import type { Sheet } from "./sheet";
import { clean, GROUP_FONT, LANE_FONT, NOTE_FONT, RULER_FONT, SMALL } from "../base/text";

const APART = 96;

export function paintBackground(sheet: Sheet): void {
  const { ctx, p } = sheet;
  ctx.setTransform(p.dpr, 0, 0, p.dpr, 0, 0);
  ctx.globalAlpha = 1;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  sheet.rect(p.palette.background, 0, 0, p.width, p.height);
}

/** Names of groups and lanes, at the right edge of the gutter. */
export function paintNames(sheet: Sheet): void {
  const { p } = sheet;
  for (const title of p.layout.titles) {
    sheet.text(title.text, PAD, title.y, GROUP_FONT, SMALL, p.palette.soft);
    sheet.room.take(0, title.y - 7, PAD + sheet.measure(title.text, GROUP_FONT) + 4, title.y + 7);
  }
  for (const row of p.layout.rows) {
    const name = clean(row.name);
    sheet.text(name, sheet.left - 12, row.y, LANE_FONT, 13, p.palette.ink, 1);
  }
}

/** A hairline along each lane, as long as the recording. */
export function paintLines(sheet: Sheet): void {
  const { ctx, p } = sheet;
  const { begin_ns, end_ns } = p.data.index;
  const x0 = max(p.scale.x(begin_ns), sheet.left);
  const x1 = min(p.scale.x(end_ns), sheet.right);
  ctx.fillStyle = p.palette.grid;
  const thin = sheet.thin(1);
  if (x1 > x0) {
    for (const row of p.layout.rows) {
      for (let sub = 0; sub < row.subs; sub++) {
        ctx.fillRect(x0, sheet.snap(middle(row, sub) - thin / 2), x1 - x0, thin);
      }
    }
  }
}

/** The marks of time, and a hairline under each. */
export function paintRuler(sheet: Sheet): void {
  const { p } = sheet;
  const zero = p.data.index.origin_ns;
  const thin = sheet.thin(1);
  const bottom = p.height - 8;
  for (const [at, label] of rulerMarks(sheet)) {
    const x = p.scale.x(zero + at);
    const top = p.layout.rulerY + 10;
    sheet.rect(p.palette.grid, sheet.snap(x - thin / 2), top, thin, bottom - top);
    const half = sheet.measure(label, RULER_FONT) / 2;
    if (x + half <= p.width - 1) sheet.text(label, x - half, p.layout.rulerY, RULER_FONT, 11, p.palette.soft);
  }
}

/** Further apart where the labels are long: deep within a recording they have many digits. */
export function rulerMarks(sheet: Sheet): [number, string][] {
  const { scale, data } = sheet.p;
  const zero = data.index.origin_ns;
  const marks = (apart: number) => rulerOf(scale.start - zero, scale.end - zero, scale.room, apart);
  const first = marks(APART);
  const widest = max(0, ...first.map(([, label]) => sheet.measure(label, RULER_FONT)));
  return widest + 22 > APART ? marks(widest + 22) : first;
}

/**
 * Where layers begin, on the line of the title of the streams; where there are several steps, on that of
 * threads.
 */
export function paintBegins(sheet: Sheet): void {
  const { layout, data } = sheet.p;
  const several = new Set(layout.rows.map((row) => data.index.lanes[row.lane].rank)).size > 1;
  const layers = data.facts.layers;
  const streams = layout.titles.find((title) => title.group === "streams");
  if (streams && layers.length > 1 && !several) {
    const { starts, texts } = beginsOf(layers, "layer");
    paintMarks(sheet, streams.y, starts, texts);
  }
  const threads = layout.titles.find((title) => title.group === "threads");
  if (threads && data.index.steps.length > 1) {
    const { starts, texts } = beginsOf(
      data.index.steps.map(([step, begin]) => [begin, step]),
      "step",
    );
    paintMarks(sheet, threads.y, starts, texts);
  }
}

function beginsOf(found: readonly [number, number][], word: string): { starts: number[]; texts: string[] } {
  return { starts: found.map(([start]) => start), texts: found.map(([, number]) => `${word} ${number}`) };
}

function paintMarks(sheet: Sheet, y: number, starts: number[], texts: string[]): void {
  const { p } = sheet;
  const from = lower(starts, p.scale.start, 0, starts.length);
  const to = lower(starts, p.scale.end, from, starts.length);
  const wide = from < to ? sheet.measure(texts[to - 1], NOTE_FONT) + 20 : 1;
  const most = max((sheet.right - sheet.left) / wide, 1);
  const roomy =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((n) => (to - from) / n <= most) ?? to;
  // Multiples of the stride, so that which are named does not change with every step of panning.
  for (let i = ceil(from / roomy) * roomy; i < to; i += roomy) {
    const x = p.scale.x(starts[i]);
    const end = x + 5 + sheet.measure(texts[i], NOTE_FONT);
    if (end > sheet.right || !sheet.room.free(x - 2, y - 7, end + 6, y + 7)) continue;
    sheet.room.take(x - 2, y - 7, end + 6, y + 7);
    sheet.rect(p.palette.soft, sheet.snap(x), y - 5, sheet.thin(1), 10);
    sheet.text(texts[i], x + 5, y, NOTE_FONT, SMALL, p.palette.soft);
  }
}
