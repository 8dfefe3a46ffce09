import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlowEnd, Item } from "./data";
import {
  argumentFields, columnFields, firstFields, flowWords, follow, rowKey, valueWords,
} from "./fields";
import type { Index } from "./model";

const lanes = [
  { name: "ubatch 0", group: "threads", rank: 0, ubatch: 0, subs: 1 },
  { name: "compute", group: "streams", rank: 0, ubatch: null, subs: 1 },
];
const index = { origin_ns: 1_000_000_000, lanes } as unknown as Index;
const kernel: Item = {
  table: "spans", row: 1030, lane: 1, sub: 0, start: 1_012_300_000, end: 1_020_100_000, style: "compute",
  kind: null, ubatch: 0, name: "linear", op: "attention", layer: 2,
};

test("the first fields need no kernel", () => {
  assert.deepEqual(firstFields(kernel, index), [
    ["lane", "compute"], ["operation", "attention"], ["microbatch", "0"],
    ["layer", "2"], ["begins", "12.3 ms"], ["ends", "20.1 ms"], ["lasts", "7.8 ms"],
  ]);
});

test("a mark has one moment; several ranks are told apart", () => {
  const mark: Item = {
    ...kernel, table: "events", kind: "ctx.yield", style: null, op: null, layer: null, end: kernel.start,
  };
  const two = { ...index, lanes: [lanes[0], { ...lanes[1], rank: 1 }] } as Index;
  assert.deepEqual(firstFields(mark, two), [
    ["lane", "compute"], ["rank", "1"], ["microbatch", "0"], ["at", "12.3 ms"],
  ]);
});

test("a name that the heading cuts stands in full among the fields", () => {
  const name = "long\u202e ".repeat(2000);
  assert.deepEqual(firstFields({ ...kernel, name }, index)[0], ["name", "long\\u202e ".repeat(2000)]);
});

test("a row is found in its block", () => {
  assert.deepEqual(rowKey(["spans", 1030], 1024), ["rows:spans:1", 6]);
  assert.deepEqual(rowKey(["events", 0], 1024), ["rows:events:0", 0]);
});

test("every argument of a row becomes a field, and every column that was not said", () => {
  const row = {
    seq: 651, t_ns: 100, until_ns: 848_253, rank: 0, step: 8, thread: 1, ubatch: 0, lane: 1,
    kind: "barrier.arrive", site: "a.py:1", caller: null,
    args: { barrier: "ready", n: 1, reads: [], writes: [3, 4], host_wait: false, name: null },
  };
  assert.deepEqual(argumentFields(row), [
    ["blocks for", "848 \u00b5s"], ["barrier", "ready"], ["n", "1"], ["reads", "none"], ["writes", "3, 4"],
    ["host_wait", "no"], ["name", "none"],
  ]);
  assert.deepEqual(columnFields(kernel, row), [
    ["row", "1030 of spans"], ["trace event", "651"], ["step", "8"], ["thread", "1"],
    ["kind", "barrier.arrive"],
  ]);
});

test("a row without arguments has none", () => {
  assert.deepEqual(argumentFields({ start_ns: 1 }), []);
});

test("values of any shape are written, controls as escapes", () => {
  assert.equal(valueWords({ a: [1, { b: "\u202e" }] }), '{"a":[1,{"b":"\\u202e"}]}');
  assert.equal(valueWords("two\nlines"), "two\\nlines");
  assert.equal(valueWords(1e-7), "1e-7");
});

const end = (ns: number): FlowEnd => ({ kind: "set -> wake", row: ["events", ns], ns, lane: 0 });

test("a flow's button says where it leads", () => {
  const words = (way: "causes" | "effects", ns: number, other: Item | null) =>
    flowWords(way, end(ns), other, index);
  assert.equal(words("causes", 1_003_200_000, null), "caused by set -> wake on ubatch 0, at 3.2 ms");
  assert.equal(words("effects", 1_013_000_000, kernel), "leads to linear on ubatch 0, at 13 ms");
});

test("of several causes the last is followed, of several effects the first", () => {
  assert.equal(follow("causes", [end(3), end(9), end(5)])?.ns, 9);
  assert.equal(follow("effects", [end(7), end(4), end(5)])?.ns, 4);
  assert.equal(follow("effects", []), null);
});
