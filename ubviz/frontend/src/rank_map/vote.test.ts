import assert from "node:assert/strict";
import test from "node:test";
import { agreement, soundValues } from "./vote";

const asked = (tokens: number[], threshold: number, more = {}) =>
  agreement(soundValues({ tokens, threshold, ubatches: 2, ...more }));

test("all are large enough: all pad to the largest", () => {
  const { should_ubatch, num_tokens, cuts } = asked([600, 640], 512);
  assert.deepEqual([should_ubatch, num_tokens, cuts], [true, [640, 640], [320]]);
});

test("one no is a no for all, and nobody pads", () => {
  const { should_ubatch, num_tokens, why } = asked([600, 100], 512);
  assert.deepEqual([should_ubatch, num_tokens], [false, [600, 100]]);
  assert.equal(why, "rank 1 voted no: its 100 tokens are below the prefill threshold of 512");
});

test("an empty last microbatch is found after the vote", () => {
  const { votes, should_ubatch, empty, why } = asked([80, 160], 32);
  assert.deepEqual([votes, should_ubatch, empty], [[true, true], false, 0]);
  assert.match(why, /it has 80 tokens, and of 160 the last microbatch begins at token 80$/);
});

test("a rank that may not is a no", () => {
  assert.match(asked([600, 640], 512, { allowed: [true, false] }).why, /^rank 1 voted no: its caller did not allow/);
});

test("what cannot be shown is made to fit", () => {
  assert.deepEqual(soundValues(null), { tokens: [600, 640], allowed: [true, true], threshold: 512, ubatches: 2 });
  assert.deepEqual(soundValues({ tokens: [-4, 7.9, "x"], threshold: 0, ubatches: 99, allowed: [false] }),
    { tokens: [0, 7, 0], allowed: [false, true, true], threshold: 8, ubatches: 8 });
});
