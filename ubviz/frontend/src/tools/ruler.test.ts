import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../timeline/data";
import type { Scene } from "../timeline/scene";
import type { Timeline } from "../timeline/timeline";
import { between, gapWords, soundMeasure, stretchAt } from "./ruler";
import { sample } from "./sample";
import { edgeNear } from "./times";

test("between two that are apart is the gap, between two that overlap from begin to begin", async () => {
  const data = await sample();
  const [first, second, copy] = ([1, 2, 3] as const).map((row) => data.item(["spans", row])!) as [Item, Item, Item];
  assert.deepEqual(between(second, first).map((edge) => edge.ns), [200, 210]);
  assert.deepEqual(between(second, copy).map((edge) => [edge.ns, edge.side]), [[210, "begin"], [220, "begin"]]);
});

test("a place in a gap is all of the gap, one on a bar the bar, and beyond the last there is nothing", async () => {
  const scene = { data: await sample() } as Scene;
  const times = (ns: number) => stretchAt(scene, 2, ns)?.map((edge) => edge.ns) ?? null;
  assert.deepEqual(times(205), [200, 210]);
  assert.deepEqual(times(500), [260, 600]);
  assert.deepEqual(times(230), [210, 250]);
  assert.equal(times(800), null);
});

test("an edge is snapped to within reach, on the lane that is meant", async () => {
  const view = { scene: { data: await sample() } } as unknown as Timeline;
  assert.deepEqual([edgeNear(view, 203, 2, 10)].map(({ ns, side }) => [ns, side]), [[205, "begin"]]);
  assert.equal(edgeNear(view, 596, 2, 10).ns, 600);
  assert.equal(edgeNear(view, 580, 2, 10).item, null);
  assert.equal(edgeNear(view, 303, 1, 10).ns, 300);
  assert.equal(edgeNear(view, 303, 2, 10).item, null);
});

test("the causes of the measured lanes are said, the longest first; without any those of all", () => {
  const gaps = [[2, 0, 50, "wait", "a"], [2, 60, 90, "wait", "b"], [3, 0, 100, "wait", "c"]] as never;
  assert.deepEqual(gapWords(gaps, [2], 40, 100), ["b", "a"]);
  assert.deepEqual(gapWords(gaps, [1], 40, 100), ["c", "b", "a"]);
});

test("what Python sets as a measure is looked at", () => {
  assert.deepEqual(soundMeasure([3, 3]), [3, 3]);
  for (const none of [null, [5, 1], ["a", 2], 7]) assert.equal(soundMeasure(none), null);
});
