import assert from "node:assert/strict";
import { test } from "node:test";
import { soundNotes } from "./notes";

test("what Python sets as notes is looked at", () => {
  assert.deepEqual(soundNotes([[5, "here"], [7, "there"]]), [[5, "here"], [7, "there"]]);
  for (const odd of [null, "x", [5], [["5", "x"]], [[NaN, "x"]], [[5, 6]], [[5, "x", 7]], [null]]) {
    assert.deepEqual(soundNotes(odd), []);
  }
});
