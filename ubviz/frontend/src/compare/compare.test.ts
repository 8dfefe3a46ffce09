import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, dataOf, keyOf, later, longer, numberOf, sorted, type Block, type Data } from "./data";
import { nearest } from "./hit";
import { along, commandOf } from "./keys";
import { layoutOf, rowAt, rowOf } from "./layout";
import type { Index, LaneData, TrackData } from "./model";
import { shortsOf } from "./short";
import { againWords, figuresOf, nameWords, operationWords, signed } from "./words";

const INDEX: Index = {
  first: [], title: null, label: "two", align: "ubatch", names: ["before", "after"], steps: [0, 3],
  totals: { makespan_ns: [400, 600], overlap_ratio: [0.5, null], overlap_ns: [0, 0], transfer_ns: [null, null] },
  styles: ["awake", "device", "waiting", "compute", "comm"], notices: [],
};

function track(t: number[], dur: number[], op: number[], more: Partial<TrackData> = {}): TrackData {
  const each = (value: number) => t.map(() => value);
  return { layer: "main", sub: 0, t, dur, op, style: each(3), ubatch: each(0), label: each(0), ...more };
}

const stream = (id: number, name: string, ...tracks: TrackData[]): LaneData => ({ id, name, group: "streams", rank: 0, tracks });
const thread: LaneData = { id: 0, name: "main", group: "threads", rank: 0, tracks: [track([-20], [500], [-1])] };

function dataOfTwo(ranks: (number | null)[] = [null, null, null, null]): Data {
  const table = {
    names: ["experts", "attention"], name: [1, 0, 0, 1], ubatch: [0, 0, 1, null], layer: [0, 0, 0, null], occurrence: [0, 0, 0, 1],
    rank: ranks,
    a: [[0, 100, 100, 3], [100, 200, 90, 3], [200, 300, 100, 3], null] as never,
    b: [[0, 100, 100, 3], [150, 290, 120, 3], [290, 400, 100, 4], [400, 450, 50, 3]] as never,
  };
  const side = (end: number) => ({
    lanes: [thread, stream(3, "compute", track([0, 100, end], [100, 100, 50], [0, 1, 3]), track([0], [9], [-1], { sub: 1 })),
      stream(4, "comm", track([200], [100], [2]))],
    names: ["k"],
  });
  return dataOf(INDEX, table, [side(250), side(400)]);
}

test("the picture reaches from the first to the last that is drawn, also where it began before its step", () => {
  assert.deepEqual(dataOfTwo().extent, [-20, 480]);
});

test("neighbours of one operation are one block; those of none are not", () => {
  const blocks = blocksOf(track([0, 10, 20, 30, 40], [5, 5, 5, 5, 5], [7, 7, 8, -1, -1]), INDEX.styles, ["k"]);
  assert.deepEqual(blocks.map(({ t, end, from, to, op }) => [t, end, from, to, op]),
    [[0, 15, 0, 2, 7], [20, 25, 2, 3, 8], [30, 35, 3, 4, -1], [40, 45, 4, 5, -1]]);
  const styles = blocksOf(track([0, 10], [5, 5], [7, 7], { style: [3, 4] }), INDEX.styles, ["k"]);
  assert.deepEqual(styles.map(({ style }) => style), ["compute", "comm"]);
});

test("a key from Python finds its operation, and nothing else does", () => {
  const { operations } = dataOfTwo();
  operations.forEach((operation, i) => assert.equal(numberOf(operations, keyOf(operation)), i));
  for (const key of [null, undefined, "x", [], [0, 0, "experts", 1], [null, 0, "experts", 0]]) {
    assert.equal(numberOf(operations, key), null);
  }
});

test("ranks are told apart where there are several, and are no part of a name where there are not", () => {
  const { operations } = dataOfTwo([1, 0, 1, 0]);
  assert.deepEqual(keyOf(operations[0]!), [0, 0, "attention", 0, 1]);
  operations.forEach((operation, i) => assert.equal(numberOf(operations, keyOf(operation)), i));
  assert.equal(numberOf(operations, [0, 0, "attention", 0]), null);
  assert.deepEqual(operations.map(nameWords), ["attention, rank 1, microbatch 0, layer 0", "experts, rank 0, microbatch 0, layer 0",
    "experts, rank 1, microbatch 1, layer 0", "attention, rank 0, 2nd time"]);
});

test("differences are b less a; what only one has counts whole, and starts nowhere else", () => {
  const { operations } = dataOfTwo();
  assert.deepEqual(operations.map(longer), [0, 30, 0, 50]);
  assert.deepEqual(operations.map(later), [0, 50, 90, 0]);
});

test("each order is one of all operations, and equals stay in order of time", () => {
  const { operations } = dataOfTwo();
  assert.deepEqual(sorted(operations, "time"), [0, 1, 2, 3]);
  assert.deepEqual(sorted(operations, "difference"), [3, 1, 0, 2]);
  assert.deepEqual(sorted(operations, "start"), [2, 1, 0, 3]);
  assert.deepEqual(sorted(operations, "name"), [3, 0, 1, 2]);
});

test("an operation is said with both durations, both offsets and the difference", () => {
  const [same, longerOne, , lone] = dataOfTwo().operations;
  assert.equal(operationWords(longerOne!, INDEX.names), "experts, microbatch 0, layer 0: in before 90 ns from 100 ns on, "
    + "in after 120 ns from 150 ns on; after runs 30 ns longer and begins 50 ns later.");
  assert.equal(operationWords(same!, INDEX.names), "attention, microbatch 0, layer 0: in before 100 ns from 0 ns on, "
    + "in after 100 ns from 0 ns on; after runs as long and begins as soon.");
  assert.equal(operationWords(lone!, INDEX.names), "attention, 2nd time: only in after, 50 ns from 400 ns on.");
});

test("names of what is odd stay on their line and are cut", () => {
  const operation = { name: `a\n${"\u202e"}b${"x".repeat(99)}`, ubatch: null, layer: null, occurrence: 0, rank: null, parts: [null, null] as [null, null] };
  const words = nameWords(operation);
  assert.ok(words.startsWith("a \\u202eb"), words);
  assert.ok(words.length <= 60);
});

test("numbers of both: left out is what neither has, and unknown is said", () => {
  assert.deepEqual(figuresOf(INDEX), [
    { label: "Makespan", both: "400 ns \u2192 600 ns", beside: "200 ns longer, 1.5 times as long" },
    { label: "Communication hidden", both: "50 % \u2192 unknown", beside: "" },
  ]);
  assert.equal(figuresOf({ ...INDEX, totals: { makespan_ns: [600, 400] } })[0]!.beside, "200 ns sooner, 1.5 times as fast");
  assert.equal(figuresOf({ ...INDEX, totals: { overlap_ratio: [0.999, 0] } })[0]!.both, "99 % \u2192 0 %");
  assert.equal(figuresOf({ ...INDEX, totals: { overlap_ratio: [0.9999, 0.9998] } })[0]!.beside, "all but the same");
  assert.equal(figuresOf({ ...INDEX, totals: { makespan_ns: [10_000, 10_001] } })[0]!.beside, "1 ns longer");
});

test("signs and counts", () => {
  assert.deepEqual([0, 1500, -1500].map(signed), ["0", "+1.5 \u00b5s", "\u22121.5 \u00b5s"]);
  assert.deepEqual([1, 2, 3, 10, 20, 111].map(againWords), ["2nd time", "3rd time", "4th time", "11th time", "21st time", "112th time"]);
});

test("lanes lie one below another, each with room for all that overlaps, b below a", () => {
  const data = dataOfTwo();
  const layout = layoutOf(data);
  layout.rows.slice(1).forEach((row, i) => assert.ok(row.top >= layout.rows[i]!.bottom));
  assert.deepEqual(layout.rows.map(({ bottom, top, high }) => (bottom - top) / high), [1, 2, 1, 1, 2, 1]);
  assert.ok(layout.between > layout.rows[2]!.bottom && layout.between < layout.rows[3]!.top);
  assert.ok(layout.height > layout.rows.at(-1)!.bottom);
  for (const row of layout.rows) assert.equal(rowAt(layout, (row.top + row.bottom) / 2), row);
  assert.equal(rowAt(layout, layout.between), null);
  assert.equal(rowOf(layout, 1, 4)!.name, "comm");
});

test("under the pointer is the block there, or the nearest one", () => {
  const block = (t: number, end: number, op: number): Block => ({ t, end, op, from: 0, to: 1, ubatch: 0, style: "compute", label: "" });
  const blocks = [block(0, 10, 0), block(20, 30, 1), block(40, 41, -1)];
  assert.deepEqual([5, 11, 19, 15, 30, 40, -1].map((at) => nearest(blocks, at, 2)), [0, 0, 1, null, 1, null, 0]);
  assert.equal(nearest([], 5, 2), null);
});

test("keys walk along operations and stop at the ends", () => {
  assert.deepEqual([along([4, 2, 7], null, 1), along([4, 2, 7], null, -1), along([4, 2, 7], 2, 1), along([4, 2, 7], 7, 1),
    along([4, 2, 7], 4, -1), along([], null, 1)], [4, 7, 7, 7, 4, null]);
  const press = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
  assert.equal(commandOf({ ...press, key: "W" }), "zoom in");
  assert.equal(commandOf({ ...press, key: "ArrowDown" }), "row below");
  assert.equal(commandOf({ ...press, key: "c", ctrlKey: true }), null);
  assert.equal(commandOf({ ...press, key: "Tab" }), null);
  assert.equal(commandOf({ ...press, key: "constructor" }), null);
});

test("letters stand for one name each", () => {
  assert.deepEqual([...shortsOf(["attention", "combine", "copy", "", "attention", "co"])],
    [["attention", "A"], ["combine", "Com"], ["copy", "Cop"], ["co", "Co"]]);
  const shorts = [...shortsOf(["ab", "abc", "b"]).values()];
  assert.equal(new Set(shorts).size, 3);
});
