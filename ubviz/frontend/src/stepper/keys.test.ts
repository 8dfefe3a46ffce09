import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf } from "./keys";

const press = (key: string, more: object = {}) =>
  ({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("every key means what the help says", () => {
  const expected: [object, string][] = [
    [press("ArrowRight"), "forward"], [press("ArrowLeft"), "back"],
    [press("ArrowRight", { shiftKey: true }), "next of thread"],
    [press("ArrowLeft", { shiftKey: true }), "previous of thread"],
    [press("["), "previous of object"], [press("]"), "next of object"],
    [press("Home"), "first"], [press("End"), "last"], [press(" "), "play"],
    [press("?", { shiftKey: true }), "keys"], [press("Escape"), "close"],
  ];
  for (const [key, command] of expected) assert.equal(commandOf(key as never, "else"), command);
});

test("the notebook keeps its own keys, and a field its letters", () => {
  assert.equal(commandOf(press("ArrowRight", { ctrlKey: true }), "else"), null);
  assert.equal(commandOf(press("Tab"), "else"), null);
  assert.equal(commandOf(press("x"), "else"), null);
  assert.equal(commandOf(press("constructor"), "else"), null);
  assert.equal(commandOf(press("ArrowLeft"), "field"), null);
  assert.equal(commandOf(press("Escape"), "field"), "close");
  assert.equal(commandOf(press(" "), "button"), null);
  assert.equal(commandOf(press("ArrowLeft"), "button"), "back");
});
