import assert from "node:assert/strict";
import { test } from "node:test";
import { sortsOf } from "./sorts";

/** Numbers that look random and are always the same. */
function numbers(count: number, below: number, seed: number): Uint32Array {
  let state = seed;
  return Uint32Array.from({ length: count }, () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below);
}

test("rows that are alike in all columns are of one sort, and no others", () => {
  for (const below of [1, 3, 40, 100_000]) {
    const columns = [numbers(5000, below, 1), numbers(5000, 2, 7), new Uint8Array(5000)];
    const { of, first } = sortsOf(columns, 5000);
    const keys = Array.from(of, (_, row) => columns.map((column) => column[row]).join(" "));
    assert.equal(first.length, new Set(keys).size);
    const seen = new Map(first.map((row, sort) => [keys[row], sort]));
    assert.deepEqual(keys.map((key) => seen.get(key)), [...of]);
  }
});

test("of no rows there are no sorts", () => {
  assert.deepEqual(sortsOf([new Uint32Array(0)], 0).first, []);
});
