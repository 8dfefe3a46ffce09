import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartBlock } from "./model";
import { Part, type Tree } from "./part";

const block = (): PartBlock => ({
  paths: [["flags", "e[0]", "set"], ["threads", "main", "on"], ["flags", "__proto__", "set"]],
  values: [null, false, true, "e[0]"],
  frame: [0, 1],
  changes: [[0, 2], [1, 3, 0, 1], [1, 0], [2, 2]],
  says: ["sets", "waits", "wakes", "odd"],
  queues: { compute: [3, [["a", "kernel", null, 0], ["b", "kernel", null, 1], ["c", "wait", null, null]]] },
});

const flat = (tree: Tree): unknown =>
  [...tree].flatMap(([s, keys]) => [...keys].flatMap(([k, fields]) => [...fields].map(([f, v]) => [s, k, f, v])));

test("states are the same whichever way one comes to them", () => {
  const expected = [
    [["flags", "e[0]", "set", true]],
    [["flags", "e[0]", "set", false], ["threads", "main", "on", "e[0]"]],
    [["flags", "e[0]", "set", false]],
    [["flags", "e[0]", "set", false], ["flags", "__proto__", "set", true]],
  ];
  const part = new Part(100, block());
  for (const row of [0, 1, 2, 3, 2, 1, 0, 3, 0, 2]) assert.deepEqual(flat(part.after(100 + row)), expected[row]);
});

test("what a trace event changes is known before and after it was gone over", () => {
  const part = new Part(100, block());
  const paths = [["threads", "main", "on"], ["flags", "e[0]", "set"]];
  assert.deepEqual(part.changed(101), paths);
  part.after(103);
  assert.deepEqual(part.changed(101), paths);
  assert.deepEqual(part.changed(99), []);
});

test("items of a queue are asked for by their numbers in the whole queue", () => {
  const part = new Part(100, block());
  const labels = (from: number, to: number) => part.items("compute", from, to).map(([label]) => label);
  assert.deepEqual(labels(3, 5), ["a", "b"]);
  assert.deepEqual(labels(5, 6), ["c"]);
  assert.deepEqual(labels(5, 5), []);
  assert.deepEqual(part.items("toString", 0, 9), []);
});
