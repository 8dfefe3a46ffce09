/** The binary columns of one part, as typed arrays that can be searched. */

import type { Loads } from "./loads";
import type { ColumnSpec, Dtype, Part } from "./model";
import { min } from "../base/numbers";

/** Any column; which kind of numbers it holds is the kernel's choice, the smallest that serves. */
export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** Spans of one track: they follow one another and never overlap. */
export interface Bars {
  rows: number;
  start: Float64Array;
  end: Float64Array;
  style: Uint8Array;
  ubatch: Column;
  name: Column;
  op: Column;
  layer: Column;
  row: Int32Array;
  /** Rows where an operation begins, and after the last the number of rows. */
  blocks: Uint32Array;
  loads: Loads | null;
}

/** Marks of one track, by their time. */
export interface Marks {
  rows: number;
  start: Float64Array;
  kind: Column;
  ubatch: Column;
  text: Column;
  row: Int32Array;
}

/** Flows by the time of their cause. */
export interface Flows {
  rows: number;
  from: Float64Array;
  to: Float64Array;
  kind: Column;
  fromLane: Column;
  toLane: Column;
  fromTable: Column;
  toTable: Column;
  fromRow: Column;
  toRow: Column;
}

export const NEW_BLOCK = 128;
export const STYLE = 127;
const SIZES: Record<Dtype, number> = { const: 0, u1: 1, u2: 2, u4: 4, f8: 8 };

export function barsOf(part: Part, bytes: ArrayBuffer): Bars {
  const column = reader(part, bytes);
  const start = summed(column("gap"), part.start);
  const end = ends(start, column("dur"));
  const styles = column("style");
  const marked = styles instanceof Uint8Array ? styles : Uint8Array.from(styles);
  const rows = column("row");
  let row: Int32Array | undefined;
  return {
    rows: part.rows,
    start,
    end,
    style: marked.map((style) => style & STYLE),
    ubatch: column("ubatch"),
    name: column("name"),
    op: column("op"),
    layer: column("layer"),
    // Only asked for where something is chosen.
    get row() {
      return (row ??= rowsOf(rows, part.row0));
    },
    blocks: blocksOf(marked),
    loads: null,
  };
}

export function marksOf(part: Part, bytes: ArrayBuffer): Marks {
  const column = reader(part, bytes);
  return {
    rows: part.rows,
    start: summed(column("gap"), part.start),
    kind: column("kind"),
    ubatch: column("ubatch"),
    text: column("text"),
    row: rowsOf(column("row"), part.row0),
  };
}

export function flowsOf(part: Part, bytes: ArrayBuffer): Flows {
  const column = reader(part, bytes);
  const from = summed(column("gap"), part.start);
  return {
    rows: part.rows,
    from,
    to: ends(from, column("dt")),
    kind: column("kind"),
    fromLane: column("from_lane"),
    toLane: column("to_lane"),
    fromTable: column("from_table"),
    toTable: column("to_table"),
    fromRow: column("from_row"),
    toRow: column("to_row"),
  };
}

/** Columns by name; refuses bytes that are not as many as the index says. */
function reader(part: Part, bytes: ArrayBuffer): (name: string) => Column {
  const needed = part.columns.reduce((sum, [, dtype]) => sum + SIZES[dtype] * part.rows, 0);
  if (needed !== bytes.byteLength) {
    throw new Error(`Block ${part.key} has ${bytes.byteLength} bytes where its columns need ${needed}.`);
  }
  const found = new Map<string, Column>();
  let offset = 0;
  for (const spec of part.columns) {
    found.set(spec[0], columnAt(spec, bytes, offset, part.rows));
    offset += SIZES[spec[1]] * part.rows;
  }
  return (name) => {
    const column = found.get(name);
    if (!column) throw new Error(`Block ${part.key} has no column "${name}".`);
    return column;
  };
}

function columnAt(
  [name, dtype, value]: ColumnSpec,
  bytes: ArrayBuffer,
  offset: number,
  rows: number,
): Column {
  switch (dtype) {
    case "const":
      return constant(value ?? 0, rows);
    case "u1":
      return new Uint8Array(bytes, offset, rows);
    case "u2":
      return new Uint16Array(bytes, offset, rows);
    case "u4":
      return new Uint32Array(bytes, offset, rows);
    case "f8":
      return new Float64Array(bytes, offset, rows);
    default:
      throw new Error(`Column "${name}" is of the unknown kind "${String(dtype)}".`);
  }
}

function constant(value: number, rows: number): Column {
  const small = Number.isInteger(value) && value >= 0 && value < 256;
  return small ? new Uint8Array(rows).fill(value) : new Float64Array(rows).fill(value);
}

function summed(gaps: Column, first: number): Float64Array {
  const found = new Float64Array(gaps.length);
  let t = first;
  for (let i = 0; i < gaps.length; i++) found[i] = t += gaps[i];
  return found;
}

function ends(starts: Float64Array, lengths: Column): Float64Array {
  const found = new Float64Array(starts.length);
  for (let i = 0; i < found.length; i++) found[i] = starts[i] + lengths[i];
  return found;
}

/** Absolute row numbers; -1 is no row. */
function rowsOf(gaps: Column, row0: number): Int32Array {
  const found = new Int32Array(gaps.length);
  let row = row0;
  for (let i = 0; i < found.length; i++) found[i] = row += gaps[i];
  return found;
}

/**
 * Where blocks begin. A part that begins in the middle of an operation begins a block of its own: blocks
 * do not cross
 * parts. Where no block is marked at all (threads, waits) each row is one.
 */
function blocksOf(styles: Uint8Array): Uint32Array {
  const rows = styles.length;
  const isMarked = styles.some((style) => style & NEW_BLOCK);
  const found = new Uint32Array(rows + 1);
  let count = 0;
  for (let i = 0; i < rows; i++) if (!isMarked || i === 0 || styles[i] & NEW_BLOCK) found[count++] = i;
  found[count++] = rows;
  return found.subarray(0, count);
}

/** The first place in [from, to) whose value is at least x; `to` where there is none. */
export function lower(values: ArrayLike<number>, x: number, from: number, to: number): number {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] < x) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The first place in [from, to) whose value is more than x. */
export function upper(values: ArrayLike<number>, x: number, from: number, to: number): number {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] <= x) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** As `lower`, quick where the place is near `from`, or about `step` beyond it. */
export function gallop(values: Float64Array, x: number, from: number, to: number, step = 1): number {
  let high = min(from + step - 1, to);
  while (high < to && values[high] < x) {
    from = high + 1;
    high += step;
    step *= 2;
  }
  // Not by `lower`: one that only ever sees one kind of array is several times as fast.
  high = min(high, to);
  while (from < high) {
    const middle = (from + high) >> 1;
    if (values[middle] < x) from = middle + 1;
    else high = middle;
  }
  return from;
}
