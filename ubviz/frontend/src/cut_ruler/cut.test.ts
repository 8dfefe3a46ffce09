import assert from "node:assert/strict";
import test from "node:test";
import { partsOf, soundValues } from "./cut";

test("a cut falls into a request, which is then in both parts", () => {
  assert.deepEqual(partsOf({ lengths: [42, 999], ubatches: 2 }), [
    { requests: [0, 2], tokens: [0, 520], queries: [42, 478], sequences: [42, 478] },
    { requests: [1, 2], tokens: [520, 1041], queries: [521], sequences: [999] },
  ]);
});

test("a cut between two requests belongs to neither", () => {
  assert.deepEqual(partsOf({ lengths: [4, 4], ubatches: 2 }).map((part) => part.requests), [[0, 1], [1, 2]]);
});

test("a request may be in every part; the last takes what is left", () => {
  const parts = partsOf({ lengths: [11], ubatches: 3 });
  assert.deepEqual(parts.map((part) => part.tokens), [[0, 3], [3, 6], [6, 11]]);
  assert.deepEqual(parts.map((part) => part.sequences), [[3], [6], [11]]);
});

test("what cannot be cut is made to fit", () => {
  assert.deepEqual(soundValues(undefined), { lengths: [5, 11, 3, 8], ubatches: 2 });
  assert.deepEqual(soundValues({ lengths: [0, -3, "x"], ubatches: 4.5 }), { lengths: [2, 1, 1], ubatches: 4 });
});
