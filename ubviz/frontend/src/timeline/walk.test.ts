import assert from "node:assert/strict";
import { test } from "node:test";
import type { Axis } from "./axis";
import type { Data, Item } from "./data";
import type { Logical } from "./model";
import { across, along, type Stand } from "./walk";

const event = (row: number) => ({ table: "events", row, lane: 0 }) as Item;
const logical = { row: [40, 41, 42, 43, 44], lane: [0, 3, 0, 3, 3] } as unknown as Logical;
const axis = { of: (item: Item) => [item.row - 40, item.row - 39] } as unknown as Axis;
const data = { item: ([, row]: readonly [string, number]) => event(row) } as unknown as Data;
const on = (item: Item | null, here = 0): Stand => ({ data, lanes: [0, 1, 2, 3], item, axis, here, logical });

test("in order the next is the next column of the sign's lane", () => {
  assert.equal(along(on(event(40)), 1)?.row, 42);
  assert.equal(along(on(event(42)), 1), null);
  assert.equal(along(on(event(44)), -1)?.row, 43);
});

test("in order one goes across to the nearest column of a lane that has signs", () => {
  assert.equal(across(on(event(42)), 1)?.row, 41);
  assert.equal(across(on(event(44)), -1)?.row, 42);
  assert.equal(across(on(event(44)), 1), null);
});

test("in order one begins at the nearest column of the top lane, from a span too", () => {
  assert.equal(along(on(null, 2.5), 1)?.row, 42);
  const span = { table: "spans", row: 40, lane: 3 } as Item;
  assert.equal(along(on(span), 1)?.row, 40);
});
