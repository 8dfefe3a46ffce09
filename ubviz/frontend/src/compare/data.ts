/** What has come, put together: operations with both their parts, and the blocks on each lane. */

import { shortsOf } from "./short";
import type { Index, Key, LaneData, PartData, SideData, TableData, TrackData } from "./model";

export interface Part {
  start: number;
  end: number;
  duration: number;
  lane: number;
}

/** One operation; a part is null where that recording does not have it. */
export interface Operation {
  name: string;
  ubatch: number | null;
  layer: number | null;
  occurrence: number;
  rank: number | null;
  parts: [a: Part | null, b: Part | null];
}

/** Kernels of one operation that follow one another on a lane: rows `from` up to `to` of its track. */
export interface Block {
  t: number;
  end: number;
  from: number;
  to: number;
  op: number;
  ubatch: number;
  style: string;
  label: string;
}

export interface Track {
  data: TrackData;
  blocks: Block[];
}

export interface Lane {
  id: number;
  name: string;
  thread: boolean;
  /** Tracks of what runs there, one above the other. */
  tracks: Track[];
  waits: TrackData | null;
}

export interface Data {
  index: Index;
  operations: Operation[];
  /** Whether operations are told apart by rank. */
  ranked: boolean;
  sides: [Lane[], Lane[]];
  /** By name, the letters that stand for it where there is no room. */
  shorts: ReadonlyMap<string, string>;
  /** From the first that is drawn to the last. */
  extent: [number, number];
}

export function dataOf(index: Index, table: TableData, sides: [SideData, SideData]): Data {
  const operations = table.name.map((name, i): Operation => ({
    name: table.names[name]!, ubatch: table.ubatch[i]!, layer: table.layer[i]!, occurrence: table.occurrence[i]!,
    rank: table.rank[i]!, parts: [partOf(table.a[i]!), partOf(table.b[i]!)],
  }));
  const ranked = operations.some(({ rank }) => rank !== null);
  const lanes = sides.map((side) => lanesOf(index, side)) as [Lane[], Lane[]];
  let [low, high] = [0, 1];
  for (const { lanes: all } of sides) {
    for (const { t, dur } of all.flatMap(({ tracks }) => tracks)) {
      for (let i = 0; i < t.length; i++) [low, high] = [Math.min(low, t[i]!), Math.max(high, t[i]! + dur[i]!)];
    }
  }
  const labels = lanes.flat().flatMap(({ tracks }) => tracks.flatMap(({ blocks }) => blocks.map(({ label }) => label)));
  return { index, operations, ranked, sides: lanes, shorts: shortsOf(labels), extent: [low, high] };
}

const partOf = (part: PartData | null): Part | null =>
  part && { start: part[0], end: part[1], duration: part[2], lane: part[3] };

function lanesOf(index: Index, side: SideData): Lane[] {
  const several = new Set(side.lanes.map(({ rank }) => rank)).size > 1;
  return side.lanes.map((lane: LaneData): Lane => ({
    id: lane.id,
    name: several ? `${lane.name} · ${lane.rank}` : lane.name,
    thread: lane.group === "threads",
    tracks: lane.tracks.filter(({ layer }) => layer === "main").map((data) => ({
      data, blocks: lane.group === "threads" ? [] : blocksOf(data, index.styles, side.names),
    })),
    waits: lane.tracks.find(({ layer }) => layer === "waits") ?? null,
  }));
}

/** Neighbours of one operation are one block, those of none each their own. */
export function blocksOf(track: TrackData, styles: readonly string[], names: readonly string[]): Block[] {
  const out: Block[] = [];
  track.t.forEach((t, i) => {
    const end = t + track.dur[i]!;
    const [op, ubatch, style, last] = [track.op[i]!, track.ubatch[i]!, styles[track.style[i]!]!, out.at(-1)];
    if (last && op >= 0 && last.op === op && last.style === style && last.ubatch === ubatch) {
      last.end = Math.max(last.end, end);
      last.to = i + 1;
    } else out.push({ t, end, from: i, to: i + 1, op, ubatch, style, label: names[track.label[i]!] ?? "" });
  });
  return out;
}

export const keyOf = ({ ubatch, layer, name, occurrence, rank }: Operation): Key =>
  rank === null ? [ubatch, layer, name, occurrence] : [ubatch, layer, name, occurrence, rank];

/** The number of the operation that a key names; null for what is none. */
export function numberOf(operations: readonly Operation[], key: unknown): number | null {
  if (!Array.isArray(key)) return null;
  const [ubatch, layer, name, occurrence, rank = null] = key;
  const found = operations.findIndex((operation) => operation.name === name && operation.layer === layer
    && operation.ubatch === ubatch && operation.occurrence === occurrence && operation.rank === rank);
  return found < 0 ? null : found;
}

/** How much longer it runs in b; what only one has counts whole. */
export function longer({ parts: [a, b] }: Operation): number {
  return (b?.duration ?? 0) - (a?.duration ?? 0);
}

/** How much later it begins in b; 0 where only one has it. */
export const later = ({ parts: [a, b] }: Operation): number => (a && b ? b.start - a.start : 0);

export type Order = "difference" | "start" | "time" | "name";

/** The numbers of the operations in some order; equals stay in order of time. */
export function sorted(operations: readonly Operation[], order: Order): number[] {
  const numbers = operations.map((_, i) => i);
  const by: Record<Order, (a: Operation, b: Operation) => number> = {
    difference: (a, b) => Math.abs(longer(b)) - Math.abs(longer(a)),
    start: (a, b) => Math.abs(later(b)) - Math.abs(later(a)),
    time: () => 0,
    name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
      || (a.layer ?? -1) - (b.layer ?? -1) || (a.rank ?? -1) - (b.rank ?? -1) || (a.ubatch ?? -1) - (b.ubatch ?? -1) || a.occurrence - b.occurrence,
  };
  return numbers.sort((a, b) => by[order](operations[a]!, operations[b]!) || a - b);
}
