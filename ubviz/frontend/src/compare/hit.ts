/** What is under a pixel: the operation of the block there, or of the nearest one within a few pixels. */

import type { Scale } from "../base/scale";
import type { Block } from "./data";
import { rowAt, type Layout } from "./layout";

const NEAR = 3;

export function hit(layout: Layout, scale: Scale, x: number, y: number): number | null {
  const row = rowAt(layout, y);
  if (!row || row.lane.thread || x < scale.left - 4) return null;
  const sub = Math.min(Math.max(Math.floor((y - row.top) / row.high), 0), row.lane.tracks.length - 1);
  return nearest(row.lane.tracks[sub]?.blocks ?? [], scale.ns(x), NEAR / scale.k);
}

/** The operation of the block at a moment; else of the nearest one that is no farther than `near`. */
export function nearest(blocks: readonly Block[], at: number, near: number): number | null {
  let [low, high] = [0, blocks.length];
  while (low < high) { // the first that begins after it
    const middle = (low + high) >> 1;
    if (blocks[middle]!.t <= at) low = middle + 1;
    else high = middle;
  }
  let [best, away]: [number | null, number] = [null, near];
  for (const block of [blocks[low], blocks[low - 1]]) {
    if (!block || block.op < 0) continue;
    const far = Math.max(block.t - at, at - block.end, 0);
    if (far <= away) [best, away] = [block.op, far];
  }
  return best;
}
