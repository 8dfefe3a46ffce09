import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "./answers";
import { lengthOf, merged } from "./lit";
import { loadsOf } from "./map";
import { stretchesOf, sumsOf } from "./path";
import { sample } from "./sample";
import { LIGHT } from "../base/theme";

test("intervals that touch in pixels are one, those out of sight none", () => {
  const x = (ns: number) => ns / 10;
  assert.deepEqual(merged([[50, 60], [0, 20], [22, 40], [900, 950]], 0, 100, x), [[0, 4], [5, 6]]);
  assert.equal(lengthOf([[0, 20], [22, 40]]), 38);
});

test("a path is summed by what it is spent on, and drawn as stretches of lanes", () => {
  const path: Entry[] = [
    ["events", 0, 1, 0, 10, "program"], ["spans", 1, 2, 10, 5, "launch"], ["spans", 1, 2, 15, 30, "run"],
    [null, null, -1, 45, 1, "barrier"], ["spans", 2, 2, 46, 20, "run"],
  ];
  assert.deepEqual(sumsOf(path), [["run", 50], ["program", 10], ["launch", 5], ["barrier", 1]]);
  assert.deepEqual(stretchesOf(path), [
    { lane: 1, start: 0, end: 10 }, { lane: 2, start: 10, end: 45 }, { lane: 2, start: 46, end: 66 },
  ]);
});

test("in the overview no time of a lane is lost: the loads sum to what its bars last, without waiting", async () => {
  const data = await sample();
  for (const [lane, lasts] of [[1, 200], [2, 280]] as const) {
    const { load } = loadsOf(data, data.index, lane, 90, LIGHT);
    assert.ok(Math.abs(load.reduce((sum, each) => sum + each, 0) * (1000 / 90) - lasts) < 1e-6, String(lane));
  }
});
