import assert from "node:assert/strict";
import { test } from "node:test";
import { small } from "./samples";
import { Walk } from "./walk";

test("who cannot go on is not chosen", () => {
  const walk = new Walk(small());
  assert.ok(walk.choose(0));
  assert.ok(!walk.choose(0));
  assert.equal(walk.schedule, "0");
});

test("what was taken back stays ahead until another thread is chosen", () => {
  const walk = new Walk(small());
  for (const thread of [1, 0, 1]) walk.choose(thread);
  walk.go(0);
  assert.deepEqual([walk.schedule, walk.threads], ["", [1, 0, 1]]);
  walk.choose(1);
  assert.deepEqual(walk.threads, [1, 0, 1]);
  walk.go(0);
  walk.choose(0);
  assert.deepEqual(walk.threads, [0]);
});

test("to go before the beginning or past the end goes there", () => {
  const walk = new Walk(small());
  walk.choose(1);
  walk.go(-1);
  assert.equal(walk.at, 0);
  walk.go(9);
  assert.equal(walk.at, 1);
});

test("each schedule that was tried is kept once, as far as it went", () => {
  const walk = new Walk(small());
  for (const thread of [0, 1]) walk.choose(thread);
  walk.go(0);
  for (const thread of [1, 0]) walk.choose(thread);
  walk.go(1);
  assert.deepEqual(walk.tried, [[0, 1], [1, 0]]);
  walk.open([1, 0, 1, 0]);
  assert.deepEqual(walk.tried, [[0, 1], [1, 0, 1, 0]]);
});

test("opening a beginning of the present choices keeps the rest ahead", () => {
  const walk = new Walk(small());
  walk.open([1, 0, 1]);
  walk.open([1]);
  assert.deepEqual([walk.at, walk.threads], [1, [1, 0, 1]]);
  walk.open([0]);
  assert.deepEqual([walk.at, walk.threads], [1, [0]]);
});
