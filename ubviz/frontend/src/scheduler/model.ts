/** What the kernel and the page tell each other: the traits, the index, and the graph of all states of a program. */

import type { Model as ModelOf, Shared } from "../base/model";

/** The synced state; `schedule` is the replay string of what has been chosen so far. */
export interface State extends Shared {
  schedule: string;
  hints: boolean;
}

export type Model = ModelOf<State>;

export interface Index {
  label: string;
  first: [string, number, number][];
}

/** An operation that a thread is about to carry out; `at` and `caller` are numbers of places. */
export interface Act {
  kind: string;
  object: string;
  words: string;
  at: number | null;
  caller: number | null;
}

export interface Place {
  file: string;
  function: string;
  line: number;
}

export interface Source extends Place {
  text: string;
}

/** Instead of an act: the thread has ended, or has not been started. */
export const ENDED = -1;
export const NOT_STARTED = -2;

export interface Node {
  /** By thread: the number of its act, ENDED or NOT_STARTED. */
  acts: number[];
  /** Who can go on, and in step with it where that leads. */
  able: number[];
  next: number[];
  /** By host event: 1 up, 0 down, -1 not made yet. */
  flags: number[];
  /** By barrier: how many have arrived (-1: not made yet), how often it has opened, whether it is broken. */
  barriers: [number, number, number][];
  /** Who has woken from a host event and set none since. */
  turn: number[];
  /** Whether a good and a bad end can still be reached. */
  good: boolean;
  bad: boolean;
  end: number | null;
}

export interface End {
  verdict: "done" | "deadlock" | "raised";
  lines: string[];
  findings: { kind: string; severity: string; sentence: string }[];
  /** One walk to it. */
  replay: string;
}

/** All states of a program, and who leads from one to the next. */
export interface Game {
  threads: string[];
  host_events: string[];
  barriers: { name: string; parties: number }[];
  places: Place[];
  acts: Act[];
  sources: Source[];
  nodes: Node[];
  ends: End[];
  start: number;
  /** What a replay string begins with: it says whether looking at a flag is a choice of its own. */
  prefix: string;
  interleavings: number;
}
