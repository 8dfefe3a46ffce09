import assert from "node:assert/strict";
import { test } from "node:test";
import { Scale } from "./scale";

test("pixels and nanoseconds are each other's way back", () => {
  const scale = new Scale([1_000, 2_000], 100, 600);
  assert.equal(scale.x(1_000), 100);
  assert.equal(scale.x(2_000), 600);
  assert.equal(scale.ns(scale.x(1_234)), 1_234);
});

test("an empty range is one nanosecond long, and no pixel is not a number", () => {
  assert.ok(Number.isFinite(new Scale([5, 5], 10, 10).x(5)));
});
