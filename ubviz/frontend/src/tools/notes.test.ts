import assert from "node:assert/strict";
import { test } from "node:test";
import { groupsOf, soundNotes } from "./notes";

test("what Python sets as notes is looked at", () => {
  assert.deepEqual(soundNotes([[5, "here"], [7, "there"]]), [[5, "here"], [7, "there"]]);
  for (const odd of [null, "x", [5], [["5", "x"]], [[NaN, "x"]], [[5, 6]], [[5, "x", 7]], [null]]) {
    assert.deepEqual(soundNotes(odd), []);
  }
});

test("notes that would lie over one another are one sign", () => {
  const found = groupsOf([10, 12, 20, 40, 300]);
  assert.deepEqual(found, [{ at: 10, label: "1\u20133" }, { at: 40, label: "4" }, { at: 300, label: "5" }]);
  assert.deepEqual(groupsOf([]), []);
});
