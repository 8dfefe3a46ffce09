/**
 * What happens at a moment: arrivals, barriers, records, ends of waits, and, from near, every trace event.
 */

import { gallop, lower, upper, type Flows, type Marks } from "./columns";
import { kept } from "../base/kept";
import { rowOfLane, type LaneRow } from "./layout";
import type { Picture } from "./draw";
import type { Specks } from "./draw_specks";
import { max, min } from "../base/numbers";
import { diamond, ring } from "../base/shapes";
import type { Sheet } from "./sheet";
import { clean, NOTE_FONT, SMALL, SMALL_FONT } from "../base/text";
import type { MarkTrack } from "./tracks";

export const RING = 3.9;
export const TIP = 4.4;
const TICK = 4.3;
/** Smaller diamonds are specks. */
const LEAST_TIP = 1.6;
const MOST_DIAMONDS = 1500;
/** Trace events are drawn one by one only where they are this far apart on average, in pixels. */
const CHIP_APART = 26;

/** A record (filled) or the end of a wait (hollow), at an edge of its lane. */
export interface Diamond {
  x: number;
  y: number;
  filled: boolean;
  tip: number;
  track: MarkTrack;
  chunk: Marks;
  i: number;
}

const picks = new WeakMap<Marks, Map<number, Float64Array>>();

/** When marks of one kind are, worked out once a part. */
function timesOf(marks: Marks, kind: number): Float64Array {
  const known = kept(picks, marks, () => new Map<number, Float64Array>());
  return kept(known, kind, () => marks.start.filter((_, i) => marks.kind[i] === kind));
}

/** Marks of a kind that are seen, no more than one in `apart` pixels. */
function eachOfKind(
  sheet: Sheet,
  track: MarkTrack,
  kind: number,
  apart: number,
  use: (x: number) => void,
): void {
  const { scale } = sheet.p;
  if (kind < 0) return;
  for (const chunk of track.within(scale.start, scale.end)) {
    eachApart(sheet, timesOf(chunk, kind), apart, use);
  }
}

/** Where there are marks, no more than once in `apart` pixels. */
function eachApart(sheet: Sheet, times: Float64Array, apart: number, use: (x: number) => void): void {
  const { scale } = sheet.p;
  let i = lower(times, scale.start, 0, times.length);
  while (i < times.length && times[i] <= scale.end) {
    use(scale.x(times[i]));
    i = gallop(times, times[i] + apart / scale.k, i + 1, times.length);
  }
}

/** How many marks of a kind are seen on a track. */
function countOfKind(sheet: Sheet, track: MarkTrack, kind: number): number {
  const { scale } = sheet.p;
  let count = 0;
  for (const chunk of track.within(scale.start, scale.end)) {
    const times = timesOf(chunk, kind);
    count += upper(times, scale.end, 0, times.length) - lower(times, scale.start, 0, times.length);
  }
  return count;
}

function threadEvents({ data, layout }: Picture): { track: MarkTrack; row: LaneRow }[] {
  const found: { track: MarkTrack; row: LaneRow }[] = [];
  for (const track of data.marks) {
    const row = rowOfLane(layout, track.spec.lane);
    if (row && track.spec.layer === "events" && row.group === "threads") found.push({ track, row });
  }
  return found;
}

/** A tick under the thread that puts a host event's flag down: as a rule its own, right after it wakes. */
export function paintClears(sheet: Sheet, specks: Specks): void {
  const { ctx, p } = sheet;
  const kind = p.data.index.kinds.indexOf("host_event.clear");
  for (const { track, row } of threadEvents(sheet.p)) {
    const count = countOfKind(sheet, track, kind);
    const high = row.half < 7 ? TICK * 0.7 : TICK;
    if (count) sheet.seen.add("clears");
    if (count * 4 > p.scale.room) {
      eachOfKind(sheet, track, kind, 2, specks.row(row.bottom, high, p.palette.ink, 0.6));
    } else {
      ctx.fillStyle = p.palette.ink;
      eachOfKind(sheet, track, kind, 1, (x) => {
        ctx.fillRect(sheet.snap(x - 0.5), row.bottom, sheet.thin(1.2), high);
      });
    }
  }
}

/** A ring where a thread arrives at a barrier, small where there are many. */
export function paintRings(sheet: Sheet, specks: Specks): void {
  const { ctx, p } = sheet;
  const kind = p.data.index.kinds.indexOf("barrier.arrive");
  for (const { track, row } of threadEvents(sheet.p)) {
    const count = countOfKind(sheet, track, kind);
    if (!count) continue;
    sheet.seen.add("arrives");
    const r = min(RING, row.half - 1.5, (0.4 * p.scale.room) / count);
    if (r < LEAST_TIP) {
      eachOfKind(sheet, track, kind, 2, specks.row(row.y - 1, 2, p.palette.ink, 0.7));
      continue;
    }
    eachOfKind(sheet, track, kind, 1, (x) => {
      ring(ctx, x, row.y, r, p.palette.background, p.palette.ink);
      sheet.takeMark(x - r, row.y - r, x + r, row.y + r);
    });
  }
}

/** One dashed line over the lanes that a barrier frees, and how many had to come. */
export function paintGates(sheet: Sheet): void {
  const { ctx, p } = sheet;
  const { scale, layout, palette, data } = p;
  let last = -Infinity;
  const pills: [number, number, string][] = [];
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 1.4;
  ctx.setLineDash([4, 2.7]);
  for (const { t, lanes, text } of data.facts.gates) {
    const x = scale.x(t);
    if (t < scale.start || t > scale.end || x - last < 3) continue;
    last = x;
    const rows = lanes.map((lane) => rowOfLane(layout, lane)).filter((row) => row !== null);
    if (!rows.length) continue;
    const top = min(...rows.map((row) => row.top)) - 7;
    const bottom = max(...rows.map((row) => row.bottom)) + 6;
    ctx.beginPath();
    ctx.moveTo(sheet.snap(x) + 0.5, top);
    ctx.lineTo(sheet.snap(x) + 0.5, bottom);
    ctx.stroke();
    pills.push([x, top - 7, text]);
  }
  ctx.setLineDash([]);
  for (const [x, y, text] of pills) pill(sheet, x, y, clean(text));
}

/** A dark label, where it is free. */
export function pill(sheet: Sheet, x: number, y: number, text: string, force = false): void {
  const { p, room } = sheet;
  const half = sheet.measure(text, SMALL_FONT) / 2 + 7;
  x = min(max(x, sheet.left - 3 + half), sheet.right + 3 - half);
  if (!force && !room.free(x - half, y - 8.5, x + half, y + 8.5)) return;
  room.take(x - half, y - 8.5, x + half, y + 8.5);
  sheet.rounded(p.palette.ink, x - half, y - 8.5, x + half, y + 8.5, 8.5);
  sheet.text(text, x, y, SMALL_FONT, SMALL, p.palette.background, 0.5);
}

// ---- records, and where waits end

/** All diamonds that are seen one by one; those of both kinds that meet are moved apart. */
export function diamondsOf(sheet: Sheet, specks: Specks): Diamond[] {
  const { data, layout, scale } = sheet.p;
  const record = data.index.kinds.indexOf("record");
  const points = data.marks.filter((track) => track.spec.layer === "points");
  const counts = points.map((track) => countOf(track, scale.start, scale.end));
  const all = counts.reduce((sum, count) => sum + count, 0);
  const found: Diamond[] = [];
  points.forEach((track, n) => {
    const row = rowOfLane(layout, track.spec.lane);
    if (!row || !counts[n]) return;
    const tip = min(TIP, (0.7 * scale.room) / counts[n], row.half * 0.6);
    if (tip <= LEAST_TIP || all > MOST_DIAMONDS) {
      sheet.seen.add("record").add("released");
      const speck = specks.row(row.bottom - 1, 2, sheet.p.palette.ink, 0.6);
      for (const chunk of track.within(scale.start, scale.end)) eachApart(sheet, chunk.start, 2, speck);
      return;
    }
    const mine = pointsOf(sheet, track, row, record, tip);
    part(mine);
    found.push(...mine);
  });
  return found;
}

function countOf(track: MarkTrack, a: number, b: number): number {
  let count = 0;
  for (const { start, rows } of track.within(a, b))
    count += upper(start, b, 0, rows) - lower(start, a, 0, rows);
  return count;
}

function pointsOf(sheet: Sheet, track: MarkTrack, row: LaneRow, record: number, tip: number): Diamond[] {
  const { scale } = sheet.p;
  const found: Diamond[] = [];
  for (const chunk of track.within(scale.start, scale.end)) {
    for (let i = lower(chunk.start, scale.start, 0, chunk.rows); i < chunk.rows; i++) {
      if (chunk.start[i] > scale.end) break;
      const filled = chunk.kind[i] === record;
      found.push({
        x: scale.x(chunk.start[i]),
        y: edgeOf(sheet.p, row, chunk.row[i], filled),
        filled,
        tip,
        track,
        chunk,
        i,
      });
    }
  }
  return found;
}

/**
 * The edge that faces the other end of the mark's arrow; where there is none, the one that faces a
 * neighbour.
 */
export function edgeOf(p: Picture, row: LaneRow, number: number, filled: boolean): number {
  const { data, layout } = p;
  const index = data.index.flow_kinds.indexOf("record -> wait");
  for (const flows of data.flows.chunks) {
    const lane = flows && partnersOf(flows, index)[filled ? "to" : "from"].get(number);
    const other = lane === undefined ? null : rowOfLane(layout, lane);
    if (other && other !== row) return other.y > row.y ? row.bottom : row.top;
  }
  const streams = layout.rows.filter((other) => other.group !== "threads");
  return streams.length > 1 && row === streams[streams.length - 1] ? row.top : row.bottom;
}

interface Partners {
  /** Row of a record -> the lane that waits; row of a wait -> the lane that recorded. */
  to: Map<number, number>;
  from: Map<number, number>;
}

const partners = new WeakMap<Flows, Partners>();

function partnersOf(flows: Flows, kind: number): Partners {
  return kept(partners, flows, () => {
    const made: Partners = { to: new Map(), from: new Map() };
    for (let i = 0; i < flows.rows; i++) {
      if (flows.kind[i] !== kind) continue;
      made.to.set(flows.fromRow[i], flows.toLane[i]);
      made.from.set(flows.toRow[i], flows.fromLane[i]);
    }
    return made;
  });
}

function part(marks: Diamond[]): void {
  const edges = new Map<number, Diamond[]>();
  for (const mark of marks) kept(edges, mark.y, (): Diamond[] => []).push(mark);
  for (const row of edges.values()) {
    row.sort((a, b) => a.x - b.x || Number(b.filled) - Number(a.filled));
    for (let i = 1; i < row.length; i++) {
      const [a, b] = [row[i - 1], row[i]];
      const by = (2 * a.tip - (b.x - a.x)) / 2;
      if (a.filled !== b.filled && by > 0) {
        a.x -= by;
        b.x += by;
      }
    }
  }
}

/** Text stays clear of diamonds: they take their room before names are set. */
export function takeDiamonds(sheet: Sheet, marks: readonly Diamond[]): void {
  for (const { x, y, tip } of marks) sheet.takeMark(x - tip, y - tip, x + tip, y + tip);
}

/** Filled where an event is recorded, hollow where a stream that waits for it goes on. */
export function paintDiamonds(sheet: Sheet, marks: readonly Diamond[]): void {
  const { ctx, p } = sheet;
  const { ink, background } = p.palette;
  ctx.strokeStyle = ink;
  for (const filled of [true, false]) {
    const mine = marks.filter((mark) => mark.filled === filled);
    if (mine.length) sheet.seen.add(filled ? "record" : "released");
    ctx.fillStyle = filled ? ink : background;
    for (let n = 0; n < mine.length; n += 50) {
      ctx.beginPath();
      for (const { x, y, tip } of mine.slice(n, n + 50)) diamond(ctx, x, y, tip);
      ctx.fill();
      ctx.lineWidth = min(0.28 * mine[n].tip, 1.2);
      ctx.stroke();
    }
  }
}

// ---- trace events, from near

/** Whether trace events are far enough apart to be drawn one by one. */
export function areEventsShown(p: Picture): boolean {
  const { start, end, room } = p.scale;
  const count = threadEvents(p).reduce((sum, { track }) => sum + countOf(track, start, end), 0);
  return count * CHIP_APART <= room;
}

/** A tick for every trace event of a thread and what it says. */
export function paintEvents(sheet: Sheet): void {
  if (!areEventsShown(sheet.p)) return;
  const { scale } = sheet.p;
  for (const { track, row } of threadEvents(sheet.p)) {
    if (row.half < 6) continue;
    for (const chunk of track.within(scale.start, scale.end)) paintChips(sheet, row, chunk);
  }
}

function paintChips(sheet: Sheet, row: LaneRow, chunk: Marks): void {
  const { ctx, p, room } = sheet;
  const { scale, palette, data } = p;
  const y = row.top - 11;
  const drawn = ["barrier.arrive", "barrier.release"].map((kind) => data.index.kinds.indexOf(kind));
  for (
    let i = lower(chunk.start, scale.start, 0, chunk.rows);
    i < chunk.rows && chunk.start[i] <= scale.end;
    i++
  ) {
    const text = chunk.text[i] ? clean(data.facts.names[chunk.text[i] - 1] ?? "") : "";
    if (!text || drawn.includes(chunk.kind[i])) continue;
    const x = scale.x(chunk.start[i]);
    sheet.rect(palette.soft, sheet.snap(x - 0.5), row.top - 3, sheet.thin(1), 3);
    const half = sheet.measure(text, NOTE_FONT) / 2 + 4;
    const at = min(max(x, sheet.left + half), sheet.right - half);
    if (!room.free(at - half - 1, y - 8, at + half + 1, y + 8)) continue;
    room.take(at - half - 1, y - 8, at + half + 1, y + 8);
    ctx.fillRect(sheet.snap(x - 0.5), y + 6, sheet.thin(1), row.top - y - 6);
    sheet.rounded(palette.tint(palette.ubatch(row.ubatch), 0.12), at - half, y - 7, at + half, y + 7, 3);
    sheet.text(text, at, y, NOTE_FONT, SMALL, palette.ink, 0.5);
  }
}
