import assert from "node:assert/strict";
import test from "node:test";
import { partiesWords, place, within, type Run } from "./run";

const run = { steps: [1, 2, 3].map(() => ({ says: "", here: [], opened: false, flags: [], stands: [] })), hangs: false, report: "" } as Run;

test("a step beyond the end is the end", () => {
  assert.deepEqual([-1, 0, 2, 3, 99, Number.NaN].map((at) => within(run, at)), [0, 0, 2, 2, 2, 0]);
});

test("parties are held against the threads that come", () => {
  assert.equal(partiesWords(3, 4), "3 microbatches and main");
  assert.equal(partiesWords(3, 3), "it opens for 3, and 4 come");
  assert.equal(partiesWords(3, 5), "4 come: it never opens");
});

test("the first stands at the top, the others follow clockwise", () => {
  assert.deepEqual(place(0, 4, 100, 50).map(Math.round), [100, 50]);
  assert.deepEqual(place(1, 4, 100, 50).map(Math.round), [150, 100]);
});
