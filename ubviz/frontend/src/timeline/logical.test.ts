import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf } from "./layout";
import { columnsFrom, columnScale, columnsOf, rangeOf, seenColumns } from "./logical";
import type { Logical, Sign } from "./model";
import { recording } from "./samples";

const measure = (text: string) => 7 * text.length;

function logical(t: number[], text = "set 1", sign: Sign = "chip"): Logical {
  const all = <T>(value: T) => t.map(() => value);
  return {
    row: t.map((_, i) => i),
    lane: all(0),
    thread: all(0),
    sign: all(sign),
    text: all(text),
    cls: all("compute"),
    ubatch: all(null),
    t,
    stretches: [],
    arrows: [],
  };
}

const layout = layoutOf(recording([]).index, "logical", measure);

test("columns fill the plot, and each has its place back", () => {
  const scale = columnScale(logical([0, 1, 2, 3, 4, 5]), layout, [1, 4], 1000, measure);
  assert.equal(scale.x(1), layout.gutter);
  assert.ok(Math.abs(scale.x(4) - 1000) < 1e-9);
  for (const column of [-3, 0, 1.25, 2.5, 5.9, 8])
    assert.ok(Math.abs(scale.column(scale.x(column)) - column) < 1e-9);
});

test("columns are as wide as what they say, and chips never wider than their columns", () => {
  const some = logical([0, 1, 2]);
  some.text = ["a", "a rather long verb", "b"];
  const scale = columnScale(some, layout, [0, 3], 2000, measure);
  assert.ok(scale.x(2) - scale.x(1) > 2 * (scale.x(1) - scale.x(0)));
  assert.equal(2 * scale.half(1), 7 * 18 + 15); // natural width, though there is more room
  const narrow = columnScale(some, layout, [0, 3], layout.gutter + 60, measure);
  for (const i of [0, 1, 2]) assert.ok(2 * narrow.half(i) < narrow.x(i + 1) - narrow.x(i));
});

test("as many columns as have room at their natural width", () => {
  const many = logical(Array.from({ length: 100 }, (_, i) => i));
  const [from, to] = columnsFrom(many, 10, 580, measure);
  const scale = columnScale(many, layout, [from, to], layout.gutter + 580, measure);
  assert.ok(Math.abs(scale.k - 1) < 1e-9);
  assert.deepEqual(columnsFrom(many, 95, 580, measure), [90, 100]);
  assert.deepEqual(columnsFrom(logical([1, 2]), 0, 580, measure), [0, 2]);
});

test("all columns stand for all of the time, whatever lies before and after", () => {
  const some = logical([100, 200, 300]);
  assert.deepEqual(columnsOf(some, [0, 1000]), [0, 3]);
  assert.deepEqual(rangeOf(some, [0, 3]), [100, 300]);
});

test("a range within comes back from its columns", () => {
  const some = logical([100, 200, 250, 600, 700]);
  for (const range of [
    [120, 640],
    [200, 600],
    [101, 102],
    [100, 700],
  ] as const) {
    const back = rangeOf(some, columnsOf(some, range));
    assert.ok(
      back.every((t, i) => Math.abs(t - range[i]) < 1e-9),
      `${range} -> ${back}`,
    );
  }
});

test("where the order is not that of the clocks, time does not go back", () => {
  const some = logical([100, 300, 200, 400]);
  const times = [0, 1, 2, 3, 4].map((column) => rangeOf(some, [column, column])[0]);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => a - b),
  );
  const [a, b] = columnsOf(some, [300, 300]);
  assert.ok(a <= 1.5 && b >= 2.5, `${a} ${b}`);
});

test("without columns there is still a place", () => {
  assert.deepEqual(columnsOf(logical([]), [0, 10]), [0, 1]);
  assert.deepEqual(rangeOf(logical([]), [0, 1]), [0, 0]);
  assert.deepEqual(rangeOf(logical([7]), [0, 1]), [7, 7]);
  assert.deepEqual(seenColumns(logical([1, 2, 3]), [-5, 9]), [0, 3]);
});
