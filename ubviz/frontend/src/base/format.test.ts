import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, moment, nice, plain, round, round3, ruler, rulerOf } from "./format";

test("durations have three digits at most, as the still picture writes them", () => {
  const expected: [number, string][] = [
    [422_000, "422 \u00b5s"],
    [1_234_567, "1.23 ms"],
    [999, "999 ns"],
    [0, "0 ns"],
    [1000, "1 \u00b5s"],
    [999_999, "1000 \u00b5s"],
    [330_169_212, "330 ms"],
    [-1500, "-1.5 \u00b5s"],
    [0.25, "0.25 ns"],
    [2_500_000_000, "2.5 s"],
    [61_999_999_999, "62 s"],
    [123_456, "123 \u00b5s"],
  ];
  for (const [ns, text] of expected) assert.equal(duration(ns), text);
});

test("a half goes to the even digit, as in Python", () => {
  assert.equal(round(0.125, 2), 0.12);
  assert.equal(round(0.375, 2), 0.38);
  assert.equal(round(2.5, 0), 2);
  assert.equal(round(3.5, 0), 4);
  assert.equal(round(2.675, 2), 2.67); // less than a half in binary
  assert.equal(round(1.005, 2), 1);
});

test("numbers lose needless zeros and no others", () => {
  assert.equal(plain(2.5), "2.5");
  assert.equal(plain(400), "400");
  assert.equal(round3(1234), 1234);
});

test("steps are 1, 2 or 5 with zeros", () => {
  assert.deepEqual([31, 0.2, 20, 20.1, 999].map(nice), [50, 1, 20, 50, 1000]);
});

test("a ruler is marked in one unit", () => {
  assert.deepEqual(ruler(422_000, 850, 90).slice(0, 3), [
    [0, "0 \u00b5s"],
    [50_000, "50 \u00b5s"],
    [100_000, "100 \u00b5s"],
  ]);
  const labels = ruler(330_169_212, 1000, 100).map(([, label]) => label);
  assert.deepEqual(labels, ["0 ms", "50 ms", "100 ms", "150 ms", "200 ms", "250 ms", "300 ms"]);
});

test("a ruler deep within a recording begins at a multiple of its step", () => {
  const marks = rulerOf(39_631_000, 39_790_000, 1000, 100);
  assert.equal(marks[0][0], 39_640_000);
  assert.equal(marks[0][1], "39.64 ms");
  assert.ok(marks.every(([at]) => at % 20_000 === 0 && at <= 39_790_000));
});

test("a ruler before its zero counts down", () => {
  assert.deepEqual(
    rulerOf(-2_000_000, 1_000_000, 300, 100).map(([, label]) => label),
    ["-2 ms", "-1 ms", "0 ms", "1 ms"],
  );
});

test("a moment is written as exactly as the picture shows it", () => {
  assert.equal(moment(59_431_234, 10_000), "59.43 ms");
  assert.equal(moment(59_431_234, 1), "59.431234 ms");
  assert.equal(moment(0, 1000), "0 ns");
});
