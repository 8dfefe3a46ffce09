/** What keys and buttons do to the view. */

import { go, type Axis } from "./axis";
import type { Item } from "./data";
import { follow } from "./fields";
import { same } from "../base/link";
import { linksOf } from "./links";
import { rangeOf } from "./logical";
import type { Row } from "./model";
import { backToClock, revealed, stepAt, type Range } from "../base/range";
import type { Scene } from "./scene";
import { rowOf } from "./selection";
import type { Timeline } from "./timeline";
import type { Act } from "./toolbar";
import { across, along, type Stand } from "./walk";

const ZOOM = 1.5;
const PAN = 0.15;

export function perform(view: Timeline, act: Act | { select: Row }): void {
  const { axis, scene } = view;
  if (act === "keys") return view.tools ? view.tools.keys() : void (view.wanted = act);
  if (act === "escape") return escape(view);
  if (!axis || !scene) return;
  if (typeof act === "object") return select(view, scene.data.item(act.select));
  const at = () => stand(view, axis, scene);
  const zoom = (factor: number) => view.goTo(go.zoom(axis, factor, anchor(view, axis)));
  const pan = (share: number) => view.goTo(go.pan(axis, share * (axis.range[1] - axis.range[0])));
  switch (act) {
    case "zoom in": return zoom(ZOOM);
    case "zoom out": return zoom(1 / ZOOM);
    case "pan left": return pan(-PAN);
    case "pan right": return pan(PAN);
    case "home": return view.enter(scene.index.home);
    case "show all":
      view.clock = [scene.index.begin_ns, scene.index.end_ns];
      return view.order === "wall" ? view.goToTime(view.clock) : view.goTo(axis.all);
    case "previous step": return toStep(view, -1);
    case "next step": return toStep(view, 1);
    case "previous item": return selectOr(view, along(at(), -1), "the first on this lane");
    case "next item": return selectOr(view, along(at(), 1), "the last on this lane");
    case "lane above": return selectOr(view, across(at(), -1), "the top lane");
    case "lane below": return selectOr(view, across(at(), 1), "the bottom lane");
    case "to cause": return alongFlow(view, "causes");
    case "to effect": return alongFlow(view, "effects");
    case "frame":
      if (view.items.selected.length) view.goTo(go.frame(axis, view.items.selected, aroundMark(view)));
      return;
    case "turn order": return turn(view, view.order === "wall" ? "logical" : "wall");
    case "by the clock": return turn(view, "wall");
    case "in order": return turn(view, "logical");
    case "into details":
      view.openDetails();
      if (view.details.open) view.details.element.focus({ preventScroll: true });
  }
}

/** Select an item (or these rows, of which it is the last) and bring it into view. */
export function choose(view: Timeline, item: Item, rows: Row[] = [rowOf(item)]): void {
  view.items.meet(item);
  const unchanged = same(rows, view.link.get("selection"));
  view.link.set("selection", rows);
  if (unchanged) view.follow(); // another bar of the same row: the model has nothing new to say
}

function select(view: Timeline, item: Item | null): void {
  if (!item) return;
  choose(view, item);
  if (view.axis) view.goTo(go.reveal(view.axis, item), false);
}

/** How much is shown round a mark, which has no length of its own. */
export function aroundMark(view: Timeline): number {
  const [a, b] = view.scene?.index.home ?? [0, 1];
  return view.order === "wall" ? (b - a) / 20 : 24;
}

/** Where keys zoom: at the cursor, at the selection, in the middle: at the first of them that is in view. */
function anchor(view: Timeline, axis: Axis): number {
  const [a, b] = axis.range;
  const cursor = view.link.get("cursor");
  const { primary } = view.items;
  const [from, to] = primary ? axis.of(primary) : [NaN, NaN];
  const places = [typeof cursor === "number" ? axis.moment(cursor) : NaN, (from + to) / 2];
  return places.find((at) => at >= a && at <= b) ?? (a + b) / 2;
}

/** Where one stands, for going on from there. */
function stand(view: Timeline, axis: Axis, scene: Scene): Stand {
  const [a, b] = axis.range;
  const cursor = view.link.get("cursor");
  const at = typeof cursor === "number" ? axis.moment(cursor) : NaN;
  return {
    data: scene.data, lanes: scene.layout(view.order).rows.map((row) => row.lane), item: view.items.primary, axis,
    here: at >= a && at <= b ? at : (a + b) / 2, logical: view.order === "logical" ? scene.logical : null,
  };
}

function selectOr(view: Timeline, item: Item | null, words: string): void {
  if (item) select(view, item);
  else view.say(words);
}

function alongFlow(view: Timeline, way: "causes" | "effects"): void {
  const { scene, items: { primary } } = view;
  if (!scene || !primary) return;
  const end = follow(way, linksOf(scene.data, primary)[way]);
  const item = end && scene.data.item(end.row);
  selectOr(view, item, way === "causes" ? "no cause was recorded" : "no effect was recorded");
}

function toStep(view: Timeline, direction: -1 | 1): void {
  const steps = view.scene?.index.steps ?? [];
  const now = stepAt(steps, view.range);
  const step = now === null ? undefined : steps[now + direction];
  if (!step) return;
  view.enter([step[1], step[2]]);
  view.live.say(`step ${step[0]}`);
}

function turn(view: Timeline, order: "wall" | "logical"): void {
  if (order === "logical" && !view.scene?.index.logical) {
    return view.say("this recording has no order to show");
  }
  if (order === "wall" && view.order === "logical") view.goToTime(clockAgain(view), false);
  view.link.set("order", order);
  view.live.say(order === "wall" ? "by the clock" : "in order, one column an event");
}

/** What the clock shows after order. */
function clockAgain(view: Timeline): Range {
  const { axis, scene, range } = view;
  if (!axis || !scene?.logical) return range;
  const [a, b] = axis.range;
  const [middle] = rangeOf(scene.logical, [(a + b) / 2, b]);
  const back = backToClock(range, view.clock, middle, scene.index.steps);
  const { primary } = view.items;
  const met = primary && primary.end >= range[0] && primary.start <= range[1];
  return met ? revealed(back, primary.start, primary.end) : back;
}

/** Step by step back to a plain picture: the tools, the details, the selection, the cursor. */
function escape(view: Timeline): void {
  if (view.tools?.escape()) return;
  if (view.details.open) view.closeDetails();
  else if (view.items.selected.length) view.link.set("selection", []);
  else view.link.set("cursor", null);
}
