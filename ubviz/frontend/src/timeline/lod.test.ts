import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf } from "./columns";
import { collect, commRuns, LoadRow, opacity, waitRuns, type Grid, type Wide } from "./lod";
import { spans, STYLES, type SpanRow } from "./samples";

const shader = (style: number, ubatch: number) =>
  STYLES[style] === "waiting"
    ? null
    : { red: ubatch === 1 ? 200 : 0, green: 0, blue: ubatch === 2 ? 100 : 0, comm: STYLES[style] === "comm" };

/** Spans and gaps of many lengths, always the same. */
function many(count: number, block: number): SpanRow[] {
  let seed = 1;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  let t = 0;
  return Array.from({ length: count }, (_, i) => {
    const start = (t += Math.floor(random() * 9));
    t += 1 + Math.floor(random() ** 6 * 200);
    const style = i % 7 === 0 ? "comm" : "compute";
    return [start, t, style, i % 2, "linear", i, i % block === 0] as SpanRow;
  });
}

/** How busy each pixel is, span by span. */
function slowly(rows: readonly SpanRow[], grid: Grid): number[] {
  return Array.from({ length: grid.count }, (_, p) => {
    const [a, b] = [grid.start + p * grid.step, grid.start + (p + 1) * grid.step];
    return (
      rows.reduce((sum, [start, end]) => sum + Math.max(Math.min(end, b) - Math.max(start, a), 0), 0) /
      grid.step
    );
  });
}

// Where spans are many to a pixel, what lies on the side of one is shared with its neighbour, not lost.
for (const [block, step, start, shared] of [
  [1, 7, 0, 0],
  [1, 50, -100, 0],
  [5, 31.5, 333, 0],
  [12, 400, 0, 0.06],
  [5, 150, -77, 0.1],
  [1, 2000, -500, 0.01],
  [100, 90, 1000, 0],
]) {
  test(`no time is lost and none counted twice: blocks of ${block}, pixels of ${step} ns from ${start}`, () => {
    const rows = many(700, block);
    const { part, bytes } = spans("a", rows);
    const grid = { start, step, count: 60 };
    const loads = new LoadRow(grid.count);
    const wide: Wide[] = [];
    collect(barsOf(part, bytes), grid, 4 * step, shader, loads, wide);
    const drawn = new Set(wide.filter((found) => !found.many).flatMap(({ from, to }) => range(from, to)));
    const expected = slowly(
      rows.filter((_, i) => !drawn.has(i)),
      grid,
    );
    for (let p = 0; p < grid.count; p++) {
      assert.ok(
        Math.abs(loads.load[p] - expected[p]) < shared + 1e-4,
        `pixel ${p}: ${loads.load[p]} for ${expected[p]}`,
      );
    }
    const sum = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0);
    assert.ok(Math.abs(sum(loads.load) - sum(expected)) < shared + 1e-3, "as a whole it is the same");
    for (const { from, to } of wide) assert.ok(rows[to - 1][1] - rows[from][0] >= 4 * step);
  });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

test("a pixel's colour is that of its microbatches, by how long each is busy", () => {
  const { part, bytes } = spans("a", [
    [0, 3, "compute", 0, "linear", 0],
    [4, 5, "compute", 1, "linear", 1],
  ]);
  const loads = new LoadRow(1);
  collect(barsOf(part, bytes), { start: 0, step: 10, count: 1 }, 1000, shader, loads, []);
  assert.ok(Math.abs(loads.load[0] - 0.4) < 1e-6);
  assert.ok(Math.abs(loads.red[0] / loads.load[0] - 150) < 1e-3);
  assert.ok(Math.abs(loads.blue[0] / loads.load[0] - 25) < 1e-3);
});

test("waiting is no load, but is seen", () => {
  const { part, bytes } = spans("a", [
    [0, 3, "waiting", 0, "linear", 0],
    [3, 8, "awake", 0, "linear", 1],
    [25, 27, "waiting", 0, "linear", 2],
  ]);
  const loads = new LoadRow(3);
  collect(barsOf(part, bytes), { start: 0, step: 10, count: 3 }, 1000, shader, loads, []);
  assert.deepEqual([...loads.load], [0.5, 0, 0]);
  assert.deepEqual(waitRuns(loads), [
    [0, 1],
    [2, 3],
  ]);
});

test("runs in which all is communication are hatched, over pixels without load too", () => {
  const { part, bytes } = spans("a", [
    [0, 9, "comm", 0, "linear", 0],
    [10, 19, "comm", 0, "linear", 1],
    [30, 39, "comm", 0, "linear", 2],
    [40, 45, "comm", 0, "linear", 3],
    [46, 49, "compute", 0, "linear", 4],
  ]);
  const loads = new LoadRow(6);
  collect(barsOf(part, bytes), { start: 0, step: 10, count: 6 }, 1000, shader, loads, []);
  assert.deepEqual(commRuns(loads, 2), [[0, 4]]);
  assert.deepEqual(commRuns(loads, 5), []);
});

test("a cleared row is empty", () => {
  const loads = new LoadRow(4);
  loads.add(2, 0.5, 100, 0, 0, 0, 0);
  loads.clear();
  assert.equal(loads.load[2] + loads.red[2], 0);
  assert.equal(loads.last, -1);
});

test("shade grows with load and is never more than full", () => {
  assert.equal(opacity(0), 0);
  assert.ok(opacity(0.01) > 0.3 && opacity(0.5) > opacity(0.4));
  assert.equal(opacity(1.2), 1);
});
