import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../model";
import { firstShown, rowsFor } from "../list";
import { ubatchOf } from "./flags";
import { inWords } from "./ring";
import { grouped } from "./streams";

test("the turn in words: with one, with two, on its way, with nobody", () => {
  const turn = (more: object) => inWords({ members: [0, 1, 2], holds: [], left: [], handing: null, ...more });
  assert.equal(turn({ holds: [1] }), "it is ubatch 1's turn");
  assert.equal(turn({ holds: [0, 1] }), "ubatch 0 and ubatch 1 are awake at once");
  assert.equal(turn({ handing: [-1, 0] }), "main hands on to ubatch 0");
  assert.equal(turn({ handing: [0, 1] }), "ubatch 0 hands on to ubatch 1");
  assert.equal(turn({ handing: [0, 1], holds: [2] }), "ubatch 0 hands on to ubatch 1, while ubatch 2 runs");
  assert.equal(turn({ left: [0, 1, 2] }), "all have left");
  assert.equal(turn({}), "nobody has the turn");
  assert.equal(turn({ members: [] }), "no microbatches in this step");
});

test("equal neighbours of a queue are one, others are not", () => {
  const item = (label: string, ubatch: number | null = 0): Item => [label, "kernel", "compute", ubatch];
  const found = grouped([item("a"), item("a"), item("b"), item("a"), item("a", 1)]);
  assert.deepEqual(found.map(([[label], count]) => `${label}${count}`), ["a2", "b1", "a1", "a1"]);
});

test("the list is full wherever it can be", () => {
  assert.deepEqual([0, 3, 4, 50, 97, 99].map((at) => firstShown(at, 100, 9)), [0, 0, 0, 46, 91, 91]);
  assert.equal(firstShown(2, 3, 9), 0);
  assert.deepEqual([9, 15, 61].map((rows) => firstShown(99, 100, rows) + rows), [100, 100, 100]);
});

test("it has as many rows as there is room for, nine at least", () => {
  assert.deepEqual([-500, 0, 240, 275, 300, 1000, 9e9].map(rowsFor), [9, 9, 9, 11, 11, 39, 61]);
});

test("an object with a number has the colour of its microbatch", () => {
  assert.deepEqual(["cpu_event[12]", "go", "host_event#3"].map(ubatchOf), [12, null, null]);
});
