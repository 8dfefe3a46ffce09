/** Nanoseconds to pixels and back: the only place where they meet. */

import { max } from "./numbers";

/** Less than this is not shown: below it there is nothing to see, and doubles lose their grip on it. */
export const LEAST_NS = 20;

export class Scale {
  readonly start: number;
  readonly end: number;
  /** Pixels a nanosecond. */
  readonly k: number;

  constructor(
    range: readonly [number, number],
    readonly left: number,
    readonly right: number,
  ) {
    this.start = range[0];
    this.end = max(range[1], range[0] + 1);
    this.k = max(right - left, 1) / (this.end - this.start);
  }

  get room(): number {
    return this.right - this.left;
  }

  get length(): number {
    return this.end - this.start;
  }

  x(ns: number): number {
    return this.left + (ns - this.start) * this.k;
  }

  ns(x: number): number {
    return this.start + (x - this.left) / this.k;
  }
}
