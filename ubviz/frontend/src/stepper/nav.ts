/** Where to go: times, threads and objects of all trace events. */

import type { NavBlock, Row } from "./model";

export class Nav {
  readonly t: Float64Array;
  /** How far the recording had come: trace events of different threads may stand in another order than their times. */
  readonly #clock: Float64Array;

  readonly #passed: ReadonlySet<number>;
  /** The trace events of each thread, and of each object: made when they are first asked for. */
  #threads: number[][] | null = null;
  #objects: number[][] | null = null;

  constructor(private readonly block: NavBlock) {
    this.#passed = new Set(block.passed);
    const count = block.gaps.length;
    this.t = new Float64Array(count);
    this.#clock = new Float64Array(count);
    let [now, most] = [block.t0, -Infinity];
    for (let i = 0; i < count; i++) {
      this.t[i] = now += block.gaps[i]!;
      this.#clock[i] = most = Math.max(most, now);
    }
  }

  get count(): number {
    return this.t.length;
  }

  thread(at: number): number {
    return this.block.thread[at] ?? -1;
  }

  /** The object that a trace event is about first; null where there is none. */
  object(at: number): string | null {
    const [first] = this.block.objects[at] ?? [];
    return first === undefined ? null : this.block.names[first]!;
  }

  /** The last trace event up to a moment; the first where there is none. */
  rowAt(ns: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#clock[middle]! <= ns) low = middle + 1;
      else high = middle;
    }
    return Math.max(low - 1, 0);
  }

  /** The next (`by` 1) or the one before (-1) that is not passed over; null where there is none. */
  step(at: number, by: 1 | -1): number | null {
    for (let row = at + by; row >= 0 && row < this.count; row += by) if (!this.#passed.has(row)) return row;
    return null;
  }

  /** The next (`by` 1) or the one before (-1) of the same thread. */
  alongThread(at: number, by: 1 | -1): number | null {
    this.#threads ??= rowsOf(this.block.thread.map((thread) => [thread]));
    return beside(this.#threads[this.thread(at)] ?? [], at, by);
  }

  /** The same of the object that the trace event is about. */
  alongObject(at: number, by: 1 | -1): number | null {
    const [object] = this.block.objects[at] ?? [];
    if (object === undefined) return null;
    this.#objects ??= rowsOf(this.block.objects);
    return beside(this.#objects[object]!, at, by);
  }

  /** The trace event of a selected row; of a span, the one that caused it. */
  eventOf(row: unknown): number | null {
    if (!Array.isArray(row)) return null;
    const [table, number] = row as Partial<Row>;
    const found = table === "events" ? number : table === "spans" ? this.block.causes[number!] : undefined;
    return Number.isInteger(found) && found! >= 0 && found! < this.count ? found! : null;
  }
}

/** For each number the rows that have it. */
function rowsOf(numbers: readonly (readonly number[])[]): number[][] {
  const found: number[][] = [];
  numbers.forEach((of, row) => of.forEach((number) => (found[number] ??= []).push(row)));
  return found;
}

/** Of rows in order the next after `at`, or the last before it. */
function beside(rows: readonly number[], at: number, by: 1 | -1): number | null {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! < (by > 0 ? at + 1 : at)) low = middle + 1;
    else high = middle;
  }
  return rows[by > 0 ? low : low - 1] ?? null;
}
