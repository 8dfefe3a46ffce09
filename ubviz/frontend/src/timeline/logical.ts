/**
 * Logical order: one endless row of columns, one for each trace event, and which time stands for which
 * columns.
 */

import { lower, upper } from "./columns";
import type { Measure } from "../base/text";
import type { Layout } from "./layout";
import type { Logical } from "./model";
import { ceil, floor, max, min } from "../base/numbers";
import { clean, NOTE_FONT, SMALL_FONT } from "../base/text";

export interface ColumnScale {
  /** Where a (fractional) column is; 2.5 is the middle of column 2. */
  x(column: number): number;
  column(x: number): number;
  /** Pixels a pixel of the natural row: below 1 chips have less room than their texts need. */
  k: number;
  /** Half the width of a column's chip at most, in pixels. */
  half(column: number): number;
  left: number;
  right: number;
}

const GAP = 8;
const LEAST_CHIP = 32;
const LEAST_MARK = 17;

/** How wide each column would like to be: the natural row. */
const natural = new WeakMap<Logical, Float64Array>();

function edgesOf(logical: Logical, measure: Measure): Float64Array {
  let edges = natural.get(logical);
  if (!edges) {
    edges = new Float64Array(logical.row.length + 1);
    for (let i = 0; i < logical.row.length; i++) edges[i + 1] = edges[i] + wideOf(logical, i, measure) + GAP;
    natural.set(logical, edges);
  }
  return edges;
}

function wideOf(logical: Logical, i: number, measure: Measure): number {
  const text = clean(logical.text[i]);
  switch (logical.sign[i]) {
    case "chip":
    case "outline":
    case "launch":
      return max(measure(text, SMALL_FONT) + (logical.cls[i] === "comm" ? 24 : 15), LEAST_CHIP);
    case "gate":
      return LEAST_MARK;
    default:
      return max(measure(text, NOTE_FONT), LEAST_MARK);
  }
}

/** Where a column lies in the natural row; beyond its ends columns are as wide as the average. */
function place(edges: Float64Array, column: number): number {
  const last = edges.length - 1;
  const average = last ? edges[last] / last : LEAST_CHIP;
  if (column <= 0 || last === 0) return column * average;
  if (column >= last) return edges[last] + (column - last) * average;
  const i = floor(column);
  return edges[i] + (column - i) * (edges[i + 1] - edges[i]);
}

function columnAt(edges: Float64Array, v: number): number {
  const last = edges.length - 1;
  const average = last ? edges[last] / last : LEAST_CHIP;
  if (v <= 0 || last === 0) return v / average;
  if (v >= edges[last]) return last + (v - edges[last]) / average;
  const i = upper(edges, v, 0, edges.length) - 1;
  return i + (v - edges[i]) / (edges[i + 1] - edges[i]);
}

/** The columns [from, to] spread from the gutter to `right`. */
export function columnScale(
  logical: Logical,
  layout: Layout,
  columns: readonly [number, number],
  right: number,
  measure: Measure,
): ColumnScale {
  const edges = edgesOf(logical, measure);
  const left = layout.gutter;
  const v0 = place(edges, columns[0]);
  const k = (right - left) / max(place(edges, columns[1]) - v0, 1);
  return {
    k,
    left,
    right,
    x: (column) => left + (place(edges, column) - v0) * k,
    column: (x) => columnAt(edges, v0 + (x - left) / k),
    half: (column) => {
      const i = min(max(floor(column), 0), max(edges.length - 2, 0));
      const wide = (edges[i + 1] ?? LEAST_CHIP) - (edges[i] ?? 0) - GAP;
      return (wide * min(k, 1)) / 2;
    },
  };
}

/** As many columns from one on as have room at their natural width: how logical order is best first shown. */
export function columnsFrom(
  logical: Logical,
  from: number,
  room: number,
  measure: Measure,
): [number, number] {
  const edges = edgesOf(logical, measure);
  const last = edges.length - 1;
  const to = columnAt(edges, place(edges, from) + room);
  return to <= last ? [from, to] : [max(columnAt(edges, place(edges, last) - room), 0), last];
}

// ---- columns and time

const latest = new WeakMap<Logical, Float64Array>();

/**
 * The time of each column, never earlier than that of a column before: order is not always that of the
 * clocks.
 */
function timesOf(logical: Logical): Float64Array {
  let times = latest.get(logical);
  if (!times) {
    times = Float64Array.from(logical.t);
    for (let i = 1; i < times.length; i++) times[i] = max(times[i], times[i - 1]);
    latest.set(logical, times);
  }
  return times;
}

/** The columns that a range of time stands for: from the first moment in it to the last. */
export function columnsOf(logical: Logical, range: readonly [number, number]): [number, number] {
  const times = timesOf(logical);
  const n = times.length;
  if (n === 0) return [0, 1];
  const i = lower(times, range[0], 0, n);
  const j = upper(times, range[1], 0, n) - 1;
  return [
    i === 0 ? 0 : i === n ? n : i - 0.5 + share(times, i - 1, range[0]),
    j === n - 1 ? n : j < 0 ? 0 : j + 0.5 + share(times, j, range[1]),
  ];
}

/** How far t is on the way from column i to the next. */
function share(times: Float64Array, i: number, t: number): number {
  const gap = times[i + 1] - times[i];
  return gap > 0 ? min((t - times[i]) / gap, 1) : 0;
}

/** The time that stands for some columns. */
export function rangeOf(logical: Logical, columns: readonly [number, number]): [number, number] {
  return [timeAt(logical, columns[0]), timeAt(logical, columns[1])];
}

function timeAt(logical: Logical, column: number): number {
  const times = timesOf(logical);
  const last = times.length - 1;
  if (last < 0) return 0;
  const c = min(max(column - 0.5, 0), last);
  const i = min(floor(c), max(last - 1, 0));
  return last === 0 ? times[0] : times[i] + (c - i) * (times[i + 1] - times[i]);
}

/** Which columns are seen, with a margin for what reaches in from the sides. */
export function seenColumns(logical: Logical, columns: readonly [number, number]): [number, number] {
  const n = logical.row.length;
  return [max(floor(columns[0]) - 1, 0), min(ceil(columns[1]) + 1, n)];
}
