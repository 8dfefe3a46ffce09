import assert from "node:assert/strict";
import { test } from "node:test";
import { perform } from "./actions";
import { clockAxis } from "./axis";
import type { Item } from "./data";
import type { Index, Row } from "./model";
import type { Range } from "../base/range";
import { Scale } from "../base/scale";
import { Items, rowOf } from "./selection";
import type { Timeline } from "./timeline";

const item = (row: number, lane: number, start: number, end: number): Item => ({
  table: "spans", row, lane, sub: 0, start, end, style: "compute", kind: null, ubatch: 0, name: `k${row}`,
  op: null, layer: null,
});
const ITEMS = [item(0, 0, 10, 20), item(1, 0, 30, 40), item(2, 2, 32, 90), item(3, 2, 910, 950)];
const FLOWS: [from: number, to: number][] = [[0, 1], [1, 3], [0, 3]];

/** A view without a page: 1000 ns over 1000 pixels, lanes 0 to 2, nothing on lane 1. */
function view() {
  const state: Record<string, unknown> = {
    view_range: [0, 1000], cursor: null, selection: [], order: "wall",
  };
  const index = { begin_ns: 0, end_ns: 1000, home: [0, 500], origin_ns: 0, lanes: [{}, {}, {}], logical: true,
    steps: [[7, 0, 500], [8, 500, 1000]] } as unknown as Index;
  const on = (lane: number) => ITEMS.filter((each) => each.lane === lane);
  const end = (row: number) => ({ kind: "", row: rowOf(ITEMS[row]!), ns: ITEMS[row]!.start, lane: 0 });
  const data = {
    index,
    item: (row: Row) => ITEMS[row[1]] ?? null,
    neighbour: (from: Item, by: number) => on(from.lane)[on(from.lane).indexOf(from) + by] ?? null,
    nearest: (lane: number, t: number) =>
      on(lane).sort((a, b) => Math.abs(a.start - t) - Math.abs(b.start - t))[0] ?? null,
    flowsOf: (row: Row) => ({
      causes: FLOWS.filter(([, to]) => to === row[1]).map(([from]) => end(from)),
      effects: FLOWS.filter(([from]) => from === row[1]).map(([, to]) => end(to)),
    }),
  };
  const said: string[] = [];
  const made = {
    state, said,
    link: {
      get: (name: string) => state[name],
      set(name: string, value: unknown) {
        state[name] = value;
        if (name === "selection") made.follow();
      },
    },
    live: { say: (words: string) => said.push(words) },
    say: (words: string) => said.push(words),
    clock: null as Range | null,
    items: new Items(),
    scene: { index, data, layout: () => ({ rows: [0, 1, 2].map((lane) => ({ lane })) }) },
    details: { open: false, element: { focus: () => said.push("focus in details") } },
    tools: {
      open: false,
      keys: () => void (made.tools.open = !made.tools.open),
      escape: () => made.tools.open && !(made.tools.open = false),
    },
    get range() { return state.view_range as Range; },
    get order() { return state.order as string; },
    get axis() { return clockAxis(new Scale(state.view_range as Range, 0, 1000), index); },
    goTo: (range: Range) => { state.view_range = [...range]; },
    goToTime: (range: Range) => { state.view_range = [...range]; },
    enter: (range: Range) => { state.view_range = [...range]; },
    follow() {
      made.items.select(state.selection as Row[], data as never);
      made.details.open = made.items.primary !== null;
    },
    openDetails: () => { made.details.open = made.items.primary !== null; },
    closeDetails: () => { made.details.open = false; },
  };
  return made;
}

type Fake = ReturnType<typeof view>;
function press(view: Fake, ...acts: Parameters<typeof perform>[1][]) {
  for (const act of acts) perform(view as unknown as Timeline, act);
  return view;
}
const selected = (view: Fake) => (view.state.selection as Row[]).map(([, row]) => row);

test("the arrow keys begin on the top lane, in the middle of what is seen", () => {
  assert.deepEqual(selected(press(view(), "next item")), [1]);
  const near = view();
  near.state.cursor = 12;
  assert.deepEqual(selected(press(near, "lane below")), [0]);
});

test("along a lane to its end, which is said", () => {
  const it = press(view(), "next item", "previous item");
  assert.deepEqual(selected(it), [0]);
  press(it, "previous item");
  assert.deepEqual(selected(it), [0]);
  assert.deepEqual(it.said, ["the first on this lane"]);
});

test("across lanes to the nearest item; a lane without any is passed over", () => {
  const it = press(view(), "next item", "lane below");
  assert.deepEqual(selected(it), [2]);
  assert.deepEqual(selected(press(it, "lane below")), [2]);
  assert.deepEqual(it.said, ["the bottom lane"]);
  assert.deepEqual(selected(press(it, "lane above")), [1]);
});

test("along flows to the last cause and the first effect", () => {
  const it = press(view(), { select: ["spans", 3] }, "to cause");
  assert.deepEqual(selected(it), [1]);
  assert.deepEqual(selected(press(it, "to cause", "to effect")), [1]);
  press(it, "to cause", "to cause");
  assert.deepEqual(selected(it), [0]);
  assert.deepEqual(it.said, ["no cause was recorded"]);
});

test("what is selected by keys is brought into view", () => {
  const it = view();
  it.state.view_range = [0, 100];
  press(it, { select: ["spans", 3] });
  assert.deepEqual(it.state.view_range, [854, 954]);
});

test("keys zoom at the cursor while it is seen, else at the selection, else in the middle", () => {
  const it = view();
  it.state.cursor = 100;
  press(it, "zoom in");
  const [a, b] = it.state.view_range as Range;
  assert.ok(Math.abs((100 - a) / (b - a) - 0.1) < 1e-9);
  it.state.cursor = 999_999;
  it.state.view_range = [0, 900];
  press(it, "zoom in");
  assert.deepEqual(it.state.view_range, [150, 750]);
  it.link.set("selection", [["spans", 3]]);
  it.state.view_range = [0, 1000];
  press(it, "zoom in");
  assert.ok(Math.abs(it.axis.x(930) - 930) < 1, "the selection stays where it was");
});

test("home, everything, and from step to step", () => {
  const it = view();
  assert.deepEqual(press(it, "home").state.view_range, [0, 500]);
  assert.deepEqual(press(it, "next step").state.view_range, [500, 1000]);
  assert.deepEqual(press(it, "next step").state.view_range, [500, 1000]);
  assert.deepEqual(press(it, "previous step").state.view_range, [0, 500]);
  assert.deepEqual(press(it, "show all").state.view_range, [0, 1000]);
});

test("escape closes the tools, then the details, then clears selection and cursor", () => {
  const it = press(view(), { select: ["spans", 2] }, "keys");
  it.state.cursor = 5;
  const seen = () => [it.tools.open, it.details.open, selected(it).length, it.state.cursor];
  assert.deepEqual(seen(), [true, true, 1, 5]);
  press(it, "escape");
  assert.deepEqual(seen(), [false, true, 1, 5]);
  press(it, "escape");
  assert.deepEqual(seen(), [false, false, 1, 5]);
  press(it, "escape");
  assert.deepEqual(seen(), [false, false, 0, 5]);
  press(it, "escape");
  assert.deepEqual(seen(), [false, false, 0, null]);
});

test("enter opens the details of what is selected, and only then", () => {
  const it = press(view(), "into details");
  assert.deepEqual(it.said, []);
  press(it, { select: ["spans", 2] }, "escape", "into details");
  assert.deepEqual(it.said, ["focus in details"]);
});

test("clock and order; a recording without an order says so", () => {
  const it = press(view(), "turn order");
  assert.equal(it.state.order, "logical");
  assert.equal(press(it, "turn order").state.order, "wall");
  it.scene.index.logical = false;
  press(it, "in order");
  assert.equal(it.state.order, "wall");
  assert.equal(it.said.at(-1), "this recording has no order to show");
});

test("framing shows all that is selected", () => {
  const it = view();
  it.link.set("selection", [["spans", 0], ["spans", 1]]);
  assert.deepEqual(press(it, "frame").state.view_range, [7, 43]);
});
