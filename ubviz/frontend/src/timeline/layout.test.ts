import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf, middle, rowAt, rowOfLane } from "./layout";
import type { Index, Lane } from "./model";
import { LANES, recording } from "./samples";

const measure = (text: string) => 7 * text.length;

function indexOf(lanes: Lane[]): Index {
  return { ...recording([]).index, lanes };
}

test("threads are above streams, in the order of the index, and nothing lies over another", () => {
  const layout = layoutOf(indexOf(LANES), "wall", measure);
  assert.deepEqual(
    layout.titles.map((title) => title.text),
    ["CPU THREADS", "STREAMS"],
  );
  assert.deepEqual(
    layout.rows.map((row) => row.lane),
    [0, 1, 2, 3],
  );
  for (let i = 1; i < layout.rows.length; i++) assert.ok(layout.rows[i].top > layout.rows[i - 1].bottom + 8);
  for (const { y } of layout.titles) {
    assert.ok(layout.rows.every((row) => y + 6 <= row.top || y - 6 >= row.bottom));
  }
  assert.ok(layout.height > layout.rows[3].bottom + 6);
});

test("rows lie on whole pixels", () => {
  for (const order of ["wall", "logical"] as const) {
    for (const row of layoutOf(indexOf(LANES), order, measure).rows) {
      assert.ok([row.top, row.bottom, row.pitch].every(Number.isInteger));
    }
  }
});

test("a lane with sub-rows is as high as they are, in logical order it has one", () => {
  const wall = rowOfLane(layoutOf(indexOf(LANES), "wall", measure), 2)!;
  assert.equal(wall.bottom - wall.top, 2 * wall.half + wall.pitch);
  assert.equal(middle(wall, 1), wall.y + wall.pitch);
  assert.equal(middle(wall, 9), middle(wall, 1));
  assert.equal(rowOfLane(layoutOf(indexOf(LANES), "logical", measure), 2)!.subs, 1);
});

test("several ranks are named in the titles", () => {
  const lanes = [...LANES, ...LANES.map((lane) => ({ ...lane, rank: 1 }))];
  const titles = layoutOf(indexOf(lanes), "wall", measure).titles.map((title) => title.text);
  assert.deepEqual(titles, [
    "RANK 0 \u00b7 CPU THREADS",
    "RANK 0 \u00b7 STREAMS",
    "RANK 1 \u00b7 CPU THREADS",
    "RANK 1 \u00b7 STREAMS",
  ]);
});

test("many lanes make low rows, but none too low to be hit", () => {
  const lanes = Array.from({ length: 40 }, (_, i) => ({ ...LANES[i < 8 ? 0 : 3], name: `lane ${i}` }));
  const layout = layoutOf(indexOf(lanes), "wall", measure);
  const few = layoutOf(indexOf(LANES), "wall", measure);
  assert.ok(layout.rows[20].half < few.rows[3].half);
  assert.ok(layout.rows.every((row) => row.half >= 5));
});

test("the gutter holds the longest name; one that would leave no room is cut", () => {
  const long = [{ ...LANES[0], name: "a thread with a long name" }];
  const layout = layoutOf(indexOf(long), "wall", measure);
  assert.equal(layout.rows[0].name, long[0].name);
  assert.ok(layout.gutter >= 7 * long[0].name.length + 20);
  const longer = layoutOf(indexOf([{ ...LANES[0], name: "x".repeat(10_000) }]), "wall", measure);
  assert.match(longer.rows[0].name, /^x{10,40}\u2026$/);
  assert.ok(longer.gutter < 240);
});

test("a height belongs to the row there, else to the nearest within reach", () => {
  const layout = layoutOf(indexOf(LANES), "wall", measure);
  const stream = layout.rows[2];
  assert.deepEqual(rowAt(layout, middle(stream, 1), 0), { row: stream, sub: 1 });
  assert.equal(rowAt(layout, stream.top - 2, 3)?.row, stream);
  assert.equal(rowAt(layout, stream.top - 5, 3), null);
});

test("pinned lanes come first in their order, hidden ones not at all, and the last one stays", () => {
  const lanes = (pinned: number[], hidden: number[]) =>
    layoutOf(indexOf(LANES), "wall", measure, { pinned, hidden, arranged: [] });
  const made = lanes([3, 1, 77], [0]);
  assert.deepEqual(made.rows.map((row) => row.lane), [3, 1, 2]);
  assert.deepEqual(made.titles.map((title) => title.text), ["PINNED", "STREAMS"]);
  assert.deepEqual(lanes([3], [3]).rows.map((row) => row.lane), [0, 1, 2]);
  assert.deepEqual(lanes([], [0, 1, 2, 3]).rows.map((row) => row.lane), [0, 1, 2, 3]);
  for (let i = 1; i < made.rows.length; i++) assert.ok(made.rows[i]!.top > made.rows[i - 1]!.bottom + 8);
});

test("lanes that are given an order come first among their kind, and no farther", () => {
  const lanes = (arranged: number[], pinned: number[] = []) =>
    layoutOf(indexOf(LANES), "wall", measure, { pinned, hidden: [], arranged });
  const kinds = [0, 1, 2, 3].map((lane) => LANES[lane]!.group === "threads");
  assert.deepEqual(kinds, [true, true, false, false]);
  assert.deepEqual(lanes([3, 1, 77]).rows.map((row) => row.lane), [1, 0, 3, 2]);
  assert.deepEqual(lanes([3, 1]).titles.map((title) => title.text), ["CPU THREADS", "STREAMS"]);
  assert.deepEqual(lanes([1, 0], [2]).rows.map((row) => row.lane), [2, 1, 0, 3]);
});
