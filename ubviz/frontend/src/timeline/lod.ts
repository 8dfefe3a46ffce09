/**
 * Levels of detail. What is wide enough is drawn as a shape; all else is added up, pixel by pixel, as
 * load: how much of
 * the pixel's time is busy, in which colour, and how much of it is communication. Nothing is dropped and
 * nothing is
 * counted twice, whatever the zoom.
 */

import { lower, upper, type Bars } from "./columns";
import { kept } from "../base/kept";
import { GROUP, loadsOf, MOST_CLASSES, sumsFor, type Loads } from "./loads";
import { ceil, floor, max, min } from "../base/numbers";

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

  add(p: number, load: number, red: number, green: number, blue: number, comm: number, wait: number): void {
    if (p < this.first) this.first = p;
    if (p > this.last) this.last = p;
    this.load[p] += load;
    this.red[p] += red;
    this.green[p] += green;
    this.blue[p] += blue;
    this.comm[p] += comm;
    this.wait[p] += wait;
  }
}

/** What adding the rows of a part to a row of pixels needs. */
interface Adding {
  bars: Bars;
  /** Of class c from c * WEIGHTS on: how it counts as load, red, green, blue, comm and wait. */
  weights: Float64Array;
  grid: Grid;
  row: LoadRow;
}

const WEIGHTS = 6;
/** So many bins lie in a pixel where loads come from sums: at its sides no more than a part of one is guessed. */
const APART = 2;
/** Fewer rows are added one by one. */
const FEW = 32;

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
  const adding = { bars, weights: weightsOf(loads, shader), grid, row };
  let b = firstBlock(bars, grid.start);
  let narrow = b; // from here to b none is wide, and none is added yet
  while (b < last && start[blocks[b]] < until) {
    if (b % (1 << GROUP) === 0 && loads.longest[b >> GROUP] < least) b += 1 << GROUP;
    else if (end[blocks[b + 1] - 1] - start[blocks[b]] < least) b++;
    else {
      add(adding, blocks[narrow], blocks[b]);
      wide.push(wideBlock(adding, blocks[b], blocks[b + 1], least));
      narrow = ++b;
    }
  }
  add(adding, blocks[narrow], blocks[min(b, last)]);
}

const weights = new WeakMap<Shader, WeakMap<Loads, Float64Array>>();

function weightsOf(loads: Loads, shader: Shader): Float64Array {
  const known = kept(weights, shader, () => new WeakMap<Loads, Float64Array>());
  return kept(known, loads, () => Float64Array.from(loads.classes.flatMap(({ style, ubatch }) => {
    const shade = shader(style, ubatch);
    return shade ? [1, shade.red, shade.green, shade.blue, +shade.comm, 0] : [0, 0, 0, 0, 0, 1];
  })));
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
  if (many) add(adding, first, past);
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

/** Add rows [from, to) to the loads: where they are many to a pixel from sums, else one by one. */
function add(adding: Adding, from: number, to: number): void {
  const { bars, grid: { start, step, count } } = adding;
  const end = start + count * step;
  const found = to - from > FEW ? sumsFor(bars, step, APART) : null;
  if (!found) return addRows(adding, from, to, start, end);
  // Nearer to the ends of these rows a bin also holds what is not asked for.
  const first = max(ceil((bars.start[from] + found.bin - start) / step), 0);
  const past = min(floor((bars.end[to - 1] - found.bin - start) / step), count);
  if (first >= past) return addRows(adding, from, to, start, end);
  addRows(adding, from, to, start, start + first * step);
  addSums(adding, found, first, past);
  addRows(adding, from, to, start + past * step, end);
}

/** Add what lies between two moments of rows [i, to), row by row. */
function addRows({ bars, weights, grid, row }: Adding, i: number, to: number, from: number, until: number): void {
  const { start, end } = bars;
  const { of } = loadsOf(bars);
  const { count, step } = grid;
  if (i < to && end[i] <= from) i = upper(end, from, i, to);
  let p = -1;
  let edge = -Infinity; // where pixel p ends
  let load = 0, red = 0, green = 0, blue = 0, comm = 0, wait = 0;
  for (; i < to && start[i] < until; i++) {
    let a = max(start[i], from);
    const b = min(end[i], until);
    const w = of[i] * WEIGHTS;
    while (a < b) {
      if (a >= edge) {
        if (p >= 0) row.add(p, load, red, green, blue, comm, wait);
        p = floor((a - grid.start) / step);
        if (grid.start + (p + 1) * step <= a) p++; // by rounding
        if (p >= count) return;
        edge = grid.start + (p + 1) * step;
        load = red = green = blue = comm = wait = 0;
      }
      const c = min(b, edge);
      const share = (c - a) / step;
      load += share * weights[w];
      red += share * weights[w + 1];
      green += share * weights[w + 2];
      blue += share * weights[w + 3];
      comm += share * weights[w + 4];
      wait += share * weights[w + 5];
      a = c;
    }
  }
  if (p >= 0) row.add(p, load, red, green, blue, comm, wait);
}

/** What of each class had been added when a pixel began. */
const before = new Float64Array(MOST_CLASSES);

/** Add pixels [first, past) from sums; within a bin as if it were evenly busy. */
function addSums(
  { bars, weights, grid, row }: Adding,
  { bin, sums }: NonNullable<ReturnType<typeof sumsFor>>,
  first: number,
  past: number,
): void {
  const n = weights.length / WEIGHTS;
  const origin = (grid.start - bars.start[0]) / bin;
  const step = grid.step / bin;
  for (let p = first - 1; p < past; p++) {
    const x = origin + (p + 1) * step; // where it ends, in bins
    const whole = floor(x);
    const part = x - whole;
    let load = 0, red = 0, green = 0, blue = 0, comm = 0, wait = 0;
    for (let c = 0, w = 0, at = whole * n; c < n; c++, at++, w += WEIGHTS) {
      const sum = sums[at] + (sums[at + n] - sums[at]) * part;
      const share = (sum - before[c]) / grid.step;
      if (share === 0) continue;
      before[c] = sum;
      load += share * weights[w];
      red += share * weights[w + 1];
      green += share * weights[w + 2];
      blue += share * weights[w + 3];
      comm += share * weights[w + 4];
      wait += share * weights[w + 5];
    }
    if (p >= first && load + wait > 0) row.add(p, load, red, green, blue, comm, wait);
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
