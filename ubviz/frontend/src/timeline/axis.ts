/** What is shown, as positions from left to right: nanoseconds by the clock, columns in logical order. */

import type { Item } from "./data";
import type { Index, Logical } from "./model";
import type { ColumnScale } from "./logical";
import { columnsOf, rangeOf } from "./logical";
import { max, min, round } from "../base/numbers";
import { framed, moved, revealed, within, zoomed, type Range } from "../base/range";
import { LEAST_NS, type Scale } from "../base/scale";

/** Pixels to positions and back, of whichever order. */
export interface Axis {
  readonly range: Range;
  readonly all: Range;
  /** The least length of a range. */
  readonly least: number;
  x(position: number): number;
  at(x: number): number;
  of(item: Item): Range;
  moment(ns: number): number;
}

export function clockAxis(scale: Scale, index: Index): Axis {
  return {
    range: [scale.start, scale.end],
    all: [index.begin_ns, index.end_ns],
    least: LEAST_NS,
    x: (ns) => scale.x(ns),
    at: (x) => scale.ns(x),
    of: (item) => [item.start, item.end],
    moment: (ns) => ns,
  };
}

const LEAST_COLUMNS = 4;

export function orderAxis(scale: ColumnScale, columns: Range, logical: Logical): Axis {
  return {
    range: columns,
    all: [0, logical.row.length],
    least: LEAST_COLUMNS,
    x: (column) => scale.x(column),
    at: (x) => scale.column(x),
    of: (item) => columnsOfItem(item, logical),
    moment: (ns) => columnsOf(logical, [ns, ns])[0],
  };
}

/** A trace event has a column of its own; a span those of the trace events that happened meanwhile. */
export function columnsOfItem(item: Item, logical: Logical): Range {
  const own = item.table === "events" ? logical.row.indexOf(item.row) : -1;
  return own >= 0 ? [own, own + 1] : columnsOf(logical, [item.start, item.end]);
}

/** Where one comes by zooming, panning, framing and following the selection. */
export const go = {
  zoom: (axis: Axis, factor: number, at: number) =>
    within(zoomed(axis.range, factor, at, axis.least), axis.range, axis.all),
  pan: (axis: Axis, by: number) => within(moved(axis.range, by), axis.range, axis.all),
  frame(axis: Axis, items: readonly Item[], around: number): Range {
    const ranges = items.map((item) => axis.of(item));
    const from = min(...ranges.map(([a]) => a));
    const to = max(...ranges.map(([, b]) => b));
    const wanted = framed(axis.range, from, to, around);
    const short = axis.least - (wanted[1] - wanted[0]);
    return short > 0 ? [wanted[0] - short / 2, wanted[1] + short / 2] : wanted;
  },
  reveal: (axis: Axis, item: Item) => revealed(axis.range, ...axis.of(item)),
};

/** Columns as a range of time, whole nanoseconds. */
export function timeOf(logical: Logical, columns: Range): [number, number] {
  const [a, b] = rangeOf(logical, [columns[0], columns[1]]);
  return whole([a, max(b, a + 1)]);
}

export function whole(range: Range): [number, number] {
  const start = round(range[0]);
  return [start, max(start + 1, round(range[1]))];
}
