/** What is computed with: the same as ubviz/view/lab_plan.py, as columns of numbers. */

export const FIXED = 0;
export const THREADS = 1;
export const WORK = 2;

/** As it comes: sources and targets as differences. */
export interface PlanData {
  time: number[];
  circular: boolean;
  works: [cls: string, operation: string, category: string][];
  lanes: [name: string, group: string, rank: number][];
  begins: number[];
  edges: number[][];
  bars: number[][];
  awake: number[][];
}

export interface Plan {
  time: Float64Array;
  works: PlanData["works"];
  lanes: PlanData["lanes"];
  begins: number[];
  source: Int32Array;
  target: Int32Array;
  lag: Float64Array;
  own: Float64Array;
  by: Int32Array;
  bars: { start: Int32Array; end: Int32Array; lane: Int32Array; ubatch: Int32Array; work: Int32Array; edge: Int32Array; slows: Int32Array };
  awake: { start: Int32Array; startNs: Float64Array; end: Int32Array; endNs: Float64Array; lane: Int32Array };
  /** The edges by source: those of point p are `out[first[p]]` up to `out[first[p + 1]]`. */
  first: Int32Array;
  out: Int32Array;
  /** The number of causes of each point. */
  causes: Int32Array;
  /** Points by the recording's clock. */
  byClock: Int32Array;
}

export function planOf(data: PlanData): Plan {
  const [targets, sources, lag, own, by] = [data.edges[1]!, data.edges[0]!, data.edges[2]!, data.edges[3]!, data.edges[4]!];
  const count = targets.length;
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  const points = data.time.length;
  const causes = new Int32Array(points);
  const first = new Int32Array(points + 1);
  for (let i = 0, at = 0; i < count; i++) {
    at += targets[i]!;
    target[i] = at;
    source[i] = at - sources[i]!;
    causes[at]!++;
    first[source[i]! + 1]!++;
  }
  for (let p = 0; p < points; p++) first[p + 1]! += first[p]!;
  const next = first.slice();
  const out = new Int32Array(count);
  for (let i = 0; i < count; i++) out[next[source[i]!]!++] = i;
  const time = Float64Array.from(data.time);
  const byClock = Int32Array.from(data.time.keys()).sort((a, b) => time[a]! - time[b]! || a - b);
  const [start, end, lane, ubatch, work, edge, slows] = data.bars.map((column) => Int32Array.from(column)) as [
    Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array, Int32Array,
  ];
  return {
    time, works: data.works, lanes: data.lanes, begins: data.begins, source, target,
    lag: Float64Array.from(lag), own: Float64Array.from(own), by: Int32Array.from(by),
    bars: { start, end, lane, ubatch, work, edge, slows },
    awake: {
      start: Int32Array.from(data.awake[0]!), startNs: Float64Array.from(data.awake[1]!),
      end: Int32Array.from(data.awake[2]!), endNs: Float64Array.from(data.awake[3]!),
      lane: Int32Array.from(data.awake[4]!),
    },
    first, out, causes, byClock,
  };
}
