/** What the kernel and the page tell each other: the traits, the index, and the rows of a recording. */

import type { Model as ModelOf, ThemeName } from "../base/model";

export type Table = "spans" | "events";
export type Row = readonly [Table, number];
export type Order = "wall" | "logical";
/** A moment and what is said of it. */
export type Note = readonly [t_ns: number, text: string];

/** The synced state of the widget; `_head` comes from the kernel and is never set here. */
export interface State {
  view_range: [number, number];
  cursor: number | null;
  selection: Row[];
  hovered: Row | null;
  theme: "auto" | ThemeName;
  order: Order;
  query: string;
  /** From, to, and the numbers of lanes; no lanes are all. */
  area: [number, number, number[]] | null;
  measure: [number, number] | null;
  pinned: number[];
  hidden: number[];
  arranged: number[];
  notes: Note[];
  /** The tool that stands open, or "". */
  tool: string;
  _problem: string;
  _head: DataView;
}

export type Model = ModelOf<State>;

export interface Lane {
  /** Its number in the recording. */
  id: number;
  name: string;
  group: "threads" | "streams" | "network";
  rank: number;
  ubatch: number | null;
  subs: number;
}

export type Dtype = "u1" | "u2" | "u4" | "f8" | "const";
export type ColumnSpec = [name: string, dtype: Dtype, value?: number];

/** One block of columns: rows in order of time. */
export interface Part {
  key: string;
  rows: number;
  start: number;
  end: number;
  bytes: number;
  row0: number;
  columns: ColumnSpec[];
}

export type TrackLayer = "main" | "waits" | "inner" | "events" | "points";

export interface Track {
  lane: number;
  sub: number;
  layer: TrackLayer;
  table: Table;
  parts: Part[];
}

export interface Index {
  version: number;
  label: string;
  title: string | null;
  begin_ns: number;
  end_ns: number;
  home: [number, number];
  origin_ns: number;
  lanes: Lane[];
  styles: string[];
  kinds: string[];
  flow_kinds: string[];
  tracks: Track[];
  flows: Part[];
  logical: boolean;
  rows: { spans: number; events: number };
  row_part: number;
  /** Whether all answers of the analysis come as blocks; else only a kernel has them. */
  answers: boolean;
  /** Whether there are edges that a capture saw. */
  graphs: boolean;
  bands: Band[];
  steps: [step: number, begin_ns: number, end_ns: number][];
  first: [key: string, offset: number, length: number][];
}

/** How exactly the times of some lanes are known; `after`: how long the recorder held a thread behind each fact. */
export interface Band {
  after: boolean;
  lanes: number[];
  error_ns: number;
  words: string;
}

export interface Gate {
  t: number;
  lanes: number[];
  text: string;
}

export interface Facts {
  names: string[];
  gates: Gate[];
  layers: [start_ns: number, layer: number][];
}

export type Sign = "ring" | "gate" | "launch" | "chip" | "outline" | "record" | "wait";

/** Logical order: one column an event. */
export interface Logical {
  row: number[];
  lane: number[];
  thread: number[];
  sign: Sign[];
  text: string[];
  cls: string[];
  ubatch: (number | null)[];
  t: number[];
  stretches: [lane: number, v0: number, v1: number, awake: number][];
  arrows: [from: number, to: number, kind: string][];
}
