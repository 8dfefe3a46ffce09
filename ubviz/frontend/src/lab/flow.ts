/**
 * When everything comes with other durations: the longest path, and kernels that slow one another down. The rules
 * are those of ubviz/view/lab_flow.py, to the nanosecond; they are explained there.
 */

import { FIXED, THREADS, WORK, type Plan } from "./plan";

export interface Factors {
  threads: number;
  /** By row of the plan's works. */
  works: readonly number[];
  /** What every kernel takes besides. */
  kernelNs: number;
  /** Percent. */
  contention: number;
}

/** A half goes to the even number, as in Python. */
export function halfEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 !== 0) ? low + 1 : low;
}

/** The lag of each edge. */
export function lags(plan: Plan, factors: Factors): Float64Array {
  const out = plan.lag.slice();
  const extra = plan.works.map(([, , category]) => (category === "kernel" ? factors.kernelNs : 0));
  for (let i = 0; i < out.length; i++) {
    const by = plan.by[i]!;
    if (by === FIXED) continue;
    const factor = by === THREADS ? factors.threads : factors.works[by - WORK]!;
    if (factor !== 1) out[i]! += halfEven(plan.own[i]! * factor) - plan.own[i]!;
    if (by >= WORK) out[i]! += extra[by - WORK]!;
  }
  return out;
}

/** When each point comes, in nanoseconds. */
export function times(plan: Plan, factors: Factors): Float64Array {
  return new Flow(plan, lags(plan, factors), factors.contention).run();
}

/** How each bar's kernel is counted: by its rank and class; kept, since it does not change with the factors. */
const sides = new WeakMap<Plan, Int32Array>();

/** Of each edge on which a kernel can be slowed: twice its rank's place, one more if it communicates; else -1. */
function sidesOf(plan: Plan): Int32Array {
  const known = sides.get(plan);
  if (known) return known;
  const ranks = [...new Set(plan.lanes.map(([, , rank]) => rank))];
  const made = new Int32Array(plan.lag.length).fill(-1);
  plan.bars.edge.forEach((edge, i) => {
    if (!plan.bars.slows[i]) return;
    const rank = ranks.indexOf(plan.lanes[plan.bars.lane[i]!]![2]);
    made[edge] = 2 * rank + (plan.works[plan.bars.work[i]!]![0] === "comm" ? 1 : 0);
  });
  sides.set(plan, made);
  return made;
}

class Flow {
  private readonly whole: number;
  private readonly left: Int32Array;
  private readonly taken: Uint8Array;
  private readonly time: Float64Array;
  private readonly known: Uint8Array;
  private readonly ready: number[] = [];
  private readonly side: Int32Array | null;
  private readonly begun: [at: number, edge: number][] = [];
  private running: { edge: number; left: number }[] = [];
  private now = 0;

  constructor(private readonly plan: Plan, private readonly lag: Float64Array, contention: number) {
    this.whole = 100 + contention;
    this.side = contention ? sidesOf(plan) : null;
    this.left = plan.causes.slice();
    this.taken = new Uint8Array(plan.time.length);
    this.known = new Uint8Array(plan.time.length);
    this.time = new Float64Array(plan.time.length);
    this.left.forEach((count, point) => {
      if (count > 0) return;
      this.time[point] = plan.time[point]!;
      this.known[point] = 1;
      this.ready.push(point);
    });
  }

  run(): Float64Array {
    this.settle();
    for (const earliest of this.plan.byClock) {
      this.goOn();
      if (!this.taken[earliest]) {
        this.ready.push(earliest); // a circle: no order is right, so the clock decides
        this.settle();
      }
    }
    this.goOn();
    return this.time;
  }

  /** Take all points whose causes have been taken. */
  private settle(): void {
    const { ready, taken, known, time, plan, side, lag } = this;
    while (ready.length > 0) {
      const point = ready.pop()!;
      taken[point] = 1;
      if (!known[point]) {
        known[point] = 1;
        time[point] = plan.time[point]!;
      }
      const now = time[point]!;
      for (let at = plan.first[point]!; at < plan.first[point + 1]!; at++) {
        const edge = plan.out[at]!;
        if (side && side[edge]! >= 0) push(this.begun, [now, edge]);
        else this.reach(edge, now + lag[edge]!);
      }
    }
  }

  private reach(edge: number, at: number): void {
    const effect = this.plan.target[edge]!;
    if (this.taken[effect]) return;
    if (!this.known[effect] || at > this.time[effect]!) {
      this.known[effect] = 1;
      this.time[effect] = at;
    }
    if (--this.left[effect]! === 0) this.ready.push(effect);
  }

  /** Let kernels begin, run and end until none is left. */
  private goOn(): void {
    while (this.begun.length > 0 || this.running.length > 0) {
      const rates = this.rates();
      let ends = Infinity;
      this.running.forEach(({ left }, i) => {
        ends = Math.min(ends, this.now + Math.ceil(left / rates[i]!));
      });
      if (this.begun.length > 0 && this.begun[0]![0] < ends) {
        this.pass(Math.max(this.begun[0]![0], this.now), rates);
        this.begin();
      } else {
        this.pass(ends, rates);
        this.end();
      }
    }
  }

  private rates(): number[] {
    const side = this.side!;
    const busy = new Set(this.running.map(({ edge }) => side[edge]!));
    return this.running.map(({ edge }) => (busy.has(side[edge]! ^ 1) ? 100 : this.whole));
  }

  private pass(to: number, rates: number[]): void {
    this.running.forEach((kernel, i) => (kernel.left -= (to - this.now) * rates[i]!));
    this.now = to;
  }

  /** The next kernel begins, if need be a little late. */
  private begin(): void {
    const [at, edge] = pop(this.begun);
    const left = (this.lag[edge]! - (this.now - at)) * this.whole;
    if (left > 0) this.running.push({ edge, left });
    else {
      this.reach(edge, at + this.lag[edge]!);
      this.settle();
    }
  }

  private end(): void {
    const done = this.running.filter(({ left }) => left <= 0);
    this.running = this.running.filter(({ left }) => left > 0);
    for (const { edge } of done) this.reach(edge, this.now);
    this.settle();
  }
}

type Begun = [at: number, edge: number];

const before = (a: Begun, b: Begun) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** A heap: the earliest first, of equal ones that of the lower edge. */
function push(heap: Begun[], item: Begun): void {
  let at = heap.push(item) - 1;
  while (at > 0) {
    const up = (at - 1) >> 1;
    if (!before(item, heap[up]!)) break;
    heap[at] = heap[up]!;
    at = up;
  }
  heap[at] = item;
}

function pop(heap: Begun[]): Begun {
  const top = heap[0]!;
  const item = heap.pop()!;
  const count = heap.length;
  if (count === 0) return top;
  let at = 0;
  for (;;) {
    let down = 2 * at + 1;
    if (down >= count) break;
    if (down + 1 < count && before(heap[down + 1]!, heap[down]!)) down++;
    if (!before(heap[down]!, item)) break;
    heap[at] = heap[down]!;
    at = down;
  }
  heap[at] = item;
  return top;
}
