/** Some trace events: the state before the first, and what each changes, forward and back. */

import type { Item, PartBlock } from "./model";

export type Path = readonly [section: string, key: string, field: string];

/** Section, key, field. Maps, since keys are names from traces. */
export type Tree = Map<string, Map<string, Map<string, unknown>>>;

export class Part {
  readonly #tree: Tree = new Map();
  /** For each trace event: path, old value, new value, by number. */
  readonly #steps: Int32Array[];
  /** How many trace events of the part have been gone over: -1 of the part's first is 0. */
  #done = 0;

  constructor(readonly first: number, private readonly block: PartBlock) {
    const now = new Map<number, number>();
    for (let i = 0; i < block.frame.length; i += 2) now.set(block.frame[i]!, block.frame[i + 1]!);
    for (const [path, value] of now) this.#put(path, value);
    this.#steps = block.changes.map((pairs) => {
      const steps = new Int32Array((pairs.length / 2) * 3);
      for (let i = 0, to = 0; i < pairs.length; i += 2) {
        const [path, value] = [pairs[i]!, pairs[i + 1]!];
        steps.set([path, now.get(path) ?? 0, value], to);
        to += 3;
        now.set(path, value);
      }
      return steps;
    });
  }

  get count(): number {
    return this.#steps.length;
  }

  says(row: number): string {
    return this.block.says[row - this.first] ?? "";
  }

  /** What a trace event changes. */
  changed(row: number): Path[] {
    const steps = this.#steps[row - this.first] ?? [];
    const found: Path[] = [];
    for (let i = 0; i < steps.length; i += 3) found.push(this.block.paths[steps[i]!]!);
    return found;
  }

  /** The state after a trace event of this part: one step after the other, in either direction. */
  after(row: number): Tree {
    const wanted = row - this.first + 1;
    while (this.#done < wanted) this.#apply(this.#steps[this.#done++]!, 2);
    while (this.#done > wanted) this.#apply(this.#steps[--this.#done]!, 1);
    return this.#tree;
  }

  /** Items of a stream's queue, by their numbers in it. */
  items(stream: string, from: number, to: number): Item[] {
    const queue = Object.hasOwn(this.block.queues, stream) ? this.block.queues[stream]! : null;
    return queue ? queue[1].slice(Math.max(from - queue[0], 0), Math.max(to - queue[0], 0)) : [];
  }

  #apply(steps: Int32Array, which: 1 | 2): void {
    for (let i = 0; i < steps.length; i += 3) this.#put(steps[i]!, steps[i + which]!);
  }

  #put(path: number, value: number): void {
    const [section, key, field] = this.block.paths[path]!;
    const keys = reach(this.#tree, section);
    const fields = reach(keys, key);
    if (value === 0) fields.delete(field);
    else fields.set(field, this.block.values[value]);
    if (fields.size === 0) keys.delete(key);
  }
}

function reach<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let found = map.get(key);
  if (!found) map.set(key, (found = new Map()));
  return found;
}
