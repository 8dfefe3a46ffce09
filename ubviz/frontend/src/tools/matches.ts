/** Which bars and marks a search finds, and the way from one to the next in order of time. */

import { visible } from "../base/visible";
import { kept } from "../base/kept";
import { lower, upper, type Bars, type Marks } from "../timeline/columns";
import type { Data, Item } from "../timeline/data";
import type { Index } from "../timeline/model";
import type { BarTrack, MarkTrack } from "../timeline/tracks";
import { belongsTo, nameOf, sortOf } from "../timeline/words";
import { sortsOf, type Sorts } from "./sorts";

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

/** No more of a name is looked at. */
const LONG = 300;

/** All words by which an item may be found. */
export function searchText(item: Item, index: Index): string {
  const lane = index.lanes[item.lane];
  const ubatch = item.ubatch === null ? [] : [`ubatch ${item.ubatch}`];
  const words = [nameOf(item), item.name, item.op ?? "", item.kind ?? "", sortOf(item), ...belongsTo(item), ...ubatch,
    lane?.name ?? "", `rank ${lane?.rank}`];
  return visible(words.map((word) => word.slice(0, LONG)).join(" ")).toLowerCase();
}

/** The sorts of a chunk, kept as long as the chunk is. */
const known = new WeakMap<Chunk, Sorts>();

function sortsIn(track: AnyTrack, chunk: Chunk): Sorts {
  return kept(known, chunk, () => {
    const { style, name, op, layer } = chunk as Bars;
    const { kind, text } = chunk as Marks;
    return sortsOf(isBars(track) ? [name, op, style, layer, chunk.ubatch] : [text, kind, chunk.ubatch], chunk.rows);
  });
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
    for (const chunk of track.chunks as (Chunk | undefined)[]) {
      if (!chunk) continue;
      const { of, first, texts } = sortsIn(track, chunk);
      const is = Uint8Array.from(first, (i, sort) => {
        const text = (texts[sort] ??= this.#textOf(track, chunk, i));
        return Number(text !== "" && this.words.every((word) => text.includes(word)));
      });
      if (!is.includes(1)) continue;
      const at = new Uint32Array(chunk.rows);
      let count = 0;
      for (let i = 0; i < chunk.rows; i++) if (is[of[i]!]) at[count++] = i;
      this.found.push({ track, chunk, at: at.slice(0, count) });
      this.count += count;
    }
  }

  /** What rows like this one are found by; nothing where they are no items of their own. */
  #textOf(track: AnyTrack, chunk: Chunk, i: number): string {
    return isEcho(this.data, track, chunk, i) ? "" : searchText(itemAt(this.data, track, chunk, i), this.data.index);
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
