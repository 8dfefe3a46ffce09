/** Which parts to ask for, and in which order: what is looked at first, the rest a few at a time. */

import type { Part } from "./model";
import type { Wire } from "../base/wire";

/** Enough asked at once to keep a kernel busy, few enough that what is looked at next need not wait long. */
const AT_ONCE = 12;

interface Holder {
  readonly parts: readonly Part[];
  readonly chunks: readonly unknown[];
  take(number: number, bytes: ArrayBuffer): unknown;
}

interface Wanted {
  holder: Holder;
  number: number;
  part: Part;
}

export type Taken = (holder: unknown, chunk: unknown) => void;

export class Loader {
  #queue: Wanted[];
  readonly #all: Wanted[];
  #running: Promise<void> | null = null;
  #urgent = 0;

  constructor(holders: readonly Holder[]) {
    this.#all = holders.flatMap((holder) => holder.parts.map((part, number) => ({ holder, number, part })));
    this.#queue = [...this.#all];
  }

  complete(range: readonly [number, number]): boolean {
    return this.#all.every((wanted) => !touches(wanted.part, range) || isThere(wanted));
  }

  /** A second call while the first goes on changes the order, and asks for what is wanted at once. */
  load(wire: Wire, want: readonly [number, number], signal: AbortSignal, taken: Taken): Promise<void> {
    const near = (wanted: Wanted) => (touches(wanted.part, want) ? 0 : 1);
    this.#queue.sort((a, b) => near(a) - near(b));
    this.#urgent = this.#queue.filter((wanted) => near(wanted) === 0).length;
    this.#running ??= this.#run(wire, signal, taken).finally(() => (this.#running = null));
    this.#wake?.();
    return this.#running;
  }

  #wake: (() => void) | null = null;

  async #run(wire: Wire, signal: AbortSignal, taken: Taken): Promise<void> {
    const open = new Set<Promise<void>>();
    let problem: unknown = null;
    while ((this.#queue.length || open.size) && !signal.aborted) {
      while (this.#queue.length && (this.#urgent > 0 || open.size < AT_ONCE)) {
        const wanted = this.#queue.shift()!;
        this.#urgent--;
        const coming: Promise<void> = this.#fetch(wire, wanted, signal, taken)
          .catch((error: unknown) => void (problem ??= error))
          .finally(() => open.delete(coming));
        open.add(coming);
      }
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      await Promise.race([...open, woken]);
    }
    if (problem) throw problem;
  }

  async #fetch(wire: Wire, wanted: Wanted, signal: AbortSignal, taken: Taken): Promise<void> {
    const bytes = await wire.get(wanted.part.key);
    if (!signal.aborted) taken(wanted.holder, wanted.holder.take(wanted.number, bytes));
  }
}

const touches = (part: Part, [a, b]: readonly [number, number]): boolean => part.end >= a && part.start <= b;

function isThere({ holder, number }: Wanted): boolean {
  return holder.chunks[number] !== undefined;
}
