/** Where everything stands: a ruler, then the lanes of one recording above those of the other. */

import { cut } from "../base/visible";
import type { Data, Lane } from "./data";

export interface Row {
  side: 0 | 1;
  lane: Lane;
  name: string;
  top: number;
  bottom: number;
  /** How high what stands on one of its tracks is. */
  high: number;
}

export interface Head {
  side: 0 | 1;
  y: number;
  top: number;
  bottom: number;
}

export interface Layout {
  rows: Row[];
  heads: [Head, Head];
  rulerY: number;
  /** The middle of the room between the two. */
  between: number;
  height: number;
}

const RULER = 22;
const HEAD = 28;
const THREAD = 14;
const STREAM = 30;
const BETWEEN = 28;

export function layoutOf(data: Data): Layout {
  const rows: Row[] = [];
  const heads: Head[] = [];
  let y = 4 + RULER;
  for (const side of [0, 1] as const) {
    const top = y;
    y += HEAD;
    let threads: boolean | null = null;
    for (const lane of data.sides[side]) {
      if (threads !== null && threads !== lane.thread) y += threads ? 6 : 10; // more before the next rank
      threads = lane.thread;
      const each = lane.thread ? THREAD : STREAM;
      const bottom = y + each * Math.max(lane.tracks.length, 1);
      rows.push({ side, lane, name: cut(lane.name, 16), top: y, bottom, high: each });
      y = bottom;
    }
    heads.push({ side, y: top + HEAD / 2, top, bottom: y + 2 });
    y += BETWEEN;
  }
  return { rows, heads: heads as [Head, Head], rulerY: 4 + RULER / 2, between: heads[0]!.bottom + BETWEEN / 2, height: y - BETWEEN + 8 };
}

/** The row at a height; the nearest within three pixels. */
export function rowAt(layout: Layout, y: number): Row | null {
  return layout.rows.find(({ top, bottom }) => y >= top && y < bottom)
    ?? layout.rows.find(({ top, bottom }) => y >= top - 3 && y < bottom + 3) ?? null;
}

/** The row of a lane of one side. */
export const rowOf = (layout: Layout, side: number, lane: number): Row | undefined =>
  layout.rows.find((row) => row.side === side && row.lane.id === lane);
