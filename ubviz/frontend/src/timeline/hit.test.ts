import assert from "node:assert/strict";
import { test } from "node:test";
import { Data } from "./data";
import type { Picture } from "./draw";
import { hitLogical, hitWall } from "./hit";
import { layoutOf, middle, rowOfLane } from "./layout";
import { columnScale } from "./logical";
import type { Logical } from "./model";
import { flows, marks, recording, spans } from "./samples";
import { Scale } from "../base/scale";
import { LIGHT } from "../base/theme";

const measure = (text: string) => 7 * text.length;
const canvas = {
  ownerDocument: {
    createElement: () => ({
      getContext: () => ({ measureText: (text: string) => ({ width: measure(text) }) }),
    }),
  },
};

/** One pixel is one nanosecond; x = gutter + t. */
async function picture(range: [number, number] = [0, 1000]): Promise<Picture> {
  const source = recording(
    [
      [
        1,
        0,
        "main",
        [
          spans("bars:0:0", [
            [0, 100, "awake", 0, "awake", 50],
            [100, 300, "device", 0, "awake", 51],
            [300, 600, "waiting", 0, "waits for its turn", 52],
          ]),
        ],
      ],
      [1, 0, "inner", [spans("bars:1:0", [[40, 290, "operation", 0, "experts", 60]])]],
      [
        1,
        0,
        "events",
        [
          marks("marks:2:0", [
            [60, "barrier.arrive", 1],
            [500, "host_event.set", 2],
          ]),
        ],
      ],
      [
        2,
        0,
        "main",
        [
          spans("bars:3:0", [
            [100, 200, "compute", 0, "attention", 1, true],
            [800, 801, "compute", 0, "linear", 6, true],
          ]),
        ],
      ],
      [2, 1, "main", [spans("bars:4:0", [[150, 160, "copy", null, "linear", 3, true]])]],
      [2, 0, "points", [marks("marks:5:0", [[200, "record", 10]])]],
      [3, 0, "waits", [spans("bars:6:0", [[150, 260, "waiting", 0, "compute_done[0]", 4]])]],
      [3, 0, "points", [marks("marks:7:0", [[260, "wait", 4]])]],
    ],
    [flows("flows:0", [[200, 260, "record -> wait", 2, 3, 10, 4]])],
  );
  const data = new Data(source.index, source.facts);
  const wire = {
    get: async (key: string) => source.blocks.get(key)!,
    json: async () => ({}) as never,
    join: () => undefined,
    pending: () => 0,
  };
  await data.load(wire, [0, 1000], () => undefined, new AbortController().signal);
  const layout = layoutOf(source.index, "wall", measure);
  return {
    ctx: { canvas } as unknown as CanvasRenderingContext2D,
    data,
    layout,
    palette: LIGHT,
    scale: new Scale(range, layout.gutter, layout.gutter + 1000),
    width: layout.gutter + 1014,
    height: layout.height,
    dpr: 1,
  };
}

/** What is at a moment on a lane; `up`: pixels above its middle. */
function at(p: Picture, lane: number, t: number, up = 0, sub = 0): string {
  const item = hitWall(p, p.scale.x(t), middle(rowOfLane(p.layout, lane)!, sub) - up);
  return item ? `${item.table} ${item.row} ${item.kind ?? item.style}` : "nothing";
}

test("a mark wins over the bar on which it lies", async () => {
  const p = await picture();
  assert.equal(at(p, 1, 63), "events 1 barrier.arrive");
  assert.equal(at(p, 1, 66), "spans 60 operation");
  const row = rowOfLane(p.layout, 2)!;
  assert.equal(at(p, 2, 198, row.y - row.bottom), "spans 10 record"); // at the edge that faces the stream that waits
  assert.equal(at(p, 2, 190, 0), "spans 1 compute");
});

test("within an awake bar it is the operation, else the bar", async () => {
  const p = await picture();
  assert.equal(at(p, 1, 20), "spans 50 awake");
  assert.equal(at(p, 1, 80), "spans 60 operation");
  assert.equal(at(p, 1, 200), "spans 51 device");
  assert.equal(at(p, 1, 450), "spans 52 waiting");
});

test("sub-rows are told apart", async () => {
  const p = await picture();
  assert.equal(at(p, 2, 155, 0, 0), "spans 1 compute");
  assert.equal(at(p, 2, 155, 0, 1), "spans 3 copy");
  assert.equal(at(p, 2, 190, 0, 1), "nothing");
});

test("a stream's wait is its line, and the diamond where it ends the same row", async () => {
  const p = await picture();
  assert.equal(at(p, 3, 200), "spans 4 waiting");
  const row = rowOfLane(p.layout, 3)!;
  assert.equal(at(p, 3, 262, row.y - row.top), "spans 4 wait");
});

test("what is narrower than a pixel is found from a little aside, and no further", async () => {
  const p = await picture([0, 1000]);
  assert.equal(at(p, 2, 803.5), "spans 6 compute");
  assert.equal(at(p, 2, 797.5), "spans 6 compute");
  assert.equal(at(p, 2, 805), "nothing");
});

test("trace events are there to be hit where they are drawn: above their thread", async () => {
  const p = await picture();
  assert.equal(at(p, 1, 500, 14), "events 2 host_event.set");
  assert.equal(at(p, 1, 507, 14), "nothing");
});

test("beside the plot and between the lanes there is nothing", async () => {
  const p = await picture();
  const row = rowOfLane(p.layout, 2)!;
  assert.equal(hitWall(p, p.scale.left - 20, row.y), null);
  assert.equal(hitWall(p, p.scale.x(150), row.bottom + 6 + row.half), null);
});

test("in logical order a chip, a mark, and the dot of a launch are hit", async () => {
  const p = await picture();
  const logical: Logical = {
    row: [1, 2],
    lane: [1, 2],
    thread: [1, 1],
    sign: ["ring", "launch"],
    text: ["1 of 2", "attention"],
    cls: ["compute", "compute"],
    ubatch: [0, 0],
    t: [60, 500],
    stretches: [],
    arrows: [],
  };
  const scale = columnScale(logical, p.layout, [0, 2], p.scale.right, measure);
  const hit = (column: number, lane: number, aside = 0) =>
    hitLogical(p, logical, [0, 2], scale.x(column + 0.5) + aside, rowOfLane(p.layout, lane)!.y)?.row ?? null;
  assert.equal(hit(0, 1), 1);
  assert.equal(hit(1, 2), 2);
  assert.equal(hit(1, 1), 2);
  assert.equal(hit(1, 2, scale.half(1) + 2), null);
  assert.equal(hit(0, 2), null);
});
