import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "./data";
import { moment } from "../base/format";
import type { Index } from "./model";
import { cut, visible } from "../base/visible";
import { belongsTo, nameOf, sentence, sortOf, timesOf, waitOf } from "./words";

const index = {
  origin_ns: 1_000_000_000,
  lanes: [{ name: "main", group: "threads", rank: 0, ubatch: null, subs: 1 },
    { name: "compute", group: "streams", rank: 0, ubatch: null, subs: 1 }],
} as unknown as Index;

const item = (more: Partial<Item> = {}): Item => ({
  table: "spans", row: 7, lane: 1, sub: 0, start: 1_012_300_000, end: 1_020_100_000, style: "compute",
  kind: null, ubatch: 0, name: "attention", op: "attention", layer: 2, ...more,
});

test("a kernel in a sentence", () => {
  assert.equal(
    sentence(item(), index),
    "attention, microbatch 0, layer 2, on compute, 12.3 ms to 20.1 ms, 7.8 ms",
  );
  assert.equal(
    sentence(item({ name: "linear", layer: null }), index),
    "linear, attention, microbatch 0, on compute, 12.3 ms to 20.1 ms, 7.8 ms",
  );
});

test("names that every object has are names like others", () => {
  const of = (name: string) => ({ table: "spans", kind: null, style: "waiting", name }) as Item;
  for (const name of ["__proto__", "constructor"]) assert.equal(nameOf(of(name)), `waits for ${name}`);
  assert.equal(sortOf({ ...of("x"), kind: "toString" }), "trace event toString");
});

test("a mark in a sentence has one moment", () => {
  const mark = item({ table: "events", kind: "host_event.set", style: null, name: "set 0", op: null,
    layer: null, ubatch: null, lane: 0, start: 1_000_004_217, end: 1_000_004_217 });
  assert.equal(sentence(mark, index), "set 0, host_event.set, on main, at 4 µs");
  assert.equal(sortOf(mark), "trace event host_event.set");
  assert.equal(sentence({ ...mark, kind: "mark", name: "" }, index), "mark, on main, at 4 µs");
});

test("a stream that waits says for which event, a thread in which call", () => {
  const wait = item({ style: "waiting", name: "compute_done[0]", op: null });
  assert.equal(nameOf(wait), "waits for compute_done[0]");
  assert.equal(waitOf(item({ style: "waiting", name: "barrier.arrive" })), "waits at the barrier");
  assert.equal(waitOf(item({ style: "waiting", name: "waits for its turn" })), "waits for its turn");
  const launch = item({ style: "device", name: "kernel.launch", op: "dispatch" });
  assert.equal(waitOf(launch), "blocked in dispatch");
  assert.equal(waitOf(item()), null);
});

test("marks on streams have words of their own", () => {
  const record = item({ kind: "record", style: null, name: "compute_done[0]" });
  assert.equal(nameOf(record), "record of compute_done[0]");
  assert.equal(sortOf(record), "event recorded");
  assert.equal(nameOf({ ...record, kind: "wait" }), "end of the wait for compute_done[0]");
  assert.equal(nameOf({ ...record, kind: "ctx.exit", name: "" }), "ctx.exit");
});

test("a trace event goes by the words on its mark", () => {
  const mark = (kind: string, name: string) =>
    nameOf(item({ table: "events", style: null, op: null, kind, name }));
  assert.equal(mark("kernel.launch", "experts"), "launch of experts");
  assert.equal(mark("barrier.arrive", "2 of 3"), "arrives, 2 of 3");
  assert.equal(mark("ctx.yield", "yields"), "yields");
  assert.equal(mark("collective", ""), "collective");
});

test("an operation is not said twice", () => {
  assert.deepEqual(belongsTo(item()), ["microbatch 0", "layer 2"]);
  assert.deepEqual(belongsTo(item({ op: null, ubatch: null, layer: null })), []);
});

test("moments are as exact as what they bound", () => {
  assert.equal(moment(12_345_678, 780_000), "12.3 ms");
  assert.equal(moment(12_345_678, 100), "12.3457 ms");
  assert.equal(moment(1_083_492_211, 13_000), "1.08349 s");
  assert.equal(moment(-2_500, 100), "-2.5 µs");
  assert.equal(moment(0, 1), "0 ns");
  assert.equal(timesOf(item({ start: 1_000_000_040, end: 1_000_000_063 }), index), "40 ns to 63 ns, 23 ns");
});

test("what cannot be seen is written out", () => {
  assert.equal(
    visible("a\u0000b\u202ec\nd\te\ud800f\u200bg\u0085"),
    "a\\x00b\\u202ec\\nd\\te\\ud800f\\u200bg\\x85",
  );
  assert.equal(visible("  one\n\ttwo\u202e", "\n\t"), "  one\n\ttwo\\u202e");
  assert.equal(visible("<b>größe 微批 🙂</b>"), "<b>größe 微批 🙂</b>");
});

test("long names end in an ellipsis, whole characters only", () => {
  assert.equal(cut("attention", 9), "attention");
  assert.equal(cut("attention", 6), "atten…");
  assert.equal(cut("🙂".repeat(10), 4), "🙂🙂🙂…");
  assert.equal(cut("x".repeat(10_000), 80).length, 80);
});
