import assert from "node:assert/strict";
import { test } from "node:test";
import { small } from "./samples";
import { chipWords, couldHaveSet, counted, happened, listed, standOf } from "./words";

const game = small();
const stand = (node: number, thread: number) => {
  const { standing, doing, why } = standOf(game, game.nodes[node], thread);
  return [standing, doing, why];
};

test("what a thread is about to do, and what that does to the others", () => {
  assert.deepEqual(stand(0, 0), ["able", "set flag[1]", "nobody sleeps on it: the flag stays up"]);
  assert.deepEqual(stand(0, 1), ["able", "clear flag[1]", "it is down already: nothing changes"]);
  assert.deepEqual(stand(1, 1), ["able", "clear flag[1]", "it is up: the flag goes down"]);
  assert.deepEqual(stand(2, 0), ["able", "set flag[1]", "wakes ubatch 1"]);
  assert.deepEqual(stand(3, 1), ["able", "go on", "flag[1] is up: the wait is over"]);
});

test("why a thread cannot go on, and who could change that", () => {
  assert.deepEqual(stand(2, 1), ["waits", "waits for flag[1]", "it is down; main sets it"]);
  assert.deepEqual(stand(4, 0), ["waits", "waits for ubatch 1 to end", "it has not ended"]);
  assert.deepEqual(stand(6, 1), ["ended", "has ended", ""]);
  assert.equal(couldHaveSet(game, game.nodes[4], 1, "flag[1]"), "main could have set it, but waits");
  assert.equal(couldHaveSet(game, game.nodes[6], 1, "flag[1]"), "main could have set it, but has ended");
  assert.equal(couldHaveSet(game, game.nodes[4], 0, "other"), "nobody else ever sets it");
});

test("of several who could have set it, it is said how each stands", () => {
  const three = { ...small(), threads: ["main", "ubatch 1", "ubatch 0"] };
  three.nodes = [{ ...three.nodes[0], acts: [0, 2, 0], able: [0, 1, 2], next: [1, 2, 3] },
    { ...three.nodes[4], acts: [1, 3, -1] }, { ...three.nodes[4], acts: [1, 3, 1] }];
  const said = (node: number) => couldHaveSet(three, three.nodes[node], 1, "flag[1]");
  assert.equal(said(1), "main and ubatch 0 could have set it, but main waits and ubatch 0 has ended");
  assert.equal(said(2), "main and ubatch 0 could have set it, but wait");
});

test("a set that wakes nobody because the flag is up already says so", () => {
  const twice = small();
  twice.nodes[0].flags = [1];
  assert.equal(standOf(twice, twice.nodes[0], 0).why, "it is up already: one more set changes nothing");
});

test("what happened, as a sentence and as a chip", () => {
  assert.equal(happened(game, game.nodes[0], 0), "main set flag[1]");
  assert.equal(chipWords(game, game.nodes[0], 0), "set [1]");
  assert.equal(chipWords(game, game.nodes[5], 0), "join 1");
});

test("kinds that nobody knows keep the words that came with them", () => {
  const other = small();
  other.acts[0] = { kind: "kernel.launch", object: "attention", words: "launch attention", at: null, caller: null };
  assert.equal(standOf(other, other.nodes[0], 0).doing, "launch attention");
  assert.equal(happened(other, other.nodes[0], 0), "main: launch attention");
  assert.equal(chipWords(other, other.nodes[0], 0), "launch");
});

test("names are listed, and what could hide in one is seen", () => {
  assert.equal(listed([], "or"), "nobody");
  assert.equal(listed(["main"], "or"), "main");
  assert.equal(listed(["main", "ubatch 0", "a\u202eb"], "and"), "main, ubatch 0 and a\\u202eb");
});

test("things are counted; of a very large number only its size is told", () => {
  assert.deepEqual([counted(1, "choice"), counted(1890, "schedule")], ["1 choice", "1,890 schedules"]);
  assert.equal(counted(1467934052014584000, "schedule"), "about 1.5 × 10^18 schedules");
});
