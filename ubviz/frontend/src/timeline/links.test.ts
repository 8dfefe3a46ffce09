import assert from "node:assert/strict";
import { test } from "node:test";
import { Data } from "./data";
import { linksOf } from "./links";
import { flows, marks, recording, spans } from "./samples";

/** Two threads that wake each other; the second launches, blocked, and makes the stream wait twice. */
async function loaded(): Promise<Data> {
  const { index, facts, blocks } = recording(
    [
      [0, 0, "main", [spans("bars:0", [[0, 100, "awake", null, "awake", 50], [100, 300, "waiting", null, "", 51]])]],
      [1, 0, "main", [spans("bars:1", [
        [0, 90, "waiting", 0, "waits for its turn", 52],
        [90, 200, "awake", 0, "awake", 53],
        [200, 260, "device", 0, "", 54],
      ])]],
      [1, 0, "inner", [spans("bars:1:1", [[92, 150, "operation", 0, "attention", 55],
        [151, 200, "operation", 0, "experts", 56]])]],
      [1, 0, "events", [marks("marks:1", [[110, "event.wait", 12], [190, "event.wait", 13]],
        "wait compute_done[0]")]],
      [2, 0, "points", [marks("marks:2", [[400, "wait", 70], [500, "wait", 71]], "compute_done[0]")]],
      [2, 0, "waits", [spans("bars:2", [
        [350, 400, "waiting", 0, "compute_done[0]", 70], [450, 500, "waiting", 0, "compute_done[0]", 71]])]],
    ],
    [
      flows("flows:0", [[60, 90, "set -> wake", 0, 1, 1, 2], [70, 120, "set -> wake", 0, 0, 3, 4],
        [150, 300, "set -> wake", 1, 0, 5, 6]], [0, 0]),
      flows("flows:1", [[95, 350, "launch -> kernel", 1, 2, 7, 40], [200, 600, "launch -> kernel", 1, 2, 8, 41]],
        [0, 1]),
      flows("flows:2", [[420, 450, "record -> wait", 3, 2, 80, 71]]),
    ],
  );
  const data = new Data(index, facts);
  const wire = { get: async (key: string) => blocks.get(key)!, json: async () => ({}) as never,
    join: () => undefined, pending: () => 0 };
  await data.load(wire, [0, 1000], () => undefined, new AbortController().signal);
  return data;
}

const rows = (data: Data, table: "spans" | "events", row: number) => {
  const { causes, effects } = linksOf(data, data.item([table, row])!);
  return [causes, effects].map((ends) => ends.map((end) => end.row[1]));
};

test("a wait is ended by what woke its thread", async () => {
  const data = await loaded();
  assert.deepEqual(rows(data, "spans", 52), [[1], []]);
  assert.deepEqual(rows(data, "spans", 51), [[5], []]);
});

test("a thread that is awake was woken, and last wakes another, whatever it launches", async () => {
  assert.deepEqual(rows(await loaded(), "spans", 53), [[1], [6]]);
  assert.deepEqual(rows(await loaded(), "spans", 50), [[], [4]], "the last of two");
});

test("a thread that a launch blocks leads to its kernel", async () => {
  assert.deepEqual(rows(await loaded(), "spans", 54), [[], [41]]);
});

test("an operation leads to what it launched, at its end too", async () => {
  assert.deepEqual(rows(await loaded(), "spans", 55), [[], [40]]);
  assert.deepEqual(rows(await loaded(), "spans", 56), [[], [41]]);
});

test("a thread that makes a stream wait leads to this wait, and its cause is the wait's", async () => {
  const data = await loaded();
  assert.deepEqual(rows(data, "events", 13), [[80], [71]]);
  assert.deepEqual(rows(data, "events", 12), [[], [70]]);
});
