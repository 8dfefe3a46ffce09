/** What passes between the kernel and the page: small traits, an index, and blocks. */

import type { Model as ModelOf, Shared } from "../base/model";

export type Row = [table: "spans" | "events", row: number];

export interface State extends Shared {
  at: number;
  cursor: number | null;
  selection: Row[];
}

export type Model = ModelOf<State>;

export interface Thread {
  name: string;
  ubatch: number | null;
}

/** One line of the call path: how deep, its name, the branch that it is, the stages in which one is there. */
export type Call = [depth: number, name: string, branch: string, stages: string[]];

export interface Index {
  label: string;
  title: string | null;
  count: number;
  /** How many trace events a part has. */
  part: number;
  panels: string[];
  threads: Thread[];
  origin_ns: number;
  path: Call[];
  /** Section -> the objects that ever are in it. */
  keys: Record<string, string[]>;
  several: boolean;
  first: [key: string, offset: number, length: number][];
}

export interface NavBlock {
  t0: number;
  gaps: number[];
  thread: number[];
  objects: number[][];
  names: string[];
  causes: number[];
  /** Trace events that steps pass over. */
  passed: number[];
}

/** What a stream was given: label, kernel / record / wait, class, microbatch. */
export type Item = [label: string, cat: string, cls: string | null, ubatch: number | null];

export interface PartBlock {
  paths: [section: string, key: string, field: string][];
  values: unknown[];
  /** Path and value, path and value: the state before the part. */
  frame: number[];
  /** For each trace event, path and value, path and value. */
  changes: number[][];
  says: string[];
  /** Stream -> the number of its first item here, and the items. */
  queues: Record<string, [first: number, items: Item[]]>;
}
