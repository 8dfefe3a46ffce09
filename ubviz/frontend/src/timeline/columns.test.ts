import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, flowsOf, gallop, lower, upper } from "./columns";
import { flows, packed, spans } from "./samples";

test("gaps become times, and rows are counted from the part's first", () => {
  const { part, bytes } = spans("bars:0:0", [
    [100, 150, "awake", 0, "awake", 7],
    [150, 180, "waiting", 0, "waits for its turn", 3],
    [200, 201, "awake", null, "awake", 9],
  ]);
  const bars = barsOf(part, bytes);
  assert.deepEqual([...bars.start], [100, 150, 200]);
  assert.deepEqual([...bars.end], [150, 180, 201]);
  assert.deepEqual([...bars.row], [7, 3, 9]);
  assert.deepEqual([...bars.ubatch], [1, 1, 0]);
});

test("marked rows begin blocks; where none is marked each row is one", () => {
  const marked = spans("a", [
    [0, 1, "compute", 0, "linear", 0, true],
    [1, 2, "compute", 0, "linear", 1],
    [2, 3, "comm", 0, "linear", 2, true],
  ]);
  const bars = barsOf(marked.part, marked.bytes);
  assert.deepEqual([...bars.blocks], [0, 2, 3]);
  assert.deepEqual([...bars.style], [3, 3, 4]);
  const plain = spans("b", [
    [0, 1, "awake", 0, "awake", 0],
    [2, 3, "awake", 0, "awake", 0],
  ]);
  assert.deepEqual([...barsOf(plain.part, plain.bytes).blocks], [0, 1, 2]);
});

test("bytes that are not as many as the columns need are refused", () => {
  const { part, bytes } = spans("bars:3:0", [[0, 1, "awake", 0, "awake", 0]]);
  assert.throws(() => barsOf(part, bytes.slice(1)), {
    message: `Block bars:3:0 has ${bytes.byteLength - 1} bytes where its columns need ${bytes.byteLength}.`,
  });
});

test("a column that is missing is named", () => {
  const { part, bytes } = packed("bars:0:0", 0, 1, { gap: [0], dur: [1] });
  assert.throws(() => barsOf(part, bytes), { message: 'Block bars:0:0 has no column "style".' });
});

test("a flow may arrive before it leaves: clocks differ", () => {
  const { part, bytes } = flows("flows:0", [
    [10, 5, "set -> wake", 0, 1, 2, 3],
    [30, 31, "set -> wake", 0, 1, 2, 3],
  ]);
  const made = flowsOf(part, bytes);
  assert.deepEqual([...made.to], [5, 31]);
  assert.deepEqual([...made.from], [10, 30]);
});

test("galloping finds what searching finds, from anywhere and with any guess", () => {
  const values = Float64Array.from({ length: 200 }, (_, i) => Math.floor(i / 3));
  for (const x of [-1, 0, 1, 17, 17.5, 66, 67, 900]) {
    for (const from of [0, 1, 50, 199, 200]) {
      for (const guess of [1, 2, 30, 500]) {
        assert.equal(
          gallop(values, x, from, 200, guess),
          lower(values, x, from, 200),
          `${x} ${from} ${guess}`,
        );
      }
    }
  }
  assert.equal(upper(values, 0, 0, 200), 3);
});
