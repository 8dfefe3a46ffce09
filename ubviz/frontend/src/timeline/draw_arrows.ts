/** Arrows from cause to effect: thin and grey, finer where they are many, and fewer beyond that. */

import { gallop, lower, upper, type Flows } from "./columns";
import type { Diamond } from "./draw_marks";
import { kept } from "../base/kept";
import { rowOfLane, type LaneRow } from "./layout";
import { abs, max, min } from "../base/numbers";
import { head, onSwing, swing } from "../base/shapes";
import type { Sheet } from "./sheet";
import type { BarTrack } from "./tracks";

const HEAD = 6.2;
/** More than one arrow in so many pixels: fine; in so many: not all. */
const FINE = 7;
const CROWDED = 2;
const SHOWN = ["set -> wake", "register -> run", "record -> wait", "send -> receive"];

export interface Arrow {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
  kind: string;
}

interface Shown {
  /** The arrows that are drawn at all, by their place among the flows, and when each begins. */
  places: Uint32Array;
  from: Float64Array;
  longest: number;
}

const shown = new WeakMap<Flows, Shown>();

function shownOf(flows: Flows, kinds: readonly string[]): Shown {
  return kept(shown, flows, () => {
    const wanted = kinds.map((kind) => SHOWN.includes(kind));
    const places: number[] = [];
    let longest = 0;
    for (let i = 0; i < flows.rows; i++) {
      if (!wanted[flows.kind[i]] || flows.fromLane[i] === flows.toLane[i]) continue;
      places.push(i);
      longest = max(longest, flows.to[i] - flows.from[i]);
    }
    const from = Float64Array.from(places, (i) => flows.from[i]);
    return { places: Uint32Array.from(places), from, longest };
  });
}

/** set -> wake between threads, record -> wait between streams, a receive hook, a transfer. */
export function paintArrows(sheet: Sheet, marks: readonly Diamond[]): void {
  const { data, scale } = sheet.p;
  const kinds = data.index.flow_kinds;
  const stretches: { flows: Flows; shown: Shown; from: number; to: number }[] = [];
  let count = 0;
  for (const flows of data.flows.within(scale.start, scale.end)) {
    const found = shownOf(flows, kinds);
    const reach = min(found.longest, 2 * scale.length);
    const from = lower(found.from, scale.start - reach, 0, found.from.length);
    const to = upper(found.from, scale.end, from, found.from.length);
    stretches.push({ flows, shown: found, from, to });
    count += to - from;
  }
  const room = max(scale.room, 1);
  const apart = count > room / CROWDED ? max(2, min((3 * count) / room, 6)) : 0;
  const at = new Map(marks.map((mark) => [mark.chunk.row[mark.i], mark]));
  const arrows: Arrow[] = [];
  for (const { flows, shown: found, from, to } of stretches) {
    let i = from;
    while (i < to) {
      const until = apart ? gallop(found.from, found.from[i] + apart / scale.k, i + 1, to) : i + 1;
      arrows.push(...arrowsOf(sheet, flows, found.places[i], at)); // of a crowded stretch only the first
      i = until;
    }
  }
  draw(sheet, arrows, count > room / FINE, apart > 0);
}

function arrowsOf(sheet: Sheet, flows: Flows, i: number, marks: ReadonlyMap<number, Diamond>): Arrow[] {
  const { data, layout, scale } = sheet.p;
  const kind = data.index.flow_kinds[flows.kind[i]];
  const a = rowOfLane(layout, flows.fromLane[i]);
  const b = rowOfLane(layout, flows.toLane[i]);
  if (!a || !b || flows.to[i] < scale.start) return [];
  const x0 = scale.x(flows.from[i]);
  const x1 = scale.x(flows.to[i]);
  if (kind === "record -> wait") {
    const m = marks.get(flows.fromRow[i]);
    const n = marks.get(flows.toRow[i]);
    const arrow = between(a, b, m?.x ?? x0, n?.x ?? x1, kind, m?.tip ?? 0);
    return [arrow];
  }
  if (kind === "send -> receive") return flights(sheet, a, b, flows.from[i], flows.to[i]);
  return [between(a, b, x0, x1, kind)];
}

/** From the edge of one lane to the edge of another that faces it. */
export function between(a: LaneRow, b: LaneRow, x0: number, x1: number, kind: string, tip = 0): Arrow {
  const down = b.y > a.y;
  return { x0, y0: down ? a.bottom + tip : a.top - tip, x1, y1: down ? b.top - tip : b.bottom + tip, kind };
}

/** From a send to its transfer, and from the transfer to the receive. */
function flights(sheet: Sheet, a: LaneRow, b: LaneRow, sent: number, received: number): Arrow[] {
  const { data, layout, scale } = sheet.p;
  for (const track of data.bars) {
    const air = rowOfLane(layout, track.spec.lane);
    if (!air || air.group !== "network" || track.spec.layer !== "main") continue;
    const flight = flightOf(track, sent, received);
    if (!flight) continue;
    const kind = "send -> receive";
    return [
      between(a, air, scale.x(sent), scale.x(flight[0]), kind),
      between(air, b, scale.x(flight[1]), scale.x(max(received, flight[1])), kind),
    ];
  }
  return [between(a, b, scale.x(sent), scale.x(received), "send -> receive")];
}

function flightOf(track: BarTrack, sent: number, received: number): [number, number] | null {
  const place = track.last(sent) ?? track.first(sent);
  const next = track.first(sent);
  for (const found of [place, next]) {
    if (!found) continue;
    const start = found.chunk.start[found.i];
    const end = found.chunk.end[found.i];
    if (end > sent && end <= received + 1) return [max(start, sent), end];
  }
  return null;
}

function draw(sheet: Sheet, arrows: readonly Arrow[], fine: boolean, crowded: boolean): void {
  const { ctx, p } = sheet;
  ctx.globalAlpha = crowded ? 0.45 : fine ? 0.65 : 1;
  strokeArrows(sheet, arrows, p.palette.arrow, fine ? 0.8 : 1.2, crowded ? 0 : HEAD * (fine ? 0.75 : 1));
  ctx.globalAlpha = 1;
  for (const arrow of arrows) {
    sheet.seen.add(arrow.kind);
    if (!crowded) takeRoom(sheet, arrow);
  }
}

/** Stroke arrows and fill their heads; a hook's is dashed. */
export function strokeArrows(
  sheet: Sheet,
  arrows: readonly Arrow[],
  colour: string,
  width: number,
  size: number,
): void {
  const { ctx } = sheet;
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.lineWidth = width;
  for (const { x0, y0, x1, y1, kind } of arrows) {
    const back = min(size, abs(y1 - y0) * 0.6) * 0.8;
    const end = y1 > y0 ? y1 - back : y1 + back;
    const dashed = kind === "register -> run";
    if (abs(x1 - x0) < 1 && !dashed) {
      ctx.fillRect((x0 + x1 - width) / 2, min(y0, end), width, abs(end - y0));
      continue;
    }
    // Each a path of its own: one path of all would be slow, because it is as large as the picture.
    if (dashed) ctx.setLineDash([3.4, 2.2]);
    ctx.beginPath();
    swing(ctx, x0, y0, x1, end);
    ctx.stroke();
    if (dashed) ctx.setLineDash([]);
  }
  if (size <= 0) return;
  ctx.beginPath();
  for (const { x1, y0, y1 } of arrows) head(ctx, x1, y1, 0, y1 - y0, min(size, abs(y1 - y0) * 0.6));
  ctx.fill();
}

function takeRoom(sheet: Sheet, { x0, y0, x1, y1 }: Arrow): void {
  let [ax, ay] = [x0, y0];
  for (let n = 1; n <= 6; n++) {
    const [bx, by] = onSwing(x0, y0, x1, y1, n / 6);
    if (bx > sheet.left - 50 && ax < sheet.right + 50) {
      sheet.room.take(min(ax, bx) - 1, min(ay, by), max(ax, bx) + 1, max(ay, by));
    }
    [ax, ay] = [bx, by];
  }
}
