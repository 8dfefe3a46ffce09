/** What lies in an area, by name: how many, how long in all, on average, least and most. */

import { kept } from "../base/kept";
import { max, min } from "../base/numbers";
import type { Bars } from "../timeline/columns";
import type { Data } from "../timeline/data";
import type { BarTrack } from "../timeline/tracks";
import { nameOf, sortOf } from "../timeline/words";

export interface Sum {
  name: string;
  /** What sort of thing it is, in words. */
  sort: string;
  count: number;
  /** Whole durations, in nanoseconds, and how much of them lies within. */
  sum: number;
  inside: number;
  min: number;
  max: number;
}

/** Bars that touch [from, to) on some lanes, those that last longest in all first. */
export function sumsOf(data: Data, from: number, to: number, lanes: (lane: number) => boolean): Sum[] {
  const sums = new Map<string, Sum>();
  for (const track of data.bars) {
    if (!lanes(track.spec.lane)) continue;
    for (const chunk of track.within(from, to)) add(sums, data, track, chunk, from, to);
  }
  return [...sums.values()].sort((a, b) => b.sum - a.sum || (a.name < b.name ? -1 : 1));
}

function add(sums: Map<string, Sum>, data: Data, track: BarTrack, chunk: Bars, from: number, to: number): void {
  const { start, end, style, name, op } = chunk;
  const known = new Map<number, Sum>();
  for (let i = firstAfter(end, from); i < chunk.rows && start[i]! < to; i++) {
    const [a, b] = [start[i]!, end[i]!];
    if (b <= from && b > a) continue;
    const key = (name[i]! * 65_536 + op[i]!) * 16 + style[i]!;
    const sum = kept(known, key, () => {
      const item = data.itemAt(track, { chunk, i });
      const [words, sort] = [nameOf(item), sortOf(item)];
      return kept(sums, `${sort}\n${words}`, () =>
        ({ name: words, sort, count: 0, sum: 0, inside: 0, min: Infinity, max: 0 }));
    });
    sum.count++;
    sum.sum += b - a;
    sum.inside += min(b, to) - max(a, from);
    sum.min = min(sum.min, b - a);
    sum.max = max(sum.max, b - a);
  }
}

/** Bars of a track follow one another: the first that ends after a moment. */
function firstAfter(end: Float64Array, t: number): number {
  let [low, high] = [0, end.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}
