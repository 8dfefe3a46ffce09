import assert from "node:assert/strict";
import { test } from "node:test";
import { Nav } from "./nav";

/** Times 100, 130, 120, 120, 150: trace events of two threads, the second's clock behind. */
const nav = new Nav({
  t0: 100, gaps: [0, 30, -10, 0, 30], thread: [0, 0, 1, 1, 0],
  objects: [[0], [], [0, 1], [1], [0]], names: ["cpu_event[0]", "compute"], causes: [4, -1], passed: [1, 4],
});

test("a moment is the last trace event up to which the recording had come", () => {
  assert.deepEqual([99, 100, 129, 130, 149, 150, 1e9].map((ns) => nav.rowAt(ns)), [0, 0, 0, 3, 3, 4, 4]);
  assert.deepEqual([...nav.t], [100, 130, 120, 120, 150]);
});

test("along a thread and along an object, to the ends and no further", () => {
  assert.equal(nav.alongThread(0, 1), 1);
  assert.equal(nav.alongThread(1, 1), 4);
  assert.equal(nav.alongThread(4, 1), null);
  assert.equal(nav.alongThread(2, -1), null);
  assert.equal(nav.alongObject(0, 1), 2);
  assert.equal(nav.alongObject(4, -1), 2);
  assert.equal(nav.alongObject(3, -1), 2); // the second object of that one
  assert.equal(nav.alongObject(1, 1), null);
  assert.equal(nav.object(2), "cpu_event[0]");
  assert.equal(nav.object(1), null);
});

test("steps pass over what is to be skipped", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map((at) => nav.step(at, 1)), [2, 2, 3, null, null]);
  assert.deepEqual([0, 1, 2, 4].map((at) => nav.step(at, -1)), [null, 0, 0, 3]);
});

test("a selected span leads to the trace event that caused it, anything odd nowhere", () => {
  assert.equal(nav.eventOf(["events", 3]), 3);
  assert.equal(nav.eventOf(["spans", 0]), 4);
  for (const odd of [["spans", 1], ["spans", 9], ["events", 5], ["events", -1], ["flows", 0], null, 7, []]) {
    assert.equal(nav.eventOf(odd), null);
  }
});
