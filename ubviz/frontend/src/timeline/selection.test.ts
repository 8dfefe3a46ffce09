import assert from "node:assert/strict";
import { test } from "node:test";
import type { Data, Item } from "./data";
import { added, Items, soundRows } from "./selection";

const item = (row: number, start = 0) => ({ table: "spans", row, start }) as Item;
const data = {
  item: (row: readonly [string, number]) => (row[1] < 10 ? item(row[1]) : null),
} as unknown as Data;

test("adding what is selected takes it away", () => {
  assert.deepEqual(added([["spans", 1]], ["events", 1]), [["spans", 1], ["events", 1]]);
  assert.deepEqual(added([["spans", 1], ["spans", 2]], ["spans", 1]), [["spans", 2]]);
});

test("the bar that was met stays the selected one, until its row is not", () => {
  const items = new Items();
  items.meet(item(3, 77));
  items.select([["spans", 3]], data);
  assert.equal(items.primary?.start, 77);
  items.select([["spans", 4]], data);
  items.select([["spans", 3]], data);
  assert.equal(items.primary?.start, 0);
});

test("rows that have not come are left out, the last chosen is shown", () => {
  const items = new Items();
  items.select([["spans", 2], ["spans", 5], ["spans", 99]], data);
  assert.deepEqual(items.selected.map((each) => each.row), [2, 5]);
  assert.equal(items.primary?.row, 5);
});

test("what is no row of a table is no selection", () => {
  const rows = [["spans", 1], ["lanes", 1], ["events", -1], ["events", 1.5], 7, null];
  assert.deepEqual(soundRows(rows), [["spans", 1]]);
  assert.deepEqual(soundRows(null), []);
});
