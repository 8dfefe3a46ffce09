import assert from "node:assert/strict";
import { test } from "node:test";
import { passes, type Press } from "../base/press";
import { commandOf } from "./keys";

const press = (key: string, more: Partial<Press> = {}): Press => ({
  key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more,
});

test("every promised key has its command", () => {
  const promised = {
    w: "zoom in", "+": "zoom in", s: "zoom out", "-": "zoom out", a: "pan left", d: "pan right",
    Home: "home", "0": "home", ArrowLeft: "previous item", ArrowRight: "next item",
    ArrowUp: "lane above", ArrowDown: "lane below", "[": "to cause", "]": "to effect",
    f: "frame", o: "turn order", Enter: "into details", Escape: "escape",
  };
  for (const [key, command] of Object.entries(promised)) assert.equal(commandOf(press(key)), command, key);
  assert.equal(commandOf(press("?", { shiftKey: true })), "keys");
  assert.equal(commandOf(press("+", { shiftKey: true })), "zoom in");
  assert.equal(commandOf(press("Home", { shiftKey: true })), "show all");
});

test("capitals are the same keys", () => {
  assert.equal(commandOf(press("W")), "zoom in");
});

test("a key that we do not use means nothing, and is kept from the notebook all the same", () => {
  for (const key of ["x", "b", "z", "Delete", "constructor", "toString"]) {
    assert.equal(commandOf(press(key)), null, key);
    assert.equal(passes(press(key)), false, key);
  }
});

test("the notebook has Tab, Shift+Enter and what is held with Ctrl, Meta or Alt", () => {
  assert.ok(passes(press("Tab")));
  assert.ok(passes(press("Tab", { shiftKey: true })));
  assert.ok(passes(press("Enter", { shiftKey: true })));
  assert.ok(!passes(press("Enter")));
  for (const held of ["ctrlKey", "metaKey", "altKey"] as const) {
    assert.ok(passes(press("s", { [held]: true })), held);
    assert.equal(commandOf(press("s", { [held]: true })), null, held);
  }
});

test("a bracket typed with AltGr is a bracket", () => {
  const getModifierState = (name: string) => name === "AltGraph";
  assert.equal(commandOf(press("[", { ctrlKey: true, altKey: true, getModifierState })), "to cause");
});

test("a letter on its way through an input method is no command", () => {
  assert.equal(commandOf(press("w", { isComposing: true })), null);
});
