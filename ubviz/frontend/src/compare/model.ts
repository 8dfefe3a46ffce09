/** What a comparison is told, and what it shares with Python: see ubviz/view/compare_data.py. */

import type { Model as AnyModel, Shared } from "../base/model";

export interface Index {
  first: [key: string, offset: number, length: number][];
  title: string | null;
  label: string;
  align: "ubatch" | "name";
  names: [a: string, b: string];
  steps: [a: number | null, b: number | null];
  /** By the names of `analyze`; null where it is not known. */
  totals: Record<string, [a: number | null, b: number | null]>;
  styles: string[];
  notices: string[];
}

/** Where an operation begins and ends in its step, how long one of its kernels ran, and on which lane. */
export type PartData = [start: number, end: number, duration: number, lane: number];

/** The operations of either, in order of time; columns. */
export interface TableData {
  name: number[];
  ubatch: (number | null)[];
  layer: (number | null)[];
  occurrence: number[];
  /** Null where neither recording has several. */
  rank: (number | null)[];
  a: (PartData | null)[];
  b: (PartData | null)[];
  names: string[];
}

export interface TrackData {
  layer: "main" | "waits";
  sub: number;
  t: number[];
  dur: number[];
  style: number[];
  ubatch: number[];
  /** The number of its operation in the table; -1 of none. */
  op: number[];
  label: number[];
}

export interface LaneData {
  id: number;
  name: string;
  group: "threads" | "streams" | "network";
  rank: number;
  tracks: TrackData[];
}

export interface SideData {
  lanes: LaneData[];
  names: string[];
}

/** An operation as Python names it; its rank only where there are several. */
export type Key = [ubatch: number | null, layer: number | null, name: string, occurrence: number, rank?: number];

export interface State extends Shared {
  view_range: [number, number] | null;
  selection: Key | null;
}

export type Model = AnyModel<State>;
