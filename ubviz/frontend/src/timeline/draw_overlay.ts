/**
 * What lies in front: what is chosen and what is pointed at, the cursor, and the arrows of what is chosen.
 */

import type { FlowEnd, Item } from "./data";
import type { Front, Picture } from "./draw";
import { between, strokeArrows, type Arrow } from "./draw_arrows";
import { rulerMarks } from "./draw_ground";
import { CHIP } from "./draw_logical";
import { edgeOf, pill } from "./draw_marks";
import { moment } from "../base/format";
import { kept } from "../base/kept";
import { middle, rowOfLane, type LaneRow } from "./layout";
import { columnScale, columnsOf, type ColumnScale } from "./logical";
import type { Logical, Row } from "./model";
import { abs, max } from "../base/numbers";
import { rectangle } from "../base/shapes";
import { Sheet } from "./sheet";
import { RULER_FONT, SMALL_FONT } from "../base/text";

/** What is not chosen steps back by this much. */
const DIM = 0.2;
/** More arrows than this say nothing. */
const MOST_ARROWS = 60;

interface Box {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

/** Where things are in one order or the other. */
interface Places {
  sheet: Sheet;
  box(item: Item): Box | null;
  arrow(from: Item, to: Item, kind: string): Arrow | null;
  moment(ns: number): number;
}

export function overlay(p: Picture, front: Front, logical: Logical | null): void {
  const sheet = new Sheet(p);
  const { ctx } = sheet;
  ctx.setTransform(p.dpr, 0, 0, p.dpr, 0, 0);
  ctx.globalAlpha = 1;
  ctx.clearRect(0, 0, p.width, p.height);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const places = logical && front.columns ? byOrder(sheet, logical, front.columns) : byClock(sheet);
  sheet.clipped(() => {
    if (front.selection.length) paintChosen(sheet, places, front);
    if (front.hovered) paintOutline(sheet, places.box(front.hovered), p.palette.ink, 1.4);
  }, 5);
  if (front.cursor !== null) paintCursor(sheet, places, front.cursor);
}

/** Everything else a little paler; what is chosen, what it comes from and what it leads to as it was. */
function paintChosen(sheet: Sheet, places: Places, front: Front): void {
  const { ctx, p } = sheet;
  const { arrows, ends } = flowsOf(p, places, front.selection);
  const inView = (box: Box | null) => box !== null && box.x1 >= sheet.left && box.x0 <= sheet.right;
  if (front.selection.some((item) => inView(places.box(item)))) {
    ctx.fillStyle = p.palette.background;
    ctx.globalAlpha = DIM;
    ctx.fillRect(sheet.left - 5, p.layout.rulerY + 10, sheet.right - sheet.left + 10, p.height);
    ctx.globalAlpha = 1;
  }
  for (const item of [...front.selection, ...ends]) clear(sheet, places.box(item));
  strokeArrows(sheet, arrows, p.palette.ink, 2, 7.5);
  const colour = front.focus ? p.palette.focus : p.palette.ink;
  for (const item of front.selection) paintOutline(sheet, places.box(item), colour, 2.2);
}

function clear(sheet: Sheet, box: Box | null): void {
  if (box) sheet.ctx.clearRect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
}

/** An outline in two tones, so that it is seen on any colour. */
function paintOutline(sheet: Sheet, box: Box | null, colour: string, width: number): void {
  if (!box) return;
  const { ctx, p } = sheet;
  for (const [style, wide, grow] of [
    [p.palette.background, width + 2.4, 1.6],
    [colour, width, 1.6],
  ] as const) {
    ctx.strokeStyle = style;
    ctx.lineWidth = wide;
    ctx.beginPath();
    rectangle(ctx, box.x0 - grow, box.y0 - grow, box.x1 + grow, box.y1 + grow, 4);
    ctx.stroke();
  }
}

function paintCursor(sheet: Sheet, places: Places, cursor: number): void {
  const { ctx, p } = sheet;
  const x = places.moment(cursor);
  if (x < sheet.left - 1 || x > sheet.right + 1) return;
  const words = moment(cursor - p.data.index.origin_ns, 1 / p.scale.k);
  ctx.fillStyle = p.palette.background;
  for (const [at, label] of p.layout.order === "wall" ? rulerMarks(sheet) : []) {
    const half = sheet.measure(label, RULER_FONT) / 2 + 2;
    const mark = p.scale.x(p.data.index.origin_ns + at);
    const near = half + sheet.measure(words, SMALL_FONT) / 2 + 12;
    if (abs(mark - x) < near) ctx.fillRect(mark - half, p.layout.rulerY - 9, 2 * half, 18);
  }
  const { rulerY } = p.layout;
  sheet.rect(p.palette.focus, sheet.snap(x - 0.5), rulerY, sheet.thin(1.2), p.height - rulerY);
  pill(sheet, x, p.layout.rulerY, words, true);
}

// ---- flows

/** The last answer: hovering repaints the overlay often, and asks for the same flows each time. */
let last: { key: string; data: unknown; found: { from: Item; to: Item; kind: string }[] } | null = null;

function flowsOf(p: Picture, places: Places, selection: readonly Item[]): { arrows: Arrow[]; ends: Item[] } {
  const key = JSON.stringify([p.data.version, selection.map((item) => [item.table, item.row, item.start])]);
  if (!last || last.key !== key || last.data !== p.data) {
    last = { key, data: p.data, found: selection.slice(0, 20).flatMap((item) => pairsOf(p, item)) };
  }
  const found = last.found.slice(0, MOST_ARROWS);
  const arrows = found
    .map(({ from, to, kind }) => places.arrow(from, to, kind))
    .filter((arrow) => arrow !== null);
  return { arrows, ends: found.flatMap(({ from, to }) => [from, to]) };
}

function pairsOf(p: Picture, item: Item): { from: Item; to: Item; kind: string }[] {
  const { causes, effects } = p.data.flowsOf([item.table, item.row]);
  const other = (end: FlowEnd) => p.data.item(end.row);
  const pairs: { from: Item; to: Item; kind: string }[] = [];
  for (const end of causes) {
    const from = other(end);
    if (from) pairs.push({ from, to: item, kind: end.kind });
  }
  for (const end of effects) {
    const to = other(end);
    if (to) pairs.push({ from: item, to, kind: end.kind });
  }
  return pairs;
}

// ---- by the clock

function byClock(sheet: Sheet): Places {
  const { layout, scale } = sheet.p;
  const box = (item: Item): Box | null => {
    const row = rowOfLane(layout, item.lane);
    return row && boxByClock(sheet, item, row);
  };
  return {
    sheet,
    box,
    arrow: (from, to, kind) => {
      const a = rowOfLane(layout, from.lane);
      const b = rowOfLane(layout, to.lane);
      if (!a || !b) return null;
      const [t0, t1] = momentsOf(from, to, kind);
      const [x0, x1] = [scale.x(t0), scale.x(t1)];
      if (a === b) return { x0, y0: a.top, x1, y1: a.top - 14, kind };
      return between(subRow(a, from), subRow(b, to), x0, x1, kind);
    },
    moment: (ns) => scale.x(ns),
  };
}

/** When a flow leaves and when it arrives: a wait is reached where it ends, a span is left where it ends. */
function momentsOf(from: Item, to: Item, kind: string): [number, number] {
  if (kind === "launch -> kernel") return [from.start, to.start];
  return [from.end, to.style === "waiting" ? to.end : to.start];
}

function subRow(row: LaneRow, item: Item): LaneRow {
  const y = item.kind === null ? middle(row, item.sub) : row.y;
  return { ...row, y, top: y - row.half, bottom: y + row.half };
}

function boxByClock(sheet: Sheet, item: Item, row: LaneRow): Box {
  const { scale } = sheet.p;
  const [a, b] = [scale.x(item.start), scale.x(item.end)];
  if (item.kind !== null) return markBox(sheet, item, row, a);
  const y = middle(row, item.sub);
  const isLine = item.style === "waiting";
  const half = isLine ? 5 : row.half;
  const thin = max(3 - (b - a), 0) / 2;
  return { x0: a - thin, x1: b + thin, y0: y - half, y1: y + half };
}

function markBox(sheet: Sheet, item: Item, row: LaneRow, x: number): Box {
  const isPoint = item.table === "spans";
  const y = isPoint ? edgeOf(sheet.p, row, item.row, item.kind === "record") : row.y;
  const half = isPoint || item.kind === "barrier.arrive" ? 5 : row.half;
  const wide = isPoint || item.kind === "barrier.arrive" ? 5 : 2;
  return { x0: x - wide, x1: x + wide, y0: y - half, y1: y + half };
}

// ---- by order

const numbers = new WeakMap<Logical, Map<number, number>>();

/** Row of a trace event -> its column. */
const columnOf = (logical: Logical, row: number): number | undefined =>
  kept(numbers, logical, () => new Map(logical.row.map((row, column) => [row, column]))).get(row);

function byOrder(sheet: Sheet, logical: Logical, columns: readonly [number, number]): Places {
  const { layout } = sheet.p;
  const scale = columnScale(logical, layout, columns, sheet.right, sheet.measure);
  const place = (item: Item): number | undefined => columnOfItem(sheet.p, logical, item);
  return {
    sheet,
    box: (item) => {
      const column = place(item);
      return column === undefined ? null : boxByOrder(sheet, logical, scale, column);
    },
    arrow: (from, to, kind) => {
      const [a, b] = [place(from), place(to)];
      if (a === undefined || b === undefined || a === b) return null;
      const [from_, to_] = [boxByOrder(sheet, logical, scale, a), boxByOrder(sheet, logical, scale, b)];
      if (!from_ || !to_) return null;
      return arrowBetween(from_, to_, kind);
    },
    moment: (ns) => scale.x(columnsOf(logical, [ns, ns])[0]),
  };
}

function arrowBetween(a: Box, b: Box, kind: string): Arrow {
  const down = b.y0 + b.y1 >= a.y0 + a.y1;
  const [x0, x1] = [(a.x0 + a.x1) / 2, (b.x0 + b.x1) / 2];
  return { x0, y0: down ? a.y1 : a.y0, x1, y1: down ? b.y0 : b.y1, kind };
}

/** A trace event has a column; a span that of the trace event that launched it. */
function columnOfItem(p: Picture, logical: Logical, item: Item): number | undefined {
  if (item.table === "events") return columnOf(logical, item.row);
  const row: Row = ["spans", item.row];
  const cause = p.data.flowsOf(row).causes.find((end) => end.row[0] === "events");
  return cause && columnOf(logical, cause.row[1]);
}

function boxByOrder(sheet: Sheet, logical: Logical, scale: ColumnScale, column: number): Box | null {
  const row = rowOfLane(sheet.p.layout, logical.lane[column]);
  if (!row) return null;
  const isChip = ["chip", "outline", "launch"].includes(logical.sign[column]);
  const half = isChip ? max(scale.half(column), 2) : 6;
  const x = scale.x(column + 0.5);
  const high = isChip ? CHIP : 6;
  return { x0: x - half, x1: x + half, y0: row.y - high, y1: row.y + high };
}
