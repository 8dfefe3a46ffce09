import assert from "node:assert/strict";
import { test } from "node:test";
import { backToClock, framed, revealed, sound, stepAt, within, zoomed } from "./range";

test("a range that is none is the fallback", () => {
  for (const bad of [null, [], [1, 1], [2, 1], [NaN, 3], [0, Infinity], "ab"]) {
    assert.deepEqual(sound(bad, [0, 9]), [0, 9]);
  }
  assert.deepEqual(sound([-5, 900], [0, 9]), [-5, 900]);
});

test("one cannot leave the recording, nor zoom out beyond it", () => {
  assert.deepEqual(within([90, 130], [60, 100], [0, 100]), [80, 120]);
  assert.deepEqual(within([-500, 500], [0, 100], [0, 100]), [0, 100]);
  assert.deepEqual(within([80, 180], [90, 150], [0, 100]), [0, 100]);
  assert.deepEqual(within([10, 20], [20, 30], [0, 100]), [10, 20]);
});

test("zooming out at the last step fills the view the more the wider it is", () => {
  let range: readonly [number, number] = [90, 110];
  const seen: number[] = [];
  while (range[1] - range[0] < 100) {
    range = within(zoomed(range, 1 / 1.2, 100, 1), range, [0, 100]);
    seen.push((Math.min(range[1], 100) - range[0]) / (range[1] - range[0]));
  }
  assert.deepEqual(range, [0, 100]);
  seen.reduce((before, now) => (assert.ok(now >= before - 1e-9), now), 0);
  assert.ok(seen.at(-2)! > 0.7, `${seen.at(-2)}`);
  assert.deepEqual(within([-30, 130], [-20, 120], [0, 100]), [-20, 120], "what Python set is not left");
});

test("back from order the clock is where it was, or in a step, never across a gap", () => {
  const steps = [[3, 0, 10], [4, 990, 1000]] as const;
  const back = (shown: [number, number], before: [number, number] | null, middle: number) =>
    backToClock(shown, before, middle, steps);
  assert.deepEqual(back([8, 1000], [990, 1000], 993), [990, 1000]);
  assert.deepEqual(back([8, 995], null, 993), [990, 995]);
  assert.deepEqual(back([8, 995], null, 9), [8, 10]);
  assert.deepEqual(back([2, 6], [990, 1000], 4), [2, 6]);
  assert.deepEqual(back([8, 1000], [0, 1000], 993), [0, 1000], "everything was asked for");
  assert.deepEqual(backToClock([8, 995], null, 9, []), [8, 995]);
});

test("from outside one goes back without a jump, and not farther out", () => {
  const outside = [500, 600] as const;
  assert.deepEqual(within([490, 590], outside, [0, 100]), [490, 590]);
  assert.deepEqual(within([510, 610], outside, [0, 100]), outside);
});

test("a selection is brought into view with the least movement", () => {
  assert.deepEqual(revealed([0, 100], 20, 40), [0, 100]);
  assert.deepEqual(revealed([0, 100], 110, 120), [24, 124]);
  assert.deepEqual(revealed([100, 200], 20, 40), [16, 116]);
  assert.deepEqual(revealed([0, 100], 90, 400), [86, 186]);
  assert.deepEqual(revealed([100, 200], 0, 400), [100, 200]);
});

test("framing leaves a tenth on both sides; a moment keeps the range or less", () => {
  assert.deepEqual(framed([0, 1000], 100, 200, 50), [90, 210]);
  assert.deepEqual(framed([0, 1000], 500, 500, 50), [475, 525]);
  assert.deepEqual(framed([0, 10], 500, 500, 50), [495, 505]);
});

test("zooming keeps a moment where it is", () => {
  assert.deepEqual(zoomed([0, 100], 2, 20, 1), [10, 60]);
  assert.deepEqual(zoomed([0, 100], 1000, 50, 20), [40, 60]);
  assert.deepEqual(zoomed([0, 10], 2, 5, 20), [0, 10]);
});

test("the step in the middle, or the nearest", () => {
  const steps = [[3, 0, 100], [4, 150, 200], [5, 200, 300]] as const;
  assert.equal(stepAt(steps, [0, 100]), 0);
  assert.equal(stepAt(steps, [120, 170]), 1);
  assert.equal(stepAt(steps, [900, 1000]), 2);
  assert.equal(stepAt([], [0, 1]), null);
});
