import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpt, placeOf, type Source } from "./excerpt";

const RUN = "    def run(self):\n        a()\n        b()\n        c()\n";
const sources: Source[] = [
  { file: "moe.py", function: "Layer", line: 1, text: `class Layer:\n${RUN}` },
  { file: "moe.py", function: "Layer.run", line: 2, text: RUN },
];

test("a line of source stands in its innermost function", () => {
  const found = excerpt(sources, "moe.py:4", 1);
  assert.deepEqual(found, {
    file: "moe.py", function: "Layer.run", line: 4,
    lines: [
      { number: 3, text: "a()", current: false }, { number: 4, text: "b()", current: true },
      { number: 5, text: "c()", current: false },
    ],
  });
  assert.equal(excerpt(sources, "moe.py:2", 9)?.lines[0]?.text, "def run(self):");
});

test("a comprehension is shown in the function round it", () => {
  const inner = { file: "moe.py", function: "Layer.run.<locals>.<listcomp>", line: 4, text: "        b()\n" };
  assert.equal(excerpt([...sources, inner], "moe.py:4", 1)?.function, "Layer.run");
  assert.equal(excerpt([inner], "moe.py:4", 1)?.function, "Layer.run.<locals>.<listcomp>");
});

test("a line that was not kept has no source", () => {
  for (const site of ["moe.py:6", "moe.py:0", "other.py:4", "moe.py", "", null, 4]) {
    assert.equal(excerpt(sources, site, 2), null);
  }
});

test("a file's name may have colons", () => {
  assert.deepEqual(placeOf("C:\\a\\moe.py:41"), ["C:\\a\\moe.py", 41]);
  assert.deepEqual(placeOf("<ipython-input-3:x>:7"), ["<ipython-input-3:x>", 7]);
});
