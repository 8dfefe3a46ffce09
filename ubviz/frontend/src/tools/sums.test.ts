import assert from "node:assert/strict";
import { test } from "node:test";
import { soundArea } from "./area";
import { sample } from "./sample";
import { sumsOf } from "./sums";

test("what touches an area is summed by name, with what lies inside", async () => {
  const sums = sumsOf(await sample(), 150, 230, (lane) => lane === 2);
  assert.deepEqual(sums.map(({ name, count, sum, inside, min, max }) => [name, count, sum, inside, min, max]), [
    ["attention", 2, 140, 70, 40, 100],
    ["linear", 1, 40, 10, 40, 40],
  ]);
});

test("what only meets the edge does not touch it", async () => {
  assert.deepEqual(sumsOf(await sample(), 700, 800, () => true), []);
  assert.deepEqual(sumsOf(await sample(), 550, 600, (lane) => lane === 2), []);
});

test("what Python sets as an area is looked at", () => {
  assert.deepEqual(soundArea([1, 5, [3, "x"]]), [1, 5, [3]]);
  assert.deepEqual(soundArea([1, 5]), [1, 5, []]);
  for (const none of [null, "", [5, 1, []], [NaN, 2], [1, 1]]) assert.equal(soundArea(none), null);
});
