/** The lanes, drawn: what each recording did, on one axis; what is lit stands before the rest. */

import { duration, rulerOf } from "../base/format";
import { dashes, dots, hatch } from "../base/patterns";
import { Scale } from "../base/scale";
import { rectangle } from "../base/shapes";
import {
  CAP, KEY_FONT, LABEL, LABEL_FONT, LANE_FONT, NOTE_FONT, RULER_FONT, SMALL, SMALL_FONT, clean, type Measure,
} from "../base/text";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import type { Block, Data, Track } from "./data";
import { alone } from "./hatch";
import type { Head, Layout, Row } from "./layout";

export interface Sheet {
  ctx: CanvasRenderingContext2D;
  measure: Measure;
  palette: Palette;
  scale: Scale;
  width: number;
  dpr: number;
  /** What was written short, and what it is short for. */
  shortened: Map<string, string>;
}

export function paint(sheet: Sheet, data: Data, layout: Layout, lit: number | null): void {
  const { ctx, palette, width, dpr, scale } = sheet;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, width, layout.height);
  paintRuler(sheet, layout);
  clipped(sheet, layout, () => {
    for (const row of layout.rows) paintRow(sheet, data, row, null);
    if (lit !== null) {
      ctx.globalAlpha = 0.62;
      ctx.fillStyle = palette.background;
      ctx.fillRect(scale.left - 4, layout.heads[0].top, width, layout.height);
      ctx.globalAlpha = 1;
      for (const row of layout.rows) paintRow(sheet, data, row, lit);
    }
  });
  for (const { lane, name, top, high } of layout.rows) {
    write(sheet, name, scale.left - 10, top + high / 2, lane.thread ? NOTE_FONT : LANE_FONT, lane.thread ? SMALL : 13,
      lane.thread ? palette.soft : palette.ink, "right");
  }
}

/** After all that may lie under them. */
export function paintHeads(sheet: Sheet, data: Data, layout: Layout): void {
  for (const head of layout.heads) paintHead(sheet, data, head);
}

export function write(
  { ctx }: Pick<Sheet, "ctx">, text: string, x: number, y: number, font: string, size: number, colour: string, align: CanvasTextAlign,
): void {
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.fillText(text, x, y + size * CAP);
}

/** Nothing is drawn over the names of the lanes. */
function clipped({ ctx, scale, width }: Sheet, layout: Layout, draw: () => void): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(scale.left - 4, 0, width - scale.left + 4, layout.height);
  ctx.clip();
  draw();
  ctx.restore();
}

function paintRuler(sheet: Sheet, layout: Layout): void {
  const { ctx, palette, scale, width } = sheet;
  for (const [at, label] of rulerOf(scale.start, scale.end, scale.room, Math.min(96, Math.max(scale.room / 3, 56)))) {
    const x = Math.round(scale.x(at)) + 0.5;
    ctx.fillStyle = palette.grid;
    ctx.fillRect(x - 0.5, layout.rulerY + 10, 1, layout.height - layout.rulerY - 12);
    const half = sheet.measure(label, RULER_FONT) / 2;
    if (x + half <= width && x - half >= 0) write(sheet, label, x, layout.rulerY, RULER_FONT, 11, palette.soft, "center");
  }
}

// ---- lanes

function paintRow(sheet: Sheet, data: Data, row: Row, lit: number | null): void {
  row.lane.tracks.forEach((track, sub) => {
    const middle = row.top + (sub + 0.5) * row.high;
    if (!row.lane.thread) paintBlocks(sheet, data, track, middle, lit);
    else if (lit === null) paintThread(sheet, data, row, track, middle);
  });
}

/** Awake is a bar, waiting is a line. */
function paintThread({ ctx, palette, scale, dpr }: Sheet, { index }: Data, row: Row, { data }: Track, y: number): void {
  const number = /^ubatch (\d+)/.exec(row.lane.name);
  const colour = palette.ubatch(number ? Number(number[1]) : null);
  for (let i = 0; i < data.t.length; i++) {
    const [x0, x1] = [scale.x(data.t[i]!), scale.x(data.t[i]! + data.dur[i]!)];
    if (x1 < scale.left - 4 || x0 > scale.right + 4) continue;
    const awake = index.styles[data.style[i]!] === "awake";
    ctx.fillStyle = awake ? colour : dashes(ctx, palette.waiting, dpr);
    if (!awake) ctx.fillRect(x0, Math.round(y) - 0.5, x1 - x0, 1);
    else {
      ctx.beginPath();
      rectangle(ctx, x0, y - 4.5, Math.max(x1, x0 + 1), y + 4.5, 2);
      ctx.fill();
    }
  }
}

function paintBlocks(sheet: Sheet, data: Data, track: Track, y: number, lit: number | null): void {
  const { scale } = sheet;
  let right = -Infinity; // of what has been drawn: what lies within the same pixel is not drawn again
  for (const block of track.blocks) {
    if (lit !== null && block.op !== lit) continue;
    const [x0, x1] = [scale.x(block.t), scale.x(block.end)];
    if (x1 < scale.left - 4 || x0 > scale.right + 4) continue;
    if (lit === null && x1 - x0 < 0.7 && x1 < right) continue;
    right = Math.max(right, x0 + 0.7);
    paintBlock(sheet, data, track, block, y, lit !== null);
  }
}

function paintBlock(sheet: Sheet, data: Data, track: Track, block: Block, y: number, lit: boolean): void {
  const { ctx, palette, scale, dpr } = sheet;
  const [top, bottom] = [y - 13, y + 13];
  const colour = palette.ubatch(block.ubatch);
  const only = block.op >= 0 && data.operations[block.op]!.parts.includes(null);
  const pale = only || block.style === "copy" || block.style === "other";
  const ground = block.style === "transfer" ? palette.background : pale ? palette.tint(colour, 0.18) : colour;
  const x0 = scale.x(block.t);
  const x1 = Math.max(scale.x(block.end) - Math.min(0.9, (scale.x(block.end) - x0) / 4), x0 + 0.7);
  const { t, dur } = track.data;
  if (block.to - block.from > 1) { // between its kernels nothing runs, but the operation is the same
    ctx.fillStyle = palette.tint(colour, 0.3);
    ctx.fillRect(x0, y - 3, x1 - x0, 6);
  }
  ctx.beginPath();
  let last = -Infinity;
  for (let i = block.from; i < block.to; i++) {
    const a = Math.max(scale.x(t[i]!), last);
    const b = i + 1 === block.to ? x1 : Math.max(scale.x(t[i]! + dur[i]!), a + 0.5);
    if (b > a) rectangle(ctx, a, top, b, bottom, 2.6);
    last = b;
  }
  ctx.fillStyle = ground;
  ctx.fill();
  if (only) ctx.fillStyle = alone(ctx, colour, dpr);
  else if (block.style === "comm") ctx.fillStyle = hatch(ctx, palette.hatch, dpr);
  else if (block.style === "transfer") ctx.fillStyle = dots(ctx, colour, dpr);
  if (only || block.style === "comm" || block.style === "transfer") ctx.fill();
  if (lit || pale || block.style === "transfer") outline(sheet, x0, x1, top, bottom, lit ? palette.ink : colour, lit ? 2 : 1.2);
  paintName(sheet, data.shorts, block, ground, Math.max(x0, scale.left), Math.min(x1, scale.right + 4), y, only);
}

function outline({ ctx }: Sheet, x0: number, x1: number, top: number, bottom: number, colour: string, wide: number): void {
  const half = wide / 2;
  ctx.beginPath();
  rectangle(ctx, x0 + half, top + half, Math.max(x1 - half, x0 + half + 0.4), bottom - half, 2.6);
  ctx.strokeStyle = colour;
  ctx.lineWidth = wide;
  ctx.stroke();
}

/** The name where it fits whole, else the letters that stand for it where these do. */
function paintName(
  sheet: Sheet, shorts: Data["shorts"], block: Block, ground: string, x0: number, x1: number, y: number, only: boolean,
): void {
  const { ctx, measure, palette } = sheet;
  const name = clean(block.label).slice(0, 60);
  const short = shorts.get(name) ?? "";
  for (const [text, font, size] of [[name, LABEL_FONT, LABEL], [name, SMALL_FONT, SMALL], [short, SMALL_FONT, SMALL]] as const) {
    const half = measure(text, font) / 2;
    if (!text || 2 * half + 8 > x1 - x0) continue;
    if (text !== name) sheet.shortened.set(short, name);
    const middle = (x0 + x1) / 2;
    if (only || block.style !== "compute" || block.to - block.from > 1) {
      ctx.beginPath();
      rectangle(ctx, middle - half - 3, y - size * 0.68, middle + half + 3, y + size * 0.68, 2.6);
      ctx.fillStyle = ground;
      ctx.fill();
    }
    write(sheet, text, middle, y, font, size, palette.on(ground), "center");
    return;
  }
}

// ---- the name of each recording, and where it ends

function paintHead(sheet: Sheet, { index }: Data, head: Head): void {
  const { ctx, palette, scale, width } = sheet;
  const name = cut(index.names[head.side], 30); // as it is: in capitals a µs would be an MS
  const step = index.steps[head.side];
  write(sheet, name, 0, head.y, KEY_FONT, LABEL, palette.ink, "left");
  let taken = sheet.measure(name, KEY_FONT) + 8;
  const words = step === null ? "" : `step ${step}`;
  if (words) {
    write(sheet, words, taken, head.y, NOTE_FONT, SMALL, palette.soft, "left");
    taken += sheet.measure(words, NOTE_FONT) + 8;
  }
  const makespan = index.totals.makespan_ns?.[head.side];
  if (makespan === null || makespan === undefined) return;
  const at = scale.x(makespan);
  const inside = at >= scale.left && at <= width;
  if (inside) {
    ctx.fillStyle = palette.ink;
    ctx.fillRect(Math.round(at) - 0.75, head.top + 4, 1.5, head.bottom - head.top - 4);
  }
  const text = `makespan ${duration(makespan)}`;
  const wide = sheet.measure(text, KEY_FONT);
  const least = taken + 6 + wide;
  if (least > width - 2) return;
  const x = Math.max(least, Math.min(inside ? at - 6 : width - 4, width - 4));
  ctx.fillStyle = palette.background;
  ctx.fillRect(x - wide - 4, head.y - 9, wide + (x > at ? 8 : 6), 18);
  write(sheet, text, x, head.y, KEY_FONT, 12, palette.ink, "right");
}

/** Room for the names of the lanes. */
export function gutterOf(measure: Measure, layout: Layout): number {
  const widths = layout.rows.map(({ name, lane }) => measure(name, lane.thread ? NOTE_FONT : LANE_FONT));
  return Math.ceil(Math.max(40, ...widths)) + 14;
}
