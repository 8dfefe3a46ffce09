/** Where to go: times, threads and objects of all trace events. */

import type { NavBlock, Row } from "./model";

export class Nav {
  readonly t: Float64Array;
  /** How far the recording had come: trace events of different threads may stand in another order than their times. */
  readonly #clock: Float64Array;

  readonly #passed: ReadonlySet<number>;

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
    return this.#find(at, by, (row) => !this.#passed.has(row));
  }

  /** The next (`by` 1) or the one before (-1) of the same thread. */
  alongThread(at: number, by: 1 | -1): number | null {
    const thread = this.thread(at);
    return this.#find(at, by, (row) => this.block.thread[row] === thread);
  }

  /** The same of the object that the trace event is about. */
  alongObject(at: number, by: 1 | -1): number | null {
    const [object] = this.block.objects[at] ?? [];
    if (object === undefined) return null;
    return this.#find(at, by, (row) => this.block.objects[row]!.includes(object));
  }

  #find(at: number, by: 1 | -1, fits: (row: number) => boolean): number | null {
    for (let row = at + by; row >= 0 && row < this.count; row += by) if (fits(row)) return row;
    return null;
  }

  /** The trace event of a selected row; of a span, the one that caused it. */
  eventOf(row: unknown): number | null {
    if (!Array.isArray(row)) return null;
    const [table, number] = row as Partial<Row>;
    const found = table === "events" ? number : table === "spans" ? this.block.causes[number!] : undefined;
    return Number.isInteger(found) && found! >= 0 && found! < this.count ? found! : null;
  }
}
