import assert from "node:assert/strict";
import { test } from "node:test";
import { initials } from "./names";

test("the letters are those of the still picture", () => {
  assert.deepEqual(
    Object.fromEntries(initials(["attention", "combine", "copy", "dispatch", "dispatch send"])),
    {
      attention: "A",
      combine: "C",
      dispatch: "D",
      copy: "Cp",
      "dispatch send": "Ds",
    },
  );
});

test("letters are whole code points", () => {
  const made = initials(["𝔸b", "𝔸c", "x 𝔹y"]);
  assert.deepEqual([...made.values()], ["X𝔹", "𝔸", "𝔸c"]);
});

test("no two operations have the same letters, and a name without any has none", () => {
  const made = initials(["aa", "ae", "", "a"]);
  assert.equal(new Set(made.values()).size, made.size);
  assert.equal(made.get("a"), "A");
});
