import assert from "node:assert/strict";
import { test } from "node:test";
import { begins } from "./begins";

test("a name is known by as few letters as tell it from the others", () => {
  const all = ["attention", "combine", "copy", "co"];
  assert.deepEqual(all.map((name) => begins(name, all)), ["A", "Com", "Cop", "Co"]);
});

test("units keep their small letters, and no letter is cut in two", () => {
  assert.equal(begins("\u00b5s", ["\u00b5s"]), "\u00b5");
  assert.equal(begins("\u{1d6fc}x", ["\u{1d6fc}x", "\u{1d6fc}y"]), "\u{1d6fc}x");
  assert.equal(begins("", [""]), "");
});
