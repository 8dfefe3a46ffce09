/**
 * How busy a part is, in sums that are made once: how long spans of each class have lasted until moments
 * evenly apart, fine ones and coarser ones. A pixel is then a subtraction, however many spans it has.
 */

import type { Bars } from "./columns";
import { ceil, max, min } from "../base/numbers";

export interface Loads {
  /** A class is a style and a microbatch. */
  classes: { style: number; ubatch: number }[];
  /** The class of each row. */
  of: Uint8Array;
  /** The longest block of each group of blocks: where that is narrow none need be looked at. */
  longest: Float64Array;
  /** How long a bin of the finest level lasts, in nanoseconds; each level's last twice as long. */
  bin: number;
  levels: Sums[];
}

/** Of bin i and class c, before it begins, at i * classes.length + c. */
type Sums = Uint32Array | Float64Array;

export const MOST_CLASSES = 16;
/** As many sums as this for each row, at most. */
const SUMS_A_ROW = 8;
/** Blocks in a group, as a power of two. */
export const GROUP = 5;

/** Made when they are first needed: a part that is never seen needs none. */
export function loadsOf(bars: Bars): Loads {
  return (bars.loads ??= { ...classesOf(bars), longest: longestOf(bars), bin: 0, levels: [] });
}

function classesOf({ rows, style, ubatch }: Bars): Pick<Loads, "classes" | "of"> {
  const classes: Loads["classes"] = [];
  const known = new Map<number, number>();
  const of = new Uint8Array(rows);
  let last = -1;
  let number = 0;
  for (let i = 0; i < rows; i++) {
    const key = style[i] * 65536 + ubatch[i];
    if (key !== last) {
      number = known.get(key) ?? min(classes.length, MOST_CLASSES - 1);
      const isNew = !known.has(key) && classes.length < MOST_CLASSES;
      if (isNew) classes.push({ style: style[i], ubatch: ubatch[i] });
      known.set(key, number);
      last = key;
    }
    of[i] = number;
  }
  return { classes, of };
}

function longestOf({ blocks, start, end }: Bars): Float64Array {
  const count = blocks.length - 1;
  const found = new Float64Array((count >> GROUP) + 1);
  for (let b = 0; b < count; b++) {
    found[b >> GROUP] = max(found[b >> GROUP], end[blocks[b + 1] - 1] - start[blocks[b]]);
  }
  return found;
}

/** The coarsest sums of which at least `apart` lie in a stretch of so many nanoseconds; null: none are so fine. */
export function sumsFor(bars: Bars, ns: number, apart: number): { bin: number; sums: Sums } | null {
  const loads = loadsOf(bars);
  loads.bin ||= binOf(bars, loads);
  let { bin } = loads;
  if (ns < apart * bin) return null;
  let level = 0;
  for (; bin * 2 * apart <= ns; bin *= 2) level++;
  const { levels } = loads;
  const n = loads.classes.length;
  if (!levels.length) levels.push(finest(bars, loads));
  while (levels.length <= level) levels.push(coarser(levels[levels.length - 1], n));
  return { bin, sums: levels[level] };
}

/** About as many bins as rows, and fewer where there are many classes. */
function binOf({ rows, start, end }: Bars, { classes }: Loads): number {
  const most = rows * min(1, SUMS_A_ROW / classes.length);
  return 2 ** max(ceil(Math.log2((end[rows - 1] - start[0]) / most)), 0);
}

function finest({ rows, start, end }: Bars, { classes, of, bin }: Loads): Sums {
  const n = classes.length;
  const lasts = end[rows - 1] - start[0];
  const count = ceil(lasts / bin) + 1;
  // Spans do not overlap: no sum is more than the part lasts. Half the bytes are half the time to read them.
  const sums = new (lasts < 2 ** 32 ? Uint32Array : Float64Array)(count * n);
  const whole = new Float64Array(n);
  for (let at = 0, i = 0, edge = start[0]; at < sums.length; at += n, edge += bin) {
    for (; i < rows && end[i] <= edge; i++) whole[of[i]] += end[i] - start[i];
    for (let c = 0; c < n; c++) sums[at + c] = whole[c];
    if (i < rows && start[i] < edge) sums[at + of[i]] += edge - start[i];
  }
  return sums;
}

function coarser(fine: Sums, n: number): Sums {
  const bins = fine.length / n;
  const count = (bins >> 1) + 1; // the last one at or after the end
  const sums = fine.slice(0, count * n);
  for (let b = 1; b < count; b++) {
    const from = min(2 * b, bins - 1) * n;
    for (let c = 0; c < n; c++) sums[b * n + c] = fine[from + c];
  }
  return sums;
}
