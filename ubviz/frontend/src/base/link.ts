/** The model as a view uses it: read at once, written at once, saved at most once a frame. */

import { atEnd } from "./dom";
import type { Model } from "./model";

export class Link<State> {
  #frame = 0;

  constructor(readonly model: Model<State>, private readonly signal: AbortSignal) {
    atEnd(signal, () => {
      if (this.#frame) this.#save();
    });
  }

  get<K extends keyof State>(name: K): State[K] {
    return this.model.get(name);
  }

  /**
   * The other views of this model see the value at once, the kernel with the next frame. The model is the
   * truth: we keep no copy, so that what Python sets in between is what the next movement starts from.
   */
  set<K extends keyof State>(name: K, value: State[K]): void {
    if (same(this.get(name), value)) return;
    this.model.set(name, value);
    this.#frame ||= requestAnimationFrame(() => this.#save());
  }

  on(name: keyof State, changed: () => void): void {
    const event = `change:${String(name)}`;
    this.model.on(event, changed);
    atEnd(this.signal, () => this.model.off(event, changed));
  }

  #save(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.model.save_changes();
  }
}

/** Whether two values of a trait say the same: they are numbers, strings and small lists. */
export function same(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
