import assert from "node:assert/strict";
import { test } from "node:test";
import { small } from "./samples";
import { opened, read, walked, written } from "./schedule";

test("a replay string is read as it was written", () => {
  for (const threads of [[], [0], [0, 0, 0, 1, 2, 2], [10, 10, 3]]) {
    assert.deepEqual(read(written(threads, "")), threads);
  }
  assert.equal(written([0, 0, 0, 1, 2, 2], ""), "0x3.1.2x2");
  assert.equal(written([], "look:"), "look:");
});

test("what is no replay string is refused with a sentence", () => {
  assert.throws(() => read("0.two"), { message: "Part 2 of the replay string, “two”, is no thread number like 2 or 2x14." });
  assert.throws(() => read("0x999999999"), { message: "The replay string makes more than 100000 choices." });
});

test("choices are followed through the states; who cannot go on is named", () => {
  assert.deepEqual(walked(small(), [1, 0, 1, 0]), [0, 2, 3, 5, 6]);
  assert.throws(() => walked(small(), [0, 0]), /^Error: Choice 2 of the replay string lets main go on, which cannot/);
  assert.throws(() => walked(small(), [7]), /lets thread 7 go on/);
});

test("a replay string of a program with looks begins so, and no other does", () => {
  const looks = { ...small(), prefix: "look:" };
  assert.deepEqual(opened(looks, " look:1.0 ").threads, [1, 0]);
  assert.deepEqual(opened(looks, "").threads, []);
  assert.throws(() => opened(looks, "1.0"), { message: "A replay string of this program begins with “look:”." });
  assert.throws(() => opened(small(), "look:1"), { message: "A replay string of this program does not begin with “look:”." });
});
