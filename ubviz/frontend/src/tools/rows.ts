/** What a stretch of time shows, as rows of text in order of time. */

import { max, min } from "../base/numbers";
import type { Data, Item } from "../timeline/data";
import { isBars, isEcho, itemAt, tracksOf, type AnyTrack, type Chunk } from "./matches";

/** More rows than this are not listed; they are counted. */
export const MOST_ROWS = 100_000;

export class Rows {
  /** Of each row: which track, which chunk, which place. */
  readonly #of: Uint32Array;
  readonly #pieces: { track: AnyTrack; chunk: Chunk; from: number }[] = [];
  readonly count: number;
  /** How many there are in all, listed or not. */
  readonly all: number;

  constructor(private readonly data: Data, from: number, to: number, lanes: (lane: number) => boolean) {
    const found: { at: number; t: number; end: number }[] = [];
    let all = 0;
    let at = 0;
    for (const track of tracksOf(data)) {
      if (!lanes(track.spec.lane)) continue;
      for (const chunk of track.within(from, to) as Iterable<Chunk>) {
        this.#pieces.push({ track, chunk, from: at });
        const end = isBars(track) ? (chunk as unknown as { end: Float64Array }).end : chunk.start;
        for (let i = firstAt(end, from); i < chunk.rows && chunk.start[i]! <= to; i++) {
          if (isEcho(data, track, chunk, i)) continue;
          all++;
          if (found.length < MOST_ROWS) found.push({ at: at + i, t: chunk.start[i]!, end: end[i]! });
        }
        at += chunk.rows;
      }
    }
    found.sort((a, b) => a.t - b.t || b.end - a.end || a.at - b.at);
    this.#of = Uint32Array.from(found, (row) => row.at);
    this.count = found.length;
    this.all = all;
  }

  item(row: number): Item {
    const at = this.#of[row]!;
    let [low, high] = [0, this.#pieces.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#pieces[middle]!.from <= at) low = middle;
      else high = middle;
    }
    const { track, chunk, from } = this.#pieces[low]!;
    return itemAt(this.data, track, chunk, at - from);
  }

  /** The row of an item; -1 where it is not listed. */
  find(item: Item): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.item(middle).start < item.start) low = middle + 1;
      else high = middle;
    }
    for (let row = low; row < this.count; row++) {
      const other = this.item(row);
      if (other.start > item.start) return -1;
      if (other.table === item.table && other.row === item.row && other.lane === item.lane) return row;
    }
    return -1;
  }
}

function firstAt(end: Float64Array, t: number): number {
  let [low, high] = [0, end.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (end[middle]! < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Which rows a scrolled list shows, and a few beyond. */
export function seenRows(top: number, height: number, pitch: number, count: number): [number, number] {
  return [max(Math.floor(top / pitch) - 4, 0), min(Math.ceil((top + height) / pitch) + 4, count)];
}
