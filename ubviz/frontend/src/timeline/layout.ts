/** Where the rows are: all heights in one place, in pixels. */

import type { Index, Lane, Order } from "./model";
import { ceil, floor, max, min, round } from "../base/numbers";
import { GROUP_FONT, LANE_FONT, type Measure } from "../base/text";

export interface LaneRow {
  lane: number;
  name: string;
  group: "threads" | "streams" | "network";
  ubatch: number | null;
  /** Middle of the first sub-row, half of its height, and the way to the next sub-row. */
  y: number;
  half: number;
  pitch: number;
  top: number;
  bottom: number;
  subs: number;
}

export interface Layout {
  order: Order;
  rows: LaneRow[];
  titles: { text: string; y: number; group: "threads" | "streams"; rank: number }[];
  gutter: number;
  rulerY: number;
  height: number;
}


/** Round the whole picture. */
export const PAD = 14;
const TITLES = { threads: "CPU THREADS", streams: "STREAMS" };
const LEAST_GUTTER = 70;
/** Pixels: what a lane is called may be long, and must leave room for what is on it. */
const MOST_NAME = 180;
/** A recording with many lanes has lower rows, so that more of it is seen at once, down to this share. */
const LOWEST = 0.42;
const ENOUGH = 600;

interface Heights {
  thread: number;
  stream: number;
  betweenThreads: number;
  betweenStreams: number;
  ruler: number;
  group: number;
}

const WALL: Heights = {
  thread: 8,
  stream: 17,
  betweenThreads: 24,
  betweenStreams: 30,
  ruler: 26,
  group: 29,
};
const LOGICAL: Heights = {
  thread: 11,
  stream: 11,
  betweenThreads: 20,
  betweenStreams: 34,
  ruler: 20,
  group: 29,
};

/** Which lanes come first, which are not shown, and in which order lanes of a kind are, by their numbers in the recording. */
export interface Arranged {
  pinned: readonly number[];
  hidden: readonly number[];
  arranged: readonly number[];
}

/** As the model has it. */
export function arrangedBy(link: { get(name: keyof Arranged): readonly number[] | undefined }): Arranged {
  const ids = (name: keyof Arranged) => link.get(name) ?? [];
  return { pinned: ids("pinned"), hidden: ids("hidden"), arranged: ids("arranged") };
}

/** Place the lanes: those that are pinned, then CPU threads above streams, for every rank. */
export function layoutOf(index: Index, order: Order, measure: Measure, arranged?: Arranged): Layout {
  const heights = order === "wall" ? WALL : LOGICAL;
  const lanes = shownLanes(index, arranged);
  const made = placed(index, lanes, order, heights, measure);
  if (order === "logical" || made.height <= ENOUGH) return made;
  const k = max(ENOUGH / made.height, LOWEST);
  return placed(index, lanes, order, stretched(heights, k), measure);
}

/** A lane; its kind: lanes of one rank that follow one another and are all threads, or all are not; 0: it is pinned. */
export type PlacedLane = readonly [lane: number, kind: number];

/** All lanes as they are arranged, hidden ones too: those that are pinned, then of each kind those that were given an order. */
export function placedLanes({ lanes }: Index, { pinned, arranged }: Arranged): PlacedLane[] {
  const sort = ({ rank, group }: Lane) => `${rank} ${group === "threads"}`;
  let kind = 0;
  const all = lanes.map((lane, at) => [at, at && sort(lane) === sort(lanes[at - 1]!) ? kind : ++kind] as const);
  const first = pinned.map((id) => lanes.findIndex((lane) => lane.id === id)).filter((lane) => lane >= 0);
  const place = (lane: number) => arranged.indexOf(lanes[lane]!.id) + 1 || arranged.length + 1;
  const rest = all.filter(([lane]) => !first.includes(lane));
  rest.sort(([a, one], [b, other]) => one - other || place(a) - place(b));
  return [...first.map((lane) => [lane, 0] as const), ...rest];
}

/** Of lanes that are all hidden all are shown: an empty picture says nothing. */
function shownLanes(index: Index, arranged: Arranged = { pinned: [], hidden: [], arranged: [] }): PlacedLane[] {
  const all = placedLanes(index, arranged);
  const shown = all.filter(([lane]) => !arranged.hidden.includes(index.lanes[lane]!.id));
  return shown.length ? shown : placedLanes(index, { ...arranged, pinned: [] });
}

function stretched(h: Heights, k: number): Heights {
  return {
    thread: round(h.thread * max(k, 0.65)),
    stream: round(h.stream * k),
    betweenThreads: round(h.betweenThreads * max(k, 0.5)),
    betweenStreams: round(h.betweenStreams * k),
    ruler: h.ruler,
    group: round(h.group * max(k, 0.75)),
  };
}

function placed(
  index: Index, lanes: readonly PlacedLane[], order: Order, h: Heights, measure: Measure,
): Layout {
  const several = new Set(index.lanes.map((lane) => lane.rank)).size > 1;
  const layout: Layout = { order, rows: [], titles: [], gutter: 0, rulerY: 15, height: 0 };
  let y = h.ruler;
  let last = "";
  for (const [number, kind] of lanes) {
    const pinned = kind === 0;
    const lane = index.lanes[number]!;
    const group = lane.group === "threads" ? "threads" : "streams";
    const here = pinned ? "pinned" : `${lane.rank} ${group}`;
    if (here !== last) {
      y += round(h.group * (last === "" ? 0.85 : 1.15));
      const title = pinned ? "PINNED" : several ? `RANK ${lane.rank} \u00b7 ${TITLES[group]}` : TITLES[group];
      layout.titles.push({ text: title, y, group, rank: lane.rank });
      y += round(h.group * 0.62);
    } else {
      y += group === "threads" ? h.betweenThreads : h.betweenStreams;
    }
    const row = rowOf(lane, number, y, group === "threads" ? h.thread : h.stream, order);
    if (pinned && several) row.name += ` \u00b7 rank ${lane.rank}`;
    layout.rows.push(row);
    y = row.bottom;
    last = here;
  }
  for (const row of layout.rows) row.name = cut(row.name, MOST_NAME, (text) => measure(text, LANE_FONT));
  layout.gutter = gutterOf(layout, measure);
  layout.height = y + (order === "logical" ? 30 : 14);
  return layout;
}

function rowOf(lane: Lane, number: number, top: number, half: number, order: Order): LaneRow {
  const subs = order === "logical" ? 1 : max(lane.subs, 1);
  const pitch = 2 * half + (half < 8 ? 2 : 4);
  return {
    lane: number,
    name: lane.name,
    group: lane.group,
    ubatch: lane.ubatch,
    y: top + half,
    half,
    pitch,
    top,
    bottom: top + 2 * half + (subs - 1) * pitch,
    subs,
  };
}

/** A text that is too wide, cut with an ellipsis. */
export function cut(text: string, most: number, measure: (text: string) => number): string {
  if (text.length < 400 && measure(text) <= most) return text;
  let letters = [...text.slice(0, 400)];
  while (letters.length && measure(letters.join("") + "\u2026") > most) {
    letters = letters.slice(0, floor(letters.length * 0.9));
  }
  return letters.join("") + "\u2026";
}

/** How wide the names need their column; whole pixels, so that what is right of it is crisp. */
function gutterOf(layout: Layout, measure: Measure): number {
  const names = layout.rows.map((row) => measure(row.name, LANE_FONT));
  const titles = layout.titles.map((title) => measure(title.text, GROUP_FONT));
  return ceil(PAD + max(LEAST_GUTTER, ...names, ...titles) + 14);
}

/** The row of a lane. */
export function rowOfLane(layout: Layout, lane: number): LaneRow | null {
  const row = layout.rows[lane];
  return row && row.lane === lane ? row : (layout.rows.find((row) => row.lane === lane) ?? null);
}

/** The middle of a sub-row. */
export function middle(row: LaneRow, sub: number): number {
  return row.y + min(sub, row.subs - 1) * row.pitch;
}

/** The row at a height, within a few pixels, and which of its sub-rows. */
export function rowAt(layout: Layout, y: number, reach: number): { row: LaneRow; sub: number } | null {
  let best: { row: LaneRow; sub: number } | null = null;
  let least = reach;
  for (const row of layout.rows) {
    const far = max(row.top - y, y - row.bottom, 0);
    if (far <= least) {
      const sub = floor((y - row.top) / row.pitch);
      best = { row, sub: min(max(sub, 0), row.subs - 1) };
      least = far;
    }
  }
  return best;
}
