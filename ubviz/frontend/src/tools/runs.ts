/** Where a cone lies in the picture: the stretches of each lane whose spans, or trace events, all belong to it. */

import type { Data } from "../timeline/data";
import type { Cone } from "./cones";
import { isBars, tracksOf, type AnyTrack, type Chunk } from "./matches";

export interface Run {
  lane: number;
  sub: number;
  start: number;
  end: number;
}

interface Piece {
  start: number;
  end: number;
  is: boolean;
}

/** Threads by their trace events, streams by what ran on them. */
export function runsOf(data: Data, cone: Cone): Run[] {
  const pieces = new Map<string, Piece[]>();
  for (const track of tracksOf(data)) {
    if (!tells(data, track)) continue;
    const { lane, layer, table } = track.spec;
    const sub = layer === "main" ? track.spec.sub : 0;
    const key = `${lane} ${sub}`;
    const own = pieces.get(key) ?? [];
    pieces.set(key, own);
    for (const chunk of track.chunks as (Chunk | undefined)[]) if (chunk) add(own, track, chunk, cone[table]);
  }
  return [...pieces].flatMap(([key, own]) => {
    const [lane, sub] = key.split(" ").map(Number) as [number, number];
    return joined(own.sort((a, b) => a.start - b.start || a.end - b.end)).map((run) => ({ lane, sub, ...run }));
  });
}

function tells({ index }: Data, { spec: { lane, layer } }: AnyTrack): boolean {
  return index.lanes[lane]?.group === "threads" ? layer === "events" : layer !== "events";
}

function add(pieces: Piece[], track: AnyTrack, chunk: Chunk, inside: Uint8Array): void {
  const end = isBars(track) ? (chunk as unknown as { end: Float64Array }).end : chunk.start;
  for (let i = 0; i < chunk.rows; i++) {
    pieces.push({ start: chunk.start[i]!, end: end[i]!, is: inside[chunk.row[i]!] === 1 });
  }
}

function joined(pieces: readonly Piece[]): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  let last: { start: number; end: number } | null = null;
  for (const { start, end, is } of pieces) {
    if (!is) last = null;
    else if (last) last.end = Math.max(last.end, end);
    else runs.push((last = { start, end }));
  }
  return runs;
}
