import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf, keyOf } from "./keys";

const press = (key: string, held = {}) =>
  commandOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held });

test("a thread's key is its number in the replay string", () => {
  assert.deepEqual([press("0"), press("9"), press("a")], [{ thread: 0 }, { thread: 9 }, { thread: 10 }]);
  assert.deepEqual([keyOf(3), keyOf(11), keyOf(40)], ["3", "B", ""]);
});

test("a key that means something else is no thread's", () => {
  assert.equal(press("r"), "run on");
  assert.deepEqual([keyOf(26), keyOf(27)], ["Q", "S"]);
  assert.deepEqual(press("s"), { thread: 27 });
});

test("what the notebook may see is no command", () => {
  assert.equal(press("0", { ctrlKey: true }), null);
  assert.equal(press("Tab"), null);
  assert.equal(press("Enter"), null);
  assert.equal(press("0", { isComposing: true }), null);
});
