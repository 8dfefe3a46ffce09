/** Nanoseconds to pixels and back: the only place where they meet. */

/** Less than this is not shown: below it there is nothing to see, and doubles lose their grip on it. */
export const LEAST_NS = 20;

export class Scale {
  readonly start: number;
  readonly end: number;
  /** Pixels a nanosecond. */
  readonly k: number;

  constructor(range: readonly [number, number], readonly left: number, readonly right: number) {
    this.start = range[0];
    this.end = Math.max(range[1], range[0] + 1);
    this.k = Math.max(right - left, 1) / (this.end - this.start);
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

  /** The range that is `factor` times as close (2: half as long), with the moment `at_ns` where it was. */
  zoomed(factor: number, at_ns: number): [number, number] {
    const length = Math.max(this.length / factor, LEAST_NS);
    const share = (at_ns - this.start) / this.length;
    const start = Math.round(at_ns - share * length);
    return [start, start + Math.round(length)];
  }

  /** The range moved by a share of its length (0.1: a tenth to the right). */
  panned(share: number): [number, number] {
    const by = Math.round(this.length * share);
    return [this.start + by, this.end + by];
  }
}
