import assert from "node:assert/strict";
import { test } from "node:test";
import { coneOf, Order } from "./cones";
import { runsOf } from "./runs";
import { sample } from "./sample";

const differences = (values: number[]) => values.map((value, i) => value - (values[i - 1] ?? 0));

/** Threads 0 and 1, stream 2: 0 sets, 1 wakes and launches; nodes 0 1 4 on thread 0, 2 3 on thread 1, 5 the kernel. */
const order = () => new Order({
  lanes: [0, 0, 1, 1, 0, 2], causes: differences([1, 3]), effects: differences([2, 5]),
  host: differences([0, 1, 2, 3, 4]), spans: differences([5, -1]),
});
const rows = (found: Uint8Array) => [...found].flatMap((is, row) => (is ? [row] : []));

test("the past of a kernel is what led to it, and nothing that runs beside it", () => {
  const cone = order().cone(order().node("spans", 0), "past");
  assert.deepEqual([rows(cone.events), rows(cone.spans)], [[0, 1, 2, 3], []]);
});

test("the future of a set is what it woke, and what its own thread does next", () => {
  const cone = order().cone(order().node("events", 1), "future");
  assert.deepEqual([rows(cone.events), rows(cone.spans)], [[2, 3, 4], [0]]);
});

test("one hop is the neighbour and the direct effects", () => {
  const cone = order().cone(order().node("events", 1), "future", 1);
  assert.deepEqual([rows(cone.events), rows(cone.spans)], [[2, 4], []]);
});

test("a row without a node, and one that is not there, have empty cones", () => {
  for (const node of [order().node("spans", 1), order().node("events", 99)]) {
    assert.equal(node, -1);
    assert.deepEqual(rows(order().cone(node, "past").events), []);
  }
});

test("a cone lies on a lane as far as what follows one another belongs to it", async () => {
  const data = await sample();
  const cone = coneOf({ events: [0], spans: [1, 2, 10] }, { events: 100, spans: 100 });
  const runs = runsOf(data, cone).map(({ lane, sub, start, end }) => [lane, sub, start, end]);
  assert.deepEqual(runs.sort((a, b) => a[0]! - b[0]!), [[1, 0, 20, 20], [2, 0, 100, 250]]);
});
