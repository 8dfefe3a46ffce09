/**
 * Levels of detail. What is wide enough is drawn as a shape; all else is added up, pixel by pixel, as
 * load: how much of
 * the pixel's time is busy, in which colour, and how much of it is communication. Nothing is dropped and
 * nothing is
 * counted twice, whatever the zoom.
 */

import { gallop, GROUP, loadsOf, lower, upper, type Bars, type Loads } from "./columns";
import { floor, max, min } from "../base/numbers";

/** The device pixels of a row: where the first begins, and how long one lasts. */
export interface Grid {
  start: number;
  step: number;
  count: number;
}

/** How a class of spans goes into the loads: its colour, and whether it is communication; null: it waits. */
export type Shade = { red: number; green: number; blue: number; comm: boolean } | null;
export type Shader = (style: number, ubatch: number) => Shade;

/** A block that is drawn as a shape: rows [from, to) of its part. `many`: its kernels are in the loads. */
export interface Wide {
  bars: Bars;
  from: number;
  to: number;
  many: boolean;
}

/** Loads of a row of pixels; colours are sums weighted by load. */
export class LoadRow {
  readonly load: Float32Array;
  readonly red: Float32Array;
  readonly green: Float32Array;
  readonly blue: Float32Array;
  readonly comm: Float32Array;
  readonly wait: Float32Array;
  /** The first and the last pixel with anything in it. */
  first: number;
  last = -1;

  constructor(readonly count: number) {
    this.first = count;
    [this.load, this.red, this.green, this.blue, this.comm, this.wait] = Array.from(
      { length: 6 },
      () => new Float32Array(count),
    ) as [Float32Array, Float32Array, Float32Array, Float32Array, Float32Array, Float32Array];
  }

  clear(): void {
    if (this.last >= 0) {
      for (const values of [this.load, this.red, this.green, this.blue, this.comm, this.wait]) {
        values.fill(0, this.first, this.last + 1);
      }
    }
    this.first = this.count;
    this.last = -1;
  }

  add(p: number, share: number, shade: Shade): void {
    if (share <= 0) return;
    this.reach(p);
    if (!shade) {
      this.wait[p] += share;
      return;
    }
    this.load[p] += share;
    this.red[p] += share * shade.red;
    this.green[p] += share * shade.green;
    this.blue[p] += share * shade.blue;
    if (shade.comm) this.comm[p] += share;
  }

  reach(p: number): void {
    if (p < this.first) this.first = p;
    if (p > this.last) this.last = p;
  }
}

/** What adding the rows of a part to a row of pixels needs. */
interface Adding {
  bars: Bars;
  loads: Loads;
  /** The shades of the part's classes. */
  shades: Shade[];
  grid: Grid;
  row: LoadRow;
}

/**
 * Sort what a part shows on a grid into wide blocks and loads; `least`: how long a wide block lasts at
 * least.
 */
export function collect(
  bars: Bars,
  grid: Grid,
  least: number,
  shader: Shader,
  row: LoadRow,
  wide: Wide[],
): void {
  const { blocks, start, end } = bars;
  const last = blocks.length - 1;
  const until = grid.start + grid.count * grid.step;
  const loads = loadsOf(bars);
  const shades = loads.classes.map(({ style, ubatch }) => shader(style, ubatch));
  const adding = { bars, loads, shades, grid, row };
  let b = firstBlock(bars, grid.start);
  let narrow = b; // from here to b none is wide, and none is added yet
  while (b < last && start[blocks[b]] < until) {
    if (b % (1 << GROUP) === 0 && loads.longest[b >> GROUP] < least) b += 1 << GROUP;
    else if (end[blocks[b + 1] - 1] - start[blocks[b]] < least) b++;
    else {
      addRows(adding, blocks[narrow], blocks[b]);
      wide.push(wideBlock(adding, blocks[b], blocks[b + 1], least));
      narrow = ++b;
    }
  }
  addRows(adding, blocks[narrow], blocks[min(b, last)]);
}

/** Kernels that are narrower on average than a narrow block are loads as well. */
function wideBlock(adding: Adding, from: number, to: number, least: number): Wide {
  const { bars, grid } = adding;
  const until = grid.start + grid.count * grid.step;
  if (to - from <= 3) return { bars, from, to, many: false };
  const first = upper(bars.end, grid.start, from, to);
  const past = lower(bars.start, until, first, to);
  const seen = min(bars.end[to - 1], until) - max(bars.start[from], grid.start);
  const many = (past - first) * least > seen;
  if (many) addRows(adding, first, past);
  return { bars, from, to, many };
}

/** The first block that ends after t. */
function firstBlock({ blocks, end }: Bars, t: number): number {
  let from = 0;
  let to = blocks.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (end[blocks[middle + 1] - 1] <= t) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Add rows [i, to) to the loads: pixel by pixel, however many rows a pixel has. */
function addRows({ bars, loads, shades, grid, row }: Adding, i: number, to: number): void {
  const { start, end } = bars;
  const { of } = loads;
  if (i < to && end[i] <= grid.start) i = upper(end, grid.start, i, to);
  if (i < to && start[i] < grid.start) spread(start[i], end[i], grid, shades[of[i++]], row);
  let guess = 1; // pixels hold about as many as their neighbours
  while (i < to) {
    const p = floor((start[i] - grid.start) / grid.step);
    if (p >= grid.count) return;
    const edge = grid.start + (p + 1) * grid.step;
    const past = gallop(end, edge, i, to, guess);
    guess = max(past - i, 1);
    if (past > i) addWhole(loads, shades, i, past, grid.step, p, row);
    // One that begins on the edge itself, by rounding, must not stop us for ever.
    if (past < to && (start[past] < edge || past === i)) {
      spread(start[past], end[past], grid, shades[of[past]], row);
      i = past + 1;
    } else i = past;
  }
}

/** Add rows that lie within one pixel, each class by one subtraction. */
function addWhole(
  { before }: Loads,
  shades: Shade[],
  from: number,
  to: number,
  step: number,
  p: number,
  row: LoadRow,
): void {
  const classes = shades.length;
  let load = 0, red = 0, green = 0, blue = 0, comm = 0;
  for (let c = 0, a = from * classes, b = to * classes; c < classes; c++, a++, b++) {
    const share = (before[b] - before[a]) / step;
    if (share <= 0) continue;
    const shade = shades[c];
    if (!shade) {
      row.wait[p] += share;
      continue;
    }
    load += share;
    red += share * shade.red;
    green += share * shade.green;
    blue += share * shade.blue;
    if (shade.comm) comm += share;
  }
  row.reach(p);
  row.load[p] += load;
  row.red[p] += red;
  row.green[p] += green;
  row.blue[p] += blue;
  row.comm[p] += comm;
}

/** Add one span, pixel by pixel. */
function spread(a: number, b: number, grid: Grid, shade: Shade, row: LoadRow): void {
  a = max(a, grid.start);
  b = min(b, grid.start + grid.count * grid.step);
  const { start, step, count } = grid;
  for (let p = floor((a - start) / step); a < b && p < count; p++) {
    const edge = min(b, start + (p + 1) * step);
    row.add(p, (edge - a) / step, shade);
    if (edge > a) a = edge;
  }
}

/** A pixel that is hardly busy is still seen; from there on shade follows load. */
export function opacity(load: number): number {
  return load <= 0 ? 0 : min(0.35 + 0.65 * load, 1);
}

/** Runs of pixels in which all load is communication; pixels without load do not end a run. */
export function commRuns(row: LoadRow, least: number): [from: number, to: number][] {
  const runs: [number, number][] = [];
  let from = -1;
  let to = -1;
  const close = () => {
    if (from >= 0 && to - from >= least) runs.push([from, to]);
    from = -1;
  };
  for (let p = row.first; p <= row.last; p++) {
    if (row.load[p] === 0) continue;
    if (row.comm[p] < row.load[p] * 0.98) close();
    else {
      if (from < 0) from = p;
      to = p + 1;
    }
  }
  close();
  return runs;
}

/** Runs of pixels in which a thread or a stream waits for some of the time. */
export function waitRuns(row: LoadRow): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (let p = row.first; p <= row.last; p++) {
    if (row.wait[p] === 0) continue;
    const last = runs[runs.length - 1];
    if (last && last[1] === p) last[1] = p + 1;
    else runs.push([p, p + 1]);
  }
  return runs;
}
