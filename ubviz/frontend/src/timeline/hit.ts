/** What lies under the pointer: marks first, then the operation that an awake thread is in, bars, waits. */

import { lower, upper } from "./columns";
import type { Item } from "./data";
import type { Picture } from "./draw";
import { areEventsShown, edgeOf } from "./draw_marks";
import { rowAt, rowOfLane, type LaneRow } from "./layout";
import { columnScale } from "./logical";
import type { Logical } from "./model";
import { abs, floor, max, min } from "../base/numbers";
import { measureBy } from "../base/text";
import type { BarTrack, MarkTrack, Place } from "./tracks";
import type { Bars, Marks } from "./columns";

/** So near a mark, in pixels, it is meant; so near a bar, where none is under the pointer itself. */
const MARK = 5;
const BAR = 3;
/** Above a thread's lane its trace events have their chips. */
const CHIPS = 19;
/** Operations narrower than this are not told apart in the picture. */
const LEAST_OPERATION = 8;
/** Of more marks within reach none can be meant. */
const CROWD = 12;

export function hitWall(p: Picture, x: number, y: number): Item | null {
  const { left, right } = p.scale;
  if (x < left - MARK || x > right + MARK) return null;
  const mark = markAt(p, x, y);
  if (mark) return mark;
  const at = rowAt(p.layout, y, 2);
  return at && barAt(p, at.row, at.sub, x);
}

// ---- marks

function markAt(p: Picture, x: number, y: number): Item | null {
  let best: { track: MarkTrack; place: Place<Marks> } | null = null;
  let least = MARK;
  for (const track of p.data.marks) {
    const row = rowOfLane(p.layout, track.spec.lane);
    if (!row || y < row.top - CHIPS || y > row.bottom + MARK) continue;
    for (const place of near(p, track, x)) {
      const far = distance(p, track, row, place, x, y);
      if (far < least) [best, least] = [{ track, place }, far];
    }
  }
  return best && p.data.itemAt(best.track, best.place);
}

/** The marks of a track within reach of x, none where they are a crowd. */
function near(p: Picture, track: MarkTrack, x: number): Place<Marks>[] {
  const [a, b] = [p.scale.ns(x - MARK - 2), p.scale.ns(x + MARK + 2)];
  const found: Place<Marks>[] = [];
  for (const chunk of track.within(a, b)) {
    const to = upper(chunk.start, b, 0, chunk.rows);
    const from = lower(chunk.start, a, 0, to);
    if (to - from > CROWD) return [];
    for (let i = from; i < to; i++) found.push({ chunk, i });
  }
  return found;
}

/** How far a mark's sign is; Infinity where it has none. */
function distance(
  p: Picture,
  track: MarkTrack,
  row: LaneRow,
  { chunk, i }: Place<Marks>,
  x: number,
  y: number,
): number {
  const kind = p.data.index.kinds[chunk.kind[i]];
  const dx = abs(p.scale.x(chunk.start[i]) - x);
  if (track.spec.layer === "points") {
    return max(dx, abs(y - edgeOf(p, row, chunk.row[i], kind === "record")));
  }
  if (row.group !== "threads") return Infinity;
  if (kind === "barrier.arrive" && abs(y - row.y) <= MARK) return max(dx, abs(y - row.y));
  if (kind === "host_event.clear" && y >= row.bottom) return dx;
  return y < row.top && areEventsShown(p) ? dx : Infinity;
}

// ---- bars

function barAt(p: Picture, row: LaneRow, sub: number, x: number): Item | null {
  const t = p.scale.ns(x);
  const tracks = p.data.bars.filter((track) => track.spec.lane === row.lane);
  const main = tracks.find((track) => track.spec.layer === "main" && track.spec.sub === sub);
  const bar = main && nearest(p, main, t);
  if (main && bar) {
    const awake = p.data.index.styles[bar.chunk.style[bar.i]] === "awake";
    return (awake && operationAt(p, tracks, t)) || p.data.itemAt(main, bar);
  }
  const waits = tracks.find((track) => track.spec.layer === "waits");
  const wait = waits && nearest(p, waits, t);
  return waits && wait ? p.data.itemAt(waits, wait) : null;
}

/** The innermost operation that a thread is in. */
function operationAt(p: Picture, tracks: readonly BarTrack[], t: number): Item | null {
  let found: Item | null = null;
  for (const track of tracks) {
    if (track.spec.layer !== "inner") continue;
    const place = track.last(t);
    if (!place) continue;
    const { chunk, i } = place;
    const wide = (chunk.end[i] - chunk.start[i]) * p.scale.k;
    if (chunk.end[i] >= t && wide >= LEAST_OPERATION) found = p.data.itemAt(track, place);
  }
  return found;
}

/** The bar at a moment, else the nearest within a few pixels. */
function nearest(p: Picture, track: BarTrack, t: number): Place<Bars> | null {
  let best: Place<Bars> | null = null;
  let least = BAR / p.scale.k;
  for (const place of [track.last(t), track.first(t, true)]) {
    if (!place) continue;
    const far = max(place.chunk.start[place.i] - t, t - place.chunk.end[place.i], 0);
    if (far <= least && (best === null || far < least)) [best, least] = [place, far];
  }
  return best;
}

// ---- logical order

export function hitLogical(
  p: Picture,
  logical: Logical,
  columns: readonly [number, number],
  x: number,
  y: number,
): Item | null {
  const scale = columnScale(logical, p.layout, columns, p.scale.right, measureBy(p.ctx));
  if (x < scale.left - MARK || x > scale.right + MARK) return null;
  const middle = floor(scale.column(x));
  let best = -1;
  let least = Infinity;
  for (let i = max(middle - 4, 0); i <= min(middle + 4, logical.row.length - 1); i++) {
    const far = abs(scale.x(i + 0.5) - x) - max(scale.half(i), MARK);
    if (far <= 0 && far < least && isOn(p, logical, i, y)) [best, least] = [i, far];
  }
  return best < 0 ? null : p.data.item(["events", logical.row[best]]);
}

/** Whether a column's sign, or the dot from which a launch is tied to its stream, is at a height. */
function isOn(p: Picture, logical: Logical, i: number, y: number): boolean {
  const row = rowOfLane(p.layout, logical.lane[i]);
  const thread = rowOfLane(p.layout, logical.thread[i]);
  const gate =
    logical.sign[i] === "gate" &&
    thread?.group === "threads" &&
    p.layout.rows.some((other) => other.group === "threads" && abs(other.y - y) <= other.half);
  return (
    gate ||
    (row !== null && abs(row.y - y) <= row.half + 1) ||
    (thread !== null && abs(thread.y - y) <= MARK)
  );
}
