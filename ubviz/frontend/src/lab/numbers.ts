/** The numbers of a setting, from a plan and its times: as ubviz/view/lab_numbers.py works them out. */

import { lags, type Factors } from "./flow";
import type { Plan } from "./plan";

export interface Numbers {
  makespan_ns: number;
  bound_ns: number;
  compute_busy_ns: number;
  comm_busy_ns: number;
  overlap_ns: number;
  overlap_ratio: number | null;
  exposed_comm_ns: number;
  transfer_ns: number;
  hidden_transfer_ns: number;
}

type Stretch = [start: number, end: number];

export function numbersOf(plan: Plan, factors: Factors, time: Float64Array): Numbers {
  const sets: Record<string, Stretch[]> = { compute: [], comm: [], transfer: [] };
  const lanes: Record<string, Set<number>> = { compute: new Set(), comm: new Set(), transfer: new Set() };
  const { start, end, work, lane } = plan.bars;
  for (let i = 0; i < start.length; i++) {
    const [cls, , category] = plan.works[work[i]!]!;
    const kind = category === "transfer" ? "transfer" : cls;
    sets[kind]?.push([time[start[i]!]!, time[end[i]!]!]);
    lanes[kind]?.add(lane[i]!);
  }
  const [compute, comm, transfer] = [union(sets.compute!), union(sets.comm!), union(sets.transfer!)];
  const both = shared(comm, compute);
  const busy = length(comm);
  const own = ![...lanes.comm!].some((each) => lanes.compute!.has(each));
  return {
    makespan_ns: makespanOf(plan, time),
    bound_ns: boundOf(plan, factors),
    compute_busy_ns: length(compute),
    comm_busy_ns: busy,
    overlap_ns: both,
    overlap_ratio: own && busy ? both / busy : null,
    exposed_comm_ns: busy - both,
    transfer_ns: length(transfer),
    hidden_transfer_ns: shared(transfer, compute),
  };
}

export function beginOf(plan: Plan, time: Float64Array): number {
  let begin = Infinity;
  for (const point of plan.bars.start) begin = Math.min(begin, time[point]!);
  for (const point of plan.begins) begin = Math.min(begin, time[point]!);
  return begin;
}

export function makespanOf(plan: Plan, time: Float64Array): number {
  let last = -Infinity;
  for (const point of plan.bars.end) last = Math.max(last, time[point]!);
  return last - beginOf(plan, time);
}

/** The most that any stream, or the link, has to do. */
export function boundOf(plan: Plan, factors: Factors): number {
  const lag = lags(plan, factors);
  const work = new Float64Array(plan.lanes.length);
  plan.bars.lane.forEach((lane, i) => (work[lane]! += lag[plan.bars.edge[i]!]!));
  return work.reduce((most, each) => Math.max(most, each), 0);
}

/** Sorted and disjoint; what is empty covers nothing. */
function union(stretches: Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const [start, end] of stretches.filter(([a, b]) => b > a).sort((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else out.push([start, end]);
  }
  return out;
}

const length = (set: readonly Stretch[]): number => set.reduce((sum, [start, end]) => sum + end - start, 0);

/** How much two sets share. */
function shared(a: readonly Stretch[], b: readonly Stretch[]): number {
  let sum = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    sum += Math.max(Math.min(a[i]![1], b[j]![1]) - Math.max(a[i]![0], b[j]![0]), 0);
    if (a[i]![1] < b[j]![1]) i++;
    else j++;
  }
  return sum;
}
