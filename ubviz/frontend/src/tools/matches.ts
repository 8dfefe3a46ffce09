/** Which bars and marks a search finds, and the way from one to the next in order of time. */

import { cut } from "../base/visible";
import { kept } from "../base/kept";
import { lower, upper, type Bars, type Marks } from "../timeline/columns";
import type { Data, Item } from "../timeline/data";
import type { Index } from "../timeline/model";
import type { BarTrack, MarkTrack } from "../timeline/tracks";
import { belongsTo, nameOf, sortOf } from "../timeline/words";

export type AnyTrack = BarTrack | MarkTrack;
export type Chunk = Bars | Marks;

/** Rows of one chunk of a track that were found. */
export interface Found {
  track: AnyTrack;
  chunk: Chunk;
  at: Uint32Array;
}

/** The classes of the view are not those of this script: what a track holds is told by its layer. */
export const isBars = (track: AnyTrack): track is BarTrack => !["events", "points"].includes(track.spec.layer);

/** Those tracks whose rows are items of their own: the end of a wait is a mark of the wait itself. */
export function tracksOf(data: Data): AnyTrack[] {
  return [...data.bars, ...data.marks];
}

export function isEcho(data: Data, track: AnyTrack, chunk: Chunk, i: number): boolean {
  return track.spec.layer === "points" && data.index.kinds[(chunk as Marks).kind[i]!] === "wait";
}

export function itemAt(data: Data, track: AnyTrack, chunk: Chunk, i: number): Item {
  return data.itemAt(track, { chunk, i } as never);
}

/** All words by which an item may be found. */
export function searchText(item: Item, index: Index): string {
  const lane = index.lanes[item.lane];
  const ubatch = item.ubatch === null ? [] : [`ubatch ${item.ubatch}`];
  const words = [nameOf(item), item.name, item.op ?? "", item.kind ?? "", sortOf(item), ...belongsTo(item), ...ubatch,
    lane?.name ?? "", `rank ${lane?.rank}`];
  return words.map((word) => cut(word, 300)).join(" ").toLowerCase();
}

/** What is the same for many rows is asked once: a number for all that the words of a row come from. */
function keyOf(track: AnyTrack, chunk: Chunk): (i: number) => number | string {
  if (isBars(track)) {
    const { style, ubatch, name, op, layer } = chunk as Bars;
    return (i) => `${style[i]} ${ubatch[i]} ${name[i]} ${op[i]} ${layer[i]}`;
  }
  const { kind, ubatch, text } = chunk as Marks;
  return (i) => (kind[i]! * 512 + ubatch[i]!) * 2 ** 32 + text[i]!;
}

/** A quick way past rows that are as the row before. */
function sameAsBefore(track: AnyTrack, chunk: Chunk): (i: number) => boolean {
  const columns = isBars(track)
    ? [(chunk as Bars).style, chunk.ubatch, (chunk as Bars).name, (chunk as Bars).op, (chunk as Bars).layer]
    : [(chunk as Marks).kind, chunk.ubatch, (chunk as Marks).text];
  return (i) => i > 0 && columns.every((column) => column[i] === column[i - 1]);
}

export class Matches {
  readonly found: Found[] = [];
  readonly words: string[];
  count = 0;

  /** A row is found where every word of the query stands in its words. */
  constructor(private readonly data: Data, query: string) {
    this.words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (this.words.length) for (const track of tracksOf(data)) this.#search(track);
  }

  #search(track: AnyTrack): void {
    const known = new Map<number | string, boolean>();
    for (const chunk of track.chunks as (Chunk | undefined)[]) {
      if (!chunk) continue;
      const key = keyOf(track, chunk);
      const same = sameAsBefore(track, chunk);
      const at = new Uint32Array(chunk.rows);
      let [count, is] = [0, false];
      for (let i = 0; i < chunk.rows; i++) {
        if (!same(i)) is = kept(known, key(i), () => this.#matches(track, chunk, i));
        if (is) at[count++] = i;
      }
      if (!count) continue;
      this.found.push({ track, chunk, at: at.slice(0, count) });
      this.count += count;
    }
  }

  #matches(track: AnyTrack, chunk: Chunk, i: number): boolean {
    if (isEcho(this.data, track, chunk, i)) return false;
    const text = searchText(itemAt(this.data, track, chunk, i), this.data.index);
    return this.words.every((word) => text.includes(word));
  }

  /** How many come before one, in order of time, then of tracks; -1 for an item that was not found. */
  placeOf(item: Item): number {
    const own = this.found.findIndex((found) => this.#at(found, item) >= 0);
    if (own < 0) return -1;
    return this.found.reduce((place, found, n) => place + (n === own ? this.#at(found, item)
      : countBefore(found.chunk, found.at, item.start, n < own)), 0);
  }

  #at({ track, chunk, at }: Found, item: Item): number {
    if (track.spec.lane !== item.lane || track.spec.table !== item.table) return -1;
    if (isBars(track) !== (item.kind === null)) return -1;
    for (let n = countBefore(chunk, at, item.start, false); n < at.length; n++) {
      if (chunk.start[at[n]!] !== item.start) return -1;
      if (chunk.row[at[n]!] === item.row) return n;
    }
    return -1;
  }

  /** The next match after an item, or after a moment; round the ends; null where there is none. */
  next(from: Item | number, direction: -1 | 1): Item | null {
    if (!this.count) return null;
    const all = this.count;
    const place = typeof from === "number" ? -1 : this.placeOf(from);
    if (place >= 0) return this.nth((place + direction + all) % all);
    const t = typeof from === "number" ? from : from.start;
    const before = this.found.reduce((sum, { chunk, at }) => sum + countBefore(chunk, at, t, direction < 0), 0);
    return this.nth((before + (direction < 0 ? -1 : 0) + all) % all);
  }

  /** The n-th of all, in order of time: found by halving the time between the first and the last. */
  nth(n: number): Item | null {
    let [low, high] = [Infinity, -Infinity];
    for (const { chunk, at } of this.found) {
      low = Math.min(low, chunk.start[at[0]!]!);
      high = Math.max(high, chunk.start[at[at.length - 1]!]!);
    }
    const upTo = (t: number) => this.found.reduce((sum, { chunk, at }) => sum + countBefore(chunk, at, t, true), 0);
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (upTo(middle) > n) high = middle;
      else low = middle + 1;
    }
    let rest = n - this.found.reduce((sum, { chunk, at }) => sum + countBefore(chunk, at, low, false), 0);
    for (const { track, chunk, at } of this.found) {
      const first = countBefore(chunk, at, low, false);
      const many = countBefore(chunk, at, low, true) - first;
      if (rest < many) return itemAt(this.data, track, chunk, at[first + rest]!);
      rest -= many;
    }
    return null;
  }
}

/** How many of some rows begin before t (`with`: or at it). */
function countBefore(chunk: Chunk, at: Uint32Array, t: number, with_: boolean): number {
  const i = (with_ ? upper : lower)(chunk.start, t, 0, chunk.rows);
  return lower(at, i, 0, at.length);
}
