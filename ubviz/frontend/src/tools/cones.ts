/** What happens before what, worked out in the page: the past and the future of a row, whole or one hop of it. */

/** The block "order": nodes of happens-before, causes first; all but the lanes as differences. */
export interface OrderBlock {
  lanes: number[];
  causes: number[];
  effects: number[];
  host: number[];
  spans: number[];
}

/** Which rows are in a cone: 1 at the numbers of those that are. */
export interface Cone {
  events: Uint8Array;
  spans: Uint8Array;
}

export type Way = "past" | "future";

export class Order {
  readonly #lane: Int32Array;
  /** The node before and after each on its thread or stream; -1 at the ends. */
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #host: Int32Array;
  readonly #spans: Int32Array;
  readonly #into: Lists;
  readonly #out: Lists;

  constructor({ lanes, causes, effects, host, spans }: OrderBlock) {
    const n = lanes.length;
    this.#lane = Int32Array.from(lanes);
    this.#before = new Int32Array(n).fill(-1);
    this.#after = new Int32Array(n).fill(-1);
    const last = new Map<number, number>();
    for (let node = 0; node < n; node++) {
      const before = last.get(this.#lane[node]!);
      if (before !== undefined) [this.#before[node], this.#after[before]] = [before, node];
      last.set(this.#lane[node]!, node);
    }
    this.#host = summed(host);
    this.#spans = summed(spans);
    const [from, to] = [summed(causes), summed(effects)];
    this.#into = listsOf(n, to, from);
    this.#out = listsOf(n, from, to);
  }

  /** The node of a row; -1 where it has none: an operation, a thread's life. */
  node(table: "events" | "spans", row: number): number {
    return (table === "events" ? this.#host : this.#spans)[row] ?? -1;
  }

  /** All on one side of a node, without itself; with `hops` what is at most so many edges away. */
  cone(node: number, way: Way, hops = Infinity): Cone {
    const inside = new Uint8Array(this.#lane.length + 1);
    const [beside, lists] = way === "past" ? [this.#before, this.#into] : [this.#after, this.#out];
    let edge = node >= 0 ? [node] : [];
    if (node >= 0) inside[node] = 1;
    for (let hop = 0; edge.length && hop < hops; hop++) {
      const next: number[] = [];
      const meet = (other: number) => {
        if (other >= 0 && !inside[other]) {
          inside[other] = 1;
          next.push(other);
        }
      };
      for (const at of edge) {
        meet(beside[at]!);
        for (let i = lists.first[at]!; i < lists.first[at + 1]!; i++) meet(lists.ends[i]!);
      }
      edge = next;
    }
    if (node >= 0) inside[node] = 0;
    const of = (nodes: Int32Array) => Uint8Array.from(nodes, (at) => (at < 0 ? 0 : inside[at]!));
    return { events: of(this.#host), spans: of(this.#spans) };
  }
}

/** The edges of each node: those of node n are ends[first[n]] to ends[first[n + 1] - 1]. */
interface Lists {
  first: Int32Array;
  ends: Int32Array;
}

function listsOf(n: number, from: Int32Array, to: Int32Array): Lists {
  const first = new Int32Array(n + 1);
  for (const node of from) first[node + 1]!++;
  for (let node = 0; node < n; node++) first[node + 1]! += first[node]!;
  const place = first.slice();
  const ends = new Int32Array(to.length);
  from.forEach((node, i) => (ends[place[node]!++] = to[i]!));
  return { first, ends };
}

function summed(differences: readonly number[]): Int32Array {
  let sum = 0;
  return Int32Array.from(differences, (by) => (sum += by));
}

/** A cone from the rows that Python lists. */
export function coneOf(rows: { events: number[]; spans: number[] }, most: { events: number; spans: number }): Cone {
  const cone = { events: new Uint8Array(most.events), spans: new Uint8Array(most.spans) };
  for (const row of rows.events) cone.events[row] = 1;
  for (const row of rows.spans) cone.spans[row] = 1;
  return cone;
}
