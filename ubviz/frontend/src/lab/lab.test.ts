import assert from "node:assert/strict";
import { test } from "node:test";
import { chartWords, evenWords } from "./chart";
import { breakEven, Curves, type Curve, type Point } from "./curve";
import { halfEven, times } from "./flow";
import type { Index, Slider } from "./model";
import { numbersOf } from "./numbers";
import { planOf, type PlanData } from "./plan";
import { axisEnd } from "./rows";
import { factorsOf, gridOf, notesOf, plansOf, soundValues } from "./values";
import { figuresOf, percent, said } from "./words";

const COMM: Slider = {
  name: "comm", label: "Communication", unit: "µs", low: 0, high: 100, step: 5, value: 50, base: 50, scales: "comm",
};
const INDEX: Index = {
  first: [], title: null, kind: "simulated", names: ["unsplit", "split"],
  plans: { "2/None": ["two", "one"], "1/None": ["one", "one"] },
  sliders: [
    COMM,
    { ...COMM, name: "slow", label: "Slowdown", high: 60, value: 0, base: 1, scales: "contention" },
    { ...COMM, name: "fixed", label: "Fixed", value: 0, base: 1, scales: "kernel" },
    { ...COMM, name: "factor", label: "Chosen", value: 50, scales: "operation" },
  ],
  choices: [
    { name: "n", label: "Microbatches", values: [2, 1], words: ["2", "1"], value: 2 },
    { name: "operation", label: "Operation", values: [null, "dispatch"], words: ["none", "dispatch"], value: null },
  ],
  structure: ["n", "operation"],
  notes: [{ values: { n: 1 }, sentence: "Nobody to hide behind." }],
};

/** Attention 0-100 on compute; dispatch 40-90 on comm, which was told so at 40. */
const DATA: PlanData = {
  time: [0, 0, 40, 0], circular: false, works: [["compute", "attention", "kernel"], ["comm", "dispatch", "kernel"]],
  lanes: [["compute", "streams", 0], ["comm", "streams", 0]], begins: [0],
  edges: [[1, 1], [1, 2], [100, 50], [100, 50], [2, 3]],
  bars: [[0, 2], [1, 3], [0, 1], [0, 0], [0, 1], [0, 1], [1, 1]], awake: [[], [], [], [], []],
};
const PLAN = planOf(DATA);
const factors = { threads: 1, works: [1, 1], kernelNs: 0, contention: 0 };

test("a half goes to the even number", () => {
  assert.deepEqual([0.5, 1.5, 2.5, 2.500001, 3.49, -0.5, 7].map(halfEven), [0, 2, 2, 3, 3, 0, 7].map((n) => n + 0));
});

test("durations flow through", () => {
  assert.deepEqual([...times(PLAN, factors)], [0, 100, 40, 90]);
  assert.deepEqual([...times(PLAN, { ...factors, works: [1, 2], kernelNs: 3 })], [0, 103, 40, 143]);
});

test("kernels are slower while they overlap", () => {
  // 40 alone; dispatch does its 50 at 1 / 1.5, until 115; attention has then done 40 + 50, and ends 10 later
  assert.deepEqual([...times(PLAN, { ...factors, contention: 50 })], [0, 125, 40, 115]);
});

test("numbers are those of the intervals", () => {
  const found = numbersOf(PLAN, factors, times(PLAN, factors));
  assert.deepEqual(found, {
    makespan_ns: 100, bound_ns: 100, compute_busy_ns: 100, comm_busy_ns: 50, overlap_ns: 50, overlap_ratio: 1,
    exposed_comm_ns: 0, transfer_ns: 0, hidden_transfer_ns: 0,
  });
});

test("values become factors", () => {
  const values = { comm: 25, slow: 10, fixed: 2, factor: 100, n: 2, operation: "dispatch" };
  assert.deepEqual(factorsOf(INDEX, values, PLAN), { threads: 1, works: [1, 1], kernelNs: 2000, contention: 10 });
  assert.deepEqual(factorsOf(INDEX, { ...values, operation: null }, PLAN).works, [1, 0.5]);
});

test("the plan is known by the values of the structure, as Python writes them", () => {
  assert.deepEqual(plansOf(INDEX, { n: 1, operation: null }), ["one", "one"]);
  assert.deepEqual(notesOf(INDEX, { n: 1 }), ["Nobody to hide behind."]);
  assert.deepEqual(notesOf(INDEX, { n: 2 }), []);
});

test("values that cannot be used are made to fit", () => {
  const own = { comm: 50, slow: 0, fixed: 0, factor: 50, n: 2, operation: null };
  for (const nothing of [null, undefined, {}, 3, { n: 5, comm: "a", more: 1 }]) assert.deepEqual(soundValues(INDEX, nothing), own);
  assert.deepEqual(soundValues(INDEX, { comm: 1000, n: 1 }), { ...own, comm: 100, n: 1 });
});

test("a grid has all values of a slider, or each second, third ...", () => {
  assert.deepEqual(gridOf(COMM).slice(0, 3), [0, 5, 10]);
  assert.deepEqual(gridOf({ ...COMM, high: 960, step: 12 }).slice(-2), [936, 960]);
});

const point = (value: number, makespan: number, unsplit: number | null): Point => ({ value, makespan, unsplit, bound: 1 });

test("splitting pays from where on it is never slower", () => {
  assert.equal(breakEven([point(0, 5, 4), point(1, 5, 5), point(2, 5, 6)]), 1);
  assert.equal(breakEven([point(0, 5, 6), point(1, 7, 6), point(2, 5, 6)]), 2);
  assert.equal(breakEven([point(0, 5, 6), point(1, 7, 6)]), null);
  assert.equal(breakEven([point(0, 5, null)]), null);
  const curve: Curve = { slider: COMM, points: [point(0, 5, 4), point(5, 5, 6)], done: true };
  assert.equal(evenWords(curve), "Splitting pays from 5 µs on.");
  assert.equal(chartWords(curve), "Makespan against communication: 5 ns at 0 µs, 5 ns at 5 µs. Splitting pays from 5 µs on.");
  assert.equal(evenWords({ ...curve, done: false }), "");
});

test("a curve is kept while only its slider moves", () => {
  const curves = new Curves(INDEX);
  const values = soundValues(INDEX, {});
  const curve = curves.of(COMM, values);
  while (!curve.done) curves.more(curve, values, PLAN, PLAN);
  assert.equal(curve.points.length, 21);
  assert.equal(curve.points[20]!.makespan, 140);
  assert.equal(curves.of(COMM, { ...values, comm: 5 }), curve);
  assert.notEqual(curves.of(COMM, { ...values, fixed: 5 }), curve);
});

test("an axis ends at a round number", () => {
  assert.deepEqual([95, 99, 1_740_000, 0].map(axisEnd), [100, 125, 2_000_000, 1]);
});

test("numbers in words", () => {
  assert.deepEqual([percent(1, 1000), percent(999, 1000), percent(7, 8), percent(1, 1)], ["1 %", "99 %", "88 %", "100 %"]);
  const numbers = numbersOf(PLAN, factors, times(PLAN, factors));
  const figures = figuresOf(INDEX, { numbers, unsplit: 150, measured: null });
  assert.equal(
    said(figures),
    "Makespan 100 ns, Unsplit 150 ns, Speed-up 1.5 × (over unsplit), Best possible 100 ns (at most 1.5 ×), "
      + "Communication hidden 100 % (of 50 ns), Exposed 0 ns (of communication).",
  );
});
