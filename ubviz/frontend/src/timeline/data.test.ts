import assert from "node:assert/strict";
import { test } from "node:test";
import { Data } from "./data";
import { flows, marks, recording, spans, type Recording } from "./samples";
import type { Wire } from "../base/wire";

/** Answers at once, in the order asked; what is in `refused` never comes. */
function wireOf({ blocks }: Recording, asked: string[] = [], refused: string[] = []): Wire {
  return {
    get: async (key) => {
      asked.push(key);
      if (refused.includes(key)) throw new Error(`no ${key}`);
      return blocks.get(key)!;
    },
    json: async () => ({}) as never,
    join: () => undefined,
    pending: () => 0,
  };
}

const signal = () => new AbortController().signal;

/** A thread whose bars share a row, a stream with a wait, kernels in two sub-rows, a record, and an arrow. */
function sample(): Recording {
  return recording(
    [
      [
        1,
        0,
        "main",
        [
          spans("bars:0:0", [
            [0, 100, "awake", 0, "awake", 50],
            [100, 300, "waiting", 0, "waits for its turn", 51],
            [300, 400, "awake", 0, "awake", 50],
          ]),
        ],
      ],
      [
        1,
        0,
        "events",
        [
          marks("marks:1:0", [
            [20, "host_event.set", 0],
            [300, "barrier.arrive", 1],
            [300, "host_event.set", 2],
          ]),
        ],
      ],
      [
        2,
        0,
        "main",
        [
          spans("bars:2:0", [
            [100, 200, "compute", 0, "attention", 1, true],
            [210, 250, "compute", 0, "attention", 2],
          ]),
          spans("bars:2:1", [[600, 700, "compute", 1, "experts", 5, true]]),
        ],
      ],
      [2, 1, "main", [spans("bars:3:0", [[220, 260, "copy", null, "linear", 3, true]])]],
      [2, 0, "waits", [spans("bars:4:0", [[260, 500, "waiting", 0, "compute_done[0]", 4]])]],
      [
        2,
        0,
        "points",
        [
          marks("marks:5:0", [
            [205, "record", 10],
            [500, "wait", 4],
          ]),
        ],
      ],
    ],
    [flows("flows:0", [[205, 500, "record -> wait", 2, 2, 10, 4]])],
  );
}

async function loaded(source = sample()): Promise<Data> {
  const data = new Data(source.index, source.facts);
  await data.load(wireOf(source), [0, 1000], () => undefined, signal());
  return data;
}

test("what is looked at is asked for first, each part once", async () => {
  const source = sample();
  const asked: string[] = [];
  const data = new Data(source.index, source.facts);
  let parts = 0;
  await data.load(wireOf(source, asked), [580, 720], () => parts++, signal());
  assert.equal(asked[0], "bars:2:1");
  assert.equal(parts, 8);
  await data.load(wireOf(source, asked), [0, 1000], () => parts++, signal());
  assert.equal(asked.length, 8);
  assert.equal(new Set(asked).size, 8);
});

test("a second wish goes to the front while the first is on its way", async () => {
  const rows = Array.from({ length: 40 }, (_, n) =>
    spans(`bars:0:${n}`, [[n * 10, n * 10 + 5, "awake", 0, "awake", n]]),
  );
  const source = recording([[1, 0, "main", rows]]);
  const asked: string[] = [];
  const data = new Data(source.index, source.facts);
  const first = data.load(wireOf(source, asked), [0, 4], () => undefined, signal());
  const second = data.load(wireOf(source, asked), [390, 395], () => undefined, signal());
  await Promise.all([first, second]);
  assert.ok(asked.indexOf("bars:0:39") < 14, `asked as number ${asked.indexOf("bars:0:39")}`);
  assert.equal(asked.length, 40);
});

test("a range is complete when all parts that touch it are there", async () => {
  const source = sample();
  const data = new Data(source.index, source.facts);
  assert.equal(data.complete([600, 700]), false);
  assert.equal(data.complete([800, 900]), true);
  const going = data.load(wireOf(source, [], ["bars:0:0"]), [600, 700], () => undefined, signal());
  await assert.rejects(going, { message: "no bars:0:0" });
  assert.equal(data.complete([600, 700]), true);
  assert.equal(data.complete([0, 100]), false);
});

test("a row is an item in words; an unknown one is none", async () => {
  const data = await loaded();
  assert.deepEqual(data.item(["spans", 3]), {
    table: "spans",
    row: 3,
    lane: 2,
    sub: 1,
    start: 220,
    end: 260,
    style: "copy",
    kind: null,
    ubatch: null,
    name: "linear",
    op: null,
    layer: null,
  });
  assert.equal(data.item(["events", 1])?.kind, "barrier.arrive");
  assert.equal(data.item(["spans", 4])?.style, "waiting"); // the span, not the mark where it ends
  assert.equal(data.item(["spans", 999]), null);
  assert.equal(data.item(["spans", -1]), null);
});

test("going along a lane comes to every span, wait and mark once, there and back", async () => {
  const data = await loaded();
  const going = (from: ["spans" | "events", number]) => {
    const found = [];
    for (let item = data.item(from); item; item = data.neighbour(item, 1)) found.push(item);
    return found;
  };
  const stream = going(["spans", 1]);
  assert.deepEqual(
    stream.map((item) => item.row),
    [1, 10, 2, 3, 4, 5],
  );
  const thread = going(["spans", 50]);
  assert.deepEqual(
    thread.map((item) => [item.start, item.kind ?? item.style]),
    [
      [0, "awake"],
      [20, "host_event.set"],
      [100, "waiting"],
      [300, "awake"],
      [300, "barrier.arrive"],
      [300, "host_event.set"],
    ],
  );
  for (const all of [stream, thread]) {
    const back = [];
    for (let item: (typeof all)[0] | null = all[all.length - 1]; item; item = data.neighbour(item, -1))
      back.unshift(item);
    assert.deepEqual(back, all);
  }
});

test("the nearest of a lane is what is there at the moment, else what is least far", async () => {
  const data = await loaded();
  assert.equal(data.nearest(2, 230)?.row, 2);
  assert.equal(data.nearest(2, 540)?.row, 4);
  assert.equal(data.nearest(2, 590)?.row, 5);
  assert.equal(data.nearest(3, 10), null);
});

test("flows are known from both ends", async () => {
  const data = await loaded();
  assert.deepEqual(data.flowsOf(["spans", 4]).causes, [
    { kind: "record -> wait", row: ["spans", 10], ns: 205, lane: 2 },
  ]);
  assert.deepEqual(data.flowsOf(["spans", 10]).effects, [
    { kind: "record -> wait", row: ["spans", 4], ns: 500, lane: 2 },
  ]);
  assert.deepEqual(data.flowsOf(["events", 4]), { causes: [], effects: [] });
});

test("operations have their letters", async () => {
  const data = await loaded();
  assert.equal(data.shortOf("attention"), "A");
  assert.equal(data.shortOf("linear"), "L");
  assert.equal(data.numbered, false);
});
