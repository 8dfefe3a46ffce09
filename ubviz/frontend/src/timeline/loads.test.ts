import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "./columns";
import { loadsOf, sumsFor } from "./loads";
import { spans, type SpanRow } from "./samples";

/** Spans of 6 ns in every 10, by turns of two microbatches. */
function even(count: number) {
  const rows = Array.from({ length: count }, (_, i) =>
    [10 * i, 10 * i + 6, "compute", i % 2, "linear", i] as SpanRow);
  const { part, bytes } = spans("a", rows);
  return barsOf(part, bytes);
}

test("a class is a style and a microbatch", () => {
  const { classes, of, longest } = loadsOf(even(3));
  assert.deepEqual(classes, [
    { style: 3, ubatch: 1 },
    { style: 3, ubatch: 2 },
  ]);
  assert.deepEqual([...of], [0, 1, 0]);
  assert.deepEqual([...longest], [6]);
});

test("sums say how long each class has lasted, also within a span", () => {
  const { bin, sums } = sumsFor(even(8), 40, 2)!;
  assert.equal(bin, 16);
  assert.deepEqual([...sums.subarray(0, 6)], [0, 0, 6, 6, 12, 8]); // at 0, 16 and 32 ns
  assert.deepEqual([...sums.slice(-2)], [24, 24]);
});

test("coarser sums are a choice of the finer ones, and end with the whole", () => {
  for (const count of [33, 64, 100, 101]) {
    const bars = even(count);
    const fine = sumsFor(bars, 32, 2)!;
    const coarse = sumsFor(bars, 129, 2)!;
    assert.deepEqual([fine.bin, coarse.bin], [16, 64]);
    for (let b = 0; b * 4 < fine.sums.length / 2; b++) {
      assert.deepEqual([...coarse.sums.subarray(2 * b, 2 * b + 2)], [...fine.sums.subarray(8 * b, 8 * b + 2)]);
    }
    assert.deepEqual([...coarse.sums.slice(-2)], [6 * Math.ceil(count / 2), 6 * Math.floor(count / 2)]);
  }
});

test("where a pixel is as fine as its spans there are no sums", () => {
  assert.equal(sumsFor(even(8), 31, 2), null);
});
