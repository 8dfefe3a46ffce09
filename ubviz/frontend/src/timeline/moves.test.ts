import assert from "node:assert/strict";
import { test } from "node:test";
import { columnWords, rangeWords } from "./moves";

test("a change of length is a zoom, one of place a move, none is not said", () => {
  assert.equal(rangeWords([0, 10_000_000], [1_000_000, 5_200_000], 0), "zoomed to 4.2 ms");
  assert.equal(rangeWords([0, 10_000_000], [1_000_000, 11_000_000], 500_000), "moved to 500 µs");
  assert.equal(rangeWords([0, 10], [0, 10], 0), null);
});

test("rounding to whole nanoseconds is no zoom", () => {
  assert.equal(rangeWords([0, 1000], [100, 1101], 0), "moved to 100 ns");
});

test("columns are counted from one", () => {
  assert.equal(columnWords([0, 12]), "trace events 1 to 12");
  assert.equal(columnWords([3.4, 7.2]), "trace events 4 to 8");
});
