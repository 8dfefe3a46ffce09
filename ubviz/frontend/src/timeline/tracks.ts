/** Tracks: the parts of a recording that belong to one row of one lane, each there or not yet. */

import { barsOf, flowsOf, lower, marksOf, upper, type Bars, type Flows, type Marks } from "./columns";
import { kept } from "../base/kept";
import type { Part, Track } from "./model";

/** Views of one model share the bytes of a block, and so what is made of them. */
const made = new WeakMap<ArrayBuffer, Bars | Marks | Flows>();

/** A place in a track. */
export interface Place<T> {
  chunk: T;
  i: number;
}

abstract class Parts<T extends { rows: number }> {
  /** As many as the track has parts, in order of time. */
  readonly chunks: (T | undefined)[];

  constructor(readonly parts: readonly Part[]) {
    this.chunks = new Array<T | undefined>(parts.length).fill(undefined);
  }

  protected abstract readonly decode: (part: Part, bytes: ArrayBuffer) => T;

  take(number: number, bytes: ArrayBuffer): T {
    return (this.chunks[number] = kept(made, bytes, () => this.decode(this.parts[number], bytes) as never) as never);
  }

  /** What of the track has come and touches a stretch of time. */
  *within(a: number, b: number): Generator<T> {
    for (let n = 0; n < this.parts.length; n++) {
      const chunk = this.chunks[n];
      if (chunk && this.parts[n].end >= a && this.parts[n].start <= b) yield chunk;
    }
  }
}

abstract class Timed<T extends { rows: number; start: Float64Array; row: Int32Array }> extends Parts<T> {
  constructor(
    readonly spec: Track,
    readonly number: number,
  ) {
    super(spec.parts);
  }

  /** The first that begins at t or later (`after`: later). */
  first(t: number, after = false): Place<T> | null {
    for (const chunk of this.chunks) {
      if (!chunk || chunk.rows === 0 || chunk.start[chunk.rows - 1] < t) continue;
      const i = (after ? upper : lower)(chunk.start, t, 0, chunk.rows);
      if (i < chunk.rows) return { chunk, i };
    }
    return null;
  }

  /** The last that begins at t or before (`before`: before). */
  last(t: number, before = false): Place<T> | null {
    for (let n = this.chunks.length - 1; n >= 0; n--) {
      const chunk = this.chunks[n];
      if (!chunk || chunk.rows === 0 || chunk.start[0] > t) continue;
      const i = (before ? lower : upper)(chunk.start, t, 0, chunk.rows) - 1;
      if (i >= 0) return { chunk, i };
    }
    return null;
  }

  /** The place next to one, in time. */
  beside({ chunk, i }: Place<T>, direction: -1 | 1): Place<T> | null {
    if (i + direction >= 0 && i + direction < chunk.rows) return { chunk, i: i + direction };
    for (let n = this.chunks.indexOf(chunk) + direction; n >= 0 && n < this.chunks.length; n += direction) {
      const next = this.chunks[n];
      if (next && next.rows) return { chunk: next, i: direction > 0 ? 0 : next.rows - 1 };
    }
    return null;
  }

  /** Where a row number is; of several places the first. */
  find(row: number): Place<T> | null {
    for (const chunk of this.chunks) {
      const i = chunk ? chunk.row.indexOf(row) : -1;
      if (chunk && i >= 0) return { chunk, i };
    }
    return null;
  }
}

export class BarTrack extends Timed<Bars> {
  protected readonly decode = barsOf;
}

export class MarkTrack extends Timed<Marks> {
  protected readonly decode = marksOf;
}

export class FlowTrack extends Parts<Flows> {
  protected readonly decode = flowsOf;
}
