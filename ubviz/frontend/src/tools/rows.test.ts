import assert from "node:assert/strict";
import { test } from "node:test";
import { Rows, seenRows } from "./rows";
import { sample } from "./sample";

test("all that is shown is listed once, in order of time, what lasts longer first", async () => {
  const rows = new Rows(await sample(), 0, 1000, () => true);
  const items = Array.from({ length: rows.count }, (_, row) => rows.item(row));
  assert.equal(rows.count, 12);
  assert.equal(new Set(items.map((item) => `${item.table} ${item.row} ${item.start}`)).size, rows.count);
  for (let i = 1; i < items.length; i++) assert.ok(items[i]!.start >= items[i - 1]!.start);
  items.forEach((item, row) => assert.equal(rows.find(item), row));
});

test("of a part what touches it is listed, on the lanes that are shown", async () => {
  const rows = new Rows(await sample(), 190, 240, (lane) => lane === 2);
  assert.deepEqual(Array.from({ length: rows.count }, (_, row) => rows.item(row).row), [1, 10, 2, 3]);
  assert.equal(rows.find((await sample()).item(["spans", 5])!), -1);
});

test("only rows near those that are seen are made", () => {
  assert.deepEqual(seenRows(0, 220, 22, 1000), [0, 14]);
  assert.deepEqual(seenRows(2200, 220, 22, 1000), [96, 114]);
  assert.deepEqual(seenRows(21_900, 220, 22, 1000), [991, 1000]);
});
