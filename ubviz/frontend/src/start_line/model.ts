/** What the kernel and the page tell each other: the traits, and all runs. */

import type { Model as ModelOf, Shared } from "../base/model";
import type { Run } from "./run";

export interface State extends Shared {
  n: number;
  parties: number;
  at: number;
}

export type Model = ModelOf<State>;

export interface Index {
  /** By "n/parties". */
  runs: Record<string, Run>;
  sizes: number[];
  parties: number[];
  first: [string, number, number][];
}
