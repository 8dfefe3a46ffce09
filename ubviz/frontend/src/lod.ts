/**
 * Levels of detail. What is wide enough is drawn as a shape; all else is added up, pixel by pixel, as
 * load: how much of
 * the pixel's time is busy, in which colour, and how much of it is communication. Nothing is dropped and
 * nothing is
 * counted twice, whatever the zoom.
 */

import { gallop, loadsOf, lower, upper, type Bars, type Loads } from "./columns";

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
    if (p < this.first) this.first = p;
    if (p > this.last) this.last = p;
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
  const shades = new Shades(bars, shader);
  let b = firstBlock(bars, grid.start);
  while (b < last && start[blocks[b]] < until) {
    const from = blocks[b];
    if (end[blocks[b + 1] - 1] - start[from] >= least) {
      wide.push(wideBlock(bars, from, blocks[b + 1], grid, least, shades, row));
      b++;
      continue;
    }
    const p = Math.floor((start[from] - grid.start) / grid.step);
    let next = gallopBlocks(bars, grid.start + (p + 1) * grid.step, b + 1, last);
    // Spans do not overlap: of those that begin within one pixel only the last can be wide.
    if (next - 1 > b && end[blocks[next] - 1] - start[blocks[next - 1]] >= least) next--;
    addRows(bars, from, blocks[next], grid, shades, row);
    b = next;
  }
}

/** Kernels that are narrower on average than a narrow block are loads as well. */
function wideBlock(
  bars: Bars,
  from: number,
  to: number,
  grid: Grid,
  least: number,
  shades: Shades,
  row: LoadRow,
): Wide {
  const until = grid.start + grid.count * grid.step;
  if (to - from <= 3) return { bars, from, to, many: false };
  const first = upper(bars.end, grid.start, from, to);
  const past = lower(bars.start, until, first, to);
  const seen = Math.min(bars.end[to - 1], until) - Math.max(bars.start[from], grid.start);
  const many = (past - first) * least > seen;
  if (many) addRows(bars, first, past, grid, shades, row);
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

/** The first block from `from` on that begins at t or later. */
function gallopBlocks({ blocks, start }: Bars, t: number, from: number, to: number): number {
  let step = 1;
  let high = from;
  while (high < to && start[blocks[high]] < t) {
    from = high + 1;
    high += step;
    step *= 2;
  }
  high = Math.min(high, to);
  while (from < high) {
    const middle = (from + high) >> 1;
    if (start[blocks[middle]] < t) from = middle + 1;
    else high = middle;
  }
  return from;
}

/** The shades of a part's classes, looked up when first needed. */
class Shades {
  private found: { loads: Loads; of: Shade[] } | null = null;

  constructor(
    private readonly bars: Bars,
    private readonly shader: Shader,
  ) {}

  get(): { loads: Loads; of: Shade[] } {
    if (!this.found) {
      const loads = loadsOf(this.bars);
      this.found = { loads, of: loads.classes.map(({ style, ubatch }) => this.shader(style, ubatch)) };
    }
    return this.found;
  }
}

/** Add rows [i, to) to the loads. */
function addRows(bars: Bars, i: number, to: number, grid: Grid, shades: Shades, row: LoadRow): void {
  const { start, end } = bars;
  const { loads, of } = shades.get();
  if (end[i] <= grid.start) i = upper(end, grid.start, i, to);
  if (i < to && start[i] < grid.start) spread(start[i], end[i], grid, of[loads.of[i++]], row);
  let guess = 1; // pixels hold about as many as their neighbours
  while (i < to) {
    const p = Math.floor((start[i] - grid.start) / grid.step);
    if (p >= grid.count) return;
    const edge = grid.start + (p + 1) * grid.step;
    const past = gallop(end, edge, i, to, guess);
    guess = Math.max(past - i, 1);
    for (let c = 0; c < of.length; c++) {
      const before = loads.before[c];
      row.add(p, (before[past] - before[i]) / grid.step, of[c]);
    }
    i = past;
    if (i < to && start[i] < edge) spread(start[i], end[i], grid, of[loads.of[i++]], row);
  }
}

/** Add one span, pixel by pixel. */
function spread(a: number, b: number, grid: Grid, shade: Shade, row: LoadRow): void {
  a = Math.max(a, grid.start);
  b = Math.min(b, grid.start + grid.count * grid.step);
  for (let p = Math.floor((a - grid.start) / grid.step); a < b && p < grid.count; p++) {
    const edge = Math.max(Math.min(b, grid.start + (p + 1) * grid.step), a);
    row.add(p, (edge - a) / grid.step, shade);
    a = edge;
  }
}

/** A pixel that is hardly busy is still seen; from there on shade follows load. */
export function opacity(load: number): number {
  return load <= 0 ? 0 : Math.min(0.35 + 0.65 * load, 1);
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
