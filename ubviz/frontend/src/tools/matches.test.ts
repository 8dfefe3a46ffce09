import assert from "node:assert/strict";
import { test } from "node:test";
import type { Item } from "../timeline/data";
import { Matches } from "./matches";
import { sample } from "./sample";

const rows = (matches: Matches) => Array.from({ length: matches.count }, (_, n) => matches.nth(n)!)
  .map((item) => [item.table, item.row]);

test("every word has to stand in the words of an item, in any case", async () => {
  const data = await sample();
  assert.deepEqual(rows(new Matches(data, "attention")), [["spans", 1], ["spans", 2]]);
  assert.deepEqual(rows(new Matches(data, "ATTENTION compute")), [["spans", 1], ["spans", 2]]);
  assert.deepEqual(rows(new Matches(data, "ubatch 1 experts")), [["spans", 5]]);
  assert.deepEqual(rows(new Matches(data, "attention comm[")), []);
  assert.equal(new Matches(data, "  ").count, 0);
});

test("a wait is found once, not at its end again", async () => {
  const data = await sample();
  assert.deepEqual(rows(new Matches(data, "waits for compute_done[0]")), [["spans", 4]]);
});

test("matches come in order of time, whatever track they are on", async () => {
  const matches = new Matches(await sample(), "compute");
  const starts = Array.from({ length: matches.count }, (_, n) => matches.nth(n)!.start);
  assert.deepEqual(starts, [...starts].sort((a, b) => a - b));
  assert.ok(matches.count >= 6);
});

test("next and previous go through all of them and round the ends", async () => {
  const matches = new Matches(await sample(), "ubatch");
  const seen = new Set<string>();
  let item: Item | null = matches.nth(0);
  for (let n = 0; n < matches.count; n++) {
    assert.equal(matches.placeOf(item!), n);
    seen.add(`${item!.table} ${item!.row} ${item!.start}`);
    const next: Item | null = matches.next(item!, 1);
    assert.deepEqual(matches.next(next!, -1), item);
    item = next;
  }
  assert.equal(seen.size, matches.count);
  assert.deepEqual(item, matches.nth(0));
});

test("from elsewhere the next is what begins later, the previous what began before", async () => {
  const data = await sample();
  const matches = new Matches(data, "attention");
  assert.equal(matches.next(150, 1)?.row, 2);
  assert.equal(matches.next(150, -1)?.row, 1);
  assert.equal(matches.next(650, 1)?.row, 1);
  assert.equal(matches.next(data.item(["spans", 5])!, -1)?.row, 2);
  assert.equal(matches.placeOf(data.item(["spans", 5])!), -1);
});
