/** The lanes, drawn: bars of work, threads that are awake, where each run ends, and what is the best possible. */

import { duration, ruler } from "../base/format";
import { kept } from "../base/kept";
import { begins } from "../base/begins";
import { dashes, dots, hatch } from "../base/patterns";
import { head as arrowHead, rectangle } from "../base/shapes";
import { CAP, GROUP_FONT, KEY_FONT, LABEL, LABEL_FONT, LANE_FONT, NOTE_FONT, RULER_FONT, SMALL, SMALL_FONT, clean, type Measure } from "../base/text";
import type { Palette } from "../base/theme";
import type { Plan } from "./plan";
import type { Layout, Row, Section } from "./rows";

export interface Sheet {
  ctx: CanvasRenderingContext2D;
  measure: Measure;
  palette: Palette;
  width: number;
  dpr: number;
  left: number;
  right: number;
  end: number;
}

/** A stretch of one operation on a lane. */
export interface Block {
  x0: number;
  x1: number;
  kind: string;
  ubatch: number;
  label: string;
}

const x = (sheet: Sheet, ns: number): number => sheet.left + (ns * (sheet.right - sheet.left)) / sheet.end;

/** Draw it all; the names that were written short come back. */
export function paint(sheet: Sheet, layout: Layout): ReadonlyMap<string, string> {
  const shortened = new Map<string, string>();
  const { ctx, palette, width, dpr } = sheet;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, width, layout.height);
  paintRuler(sheet, layout);
  paintBound(sheet, layout); // behind the bars: it crosses no name
  for (const row of layout.rows) {
    write(sheet, row.name, sheet.left - 10, row.y, row.thread ? NOTE_FONT : LANE_FONT, row.thread ? SMALL : 13,
      row.thread ? palette.soft : palette.ink, 1);
    if (row.thread) paintThread(sheet, row);
    else paintStream(sheet, row, shortened);
  }
  paintHeads(sheet, layout);
  return shortened;
}

function write(
  sheet: Sheet, text: string, at: number, y: number, font: string, size: number, colour: string, align: number,
): void {
  const { ctx } = sheet;
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align === 1 ? "right" : align === 0.5 ? "center" : "left";
  ctx.fillText(text, at, y + size * CAP);
}

function paintRuler(sheet: Sheet, layout: Layout): void {
  const { ctx, palette } = sheet;
  const room = sheet.right - sheet.left;
  for (const [at, label] of ruler(sheet.end, room, Math.min(90, Math.max(room / 3, 48)))) {
    const px = Math.round(x(sheet, at)) + 0.5;
    ctx.fillStyle = palette.grid;
    ctx.fillRect(px - 0.5, layout.rulerY + 10, 1, layout.height - layout.rulerY - 16);
    const half = sheet.measure(label, RULER_FONT) / 2;
    if (px + half <= sheet.width) write(sheet, label, px, layout.rulerY, RULER_FONT, 11, palette.soft, 0.5);
  }
}

// ---- streams

function paintStream(sheet: Sheet, row: Row, shortened: Map<string, string>): void {
  const short = shortsOf(row.section.plan);
  for (const block of blocksOf(sheet, row)) {
    const { ground, x0, x1 } = paintBlock(sheet, block, row.y - row.half, row.y + row.half);
    paintName(sheet, block, ground, x0, x1, row.y, short.get(block.label)!, shortened);
  }
}

const shorts = new WeakMap<Plan, Map<string, string>>();

/** The fewest letters that tell an operation from all others; of a send or a receive those of what is sent. */
function shortsOf(plan: Plan): Map<string, string> {
  return kept(shorts, plan, () => {
    const names = [...new Set(plan.works.map(([, operation]) => operation))];
    const stems = [...new Set(names.map(stemOf))];
    const found = new Map<string, string>();
    for (const name of names) {
      found.set(name, begins(stemOf(name), stems));
    }
    return found;
  });
}

const stemOf = (operation: string): string => clean(operation).replace(/ (send|receive)$/, "").slice(0, 60);

/** Kernels of one operation that touch are one block. */
function blocksOf(sheet: Sheet, row: Row): Block[] {
  const { plan, time, begin } = row.section;
  const { start, end, lane, work, ubatch } = plan.bars;
  const out: Block[] = [];
  for (let i = 0; i < start.length; i++) {
    if (lane[i] !== row.lane) continue;
    const [cls, operation, category] = plan.works[work[i]!]!;
    const kind = category === "transfer" ? "transfer" : cls;
    const [x0, x1] = [x(sheet, time[start[i]!]! - begin), x(sheet, time[end[i]!]! - begin)];
    const last = out.at(-1);
    if (last && last.kind === kind && last.label === operation && last.ubatch === ubatch[i] && x0 - last.x1 < 1) {
      last.x1 = Math.max(last.x1, x1);
    } else if (x1 > x0) out.push({ x0, x1, kind, ubatch: ubatch[i]!, label: operation });
  }
  return out;
}

/** The box of a block; on what ground its name stands, and from where to where. */
export function paintBlock(
  sheet: Pick<Sheet, "ctx" | "palette" | "dpr">, block: Block, top: number, bottom: number,
): { ground: string; x0: number; x1: number } {
  const { ctx, palette, dpr } = sheet;
  const colour = palette.ubatch(block.ubatch);
  const x0 = block.x0;
  const x1 = Math.max(block.x1 - Math.min(0.9, (block.x1 - x0) / 4), x0 + 0.7);
  const pale = block.kind === "copy" || block.kind === "other";
  const ground = block.kind === "transfer" ? palette.background : pale ? palette.tint(colour, 0.18) : colour;
  ctx.beginPath();
  rectangle(ctx, x0, top, x1, bottom, 2.6);
  ctx.fillStyle = ground;
  ctx.fill();
  if (block.kind === "comm") ctx.fillStyle = hatch(ctx, palette.hatch, dpr);
  if (block.kind === "transfer") ctx.fillStyle = dots(ctx, colour, dpr);
  if (block.kind === "comm" || block.kind === "transfer") ctx.fill();
  if (block.kind === "transfer" || pale) {
    ctx.beginPath();
    rectangle(ctx, x0 + 0.6, top + 0.6, Math.max(x1 - 0.6, x0 + 1), bottom - 0.6, 2.6);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.2;
    ctx.stroke();
  }
  return { ground, x0, x1 };
}

function paintName(
  sheet: Sheet, block: Block, ground: string, x0: number, x1: number, y: number, short: string,
  shortened: Map<string, string>,
): void {
  const { ctx, measure, palette } = sheet;
  const whole = clean(block.label).slice(0, 60);
  const name = block.kind === "transfer" ? stemOf(block.label) : whole;
  for (const [text, font, size] of [[name, LABEL_FONT, LABEL], [name, SMALL_FONT, SMALL], [short, SMALL_FONT, SMALL]] as const) {
    const half = measure(text, font) / 2;
    if (2 * half + (text === name ? 8 : 5) > x1 - x0) continue;
    if (text !== name) shortened.set(short, stemOf(block.label));
    const middle = (x0 + x1) / 2;
    if (block.kind !== "compute") {
      ctx.beginPath();
      rectangle(ctx, middle - half - 3, y - size * 0.68, middle + half + 3, y + size * 0.68, 2.6);
      ctx.fillStyle = ground;
      ctx.fill();
    }
    write(sheet, text, middle, y, font, size, palette.on(ground), 0.5);
    return;
  }
}

// ---- threads

/** Awake is a bar, waiting is a line. */
function paintThread(sheet: Sheet, row: Row): void {
  const { ctx, palette, dpr } = sheet;
  const { plan, time, begin } = row.section;
  const { awake } = plan;
  const number = /^ubatch (\d+)$/.exec(plan.lanes[row.lane]![0]);
  const colour = palette.ubatch(number ? Number(number[1]) : -1);
  let [from, to] = [Infinity, -Infinity];
  const bars: [number, number][] = [];
  for (let i = 0; i < awake.lane.length; i++) {
    if (awake.lane[i] !== row.lane) continue;
    const x0 = x(sheet, time[awake.start[i]!]! + awake.startNs[i]! - begin);
    const x1 = x(sheet, time[awake.end[i]!]! + awake.endNs[i]! - begin);
    bars.push([x0, x1]);
    [from, to] = [Math.min(from, x0), Math.max(to, x1)];
  }
  if (to > from) {
    ctx.fillStyle = dashes(ctx, palette.waiting, dpr);
    ctx.fillRect(from, Math.round(row.y) - 0.5, to - from, 1);
  }
  ctx.fillStyle = colour;
  for (const [x0, x1] of bars) {
    ctx.beginPath();
    rectangle(ctx, x0, row.y - row.half, Math.max(x1, x0 + 1), row.y + row.half, 2);
    ctx.fill();
  }
}

// ---- where they end

function paintHeads(sheet: Sheet, layout: Layout): void {
  const { palette } = sheet;
  const [first, second] = layout.heads;
  for (const { section, y } of layout.heads) {
    write(sheet, section.title, 0, y, GROUP_FONT, SMALL, palette.soft, 0);
  }
  if (!second) return;
  const [a, b] = [first!.section, second.section].map(({ numbers }) => numbers.makespan_ns) as [number, number];
  paintGain(sheet, x(sheet, b), x(sheet, a), second.y, a, b);
  paintEnd(sheet, first!, palette.soft);
  paintEnd(sheet, second, palette.ink);
}

/** Sooner than this the work below cannot be done, in whatever order. */
function paintBound(sheet: Sheet, layout: Layout): void {
  const { section, top, bottom } = layout.heads.at(-1)!;
  const at = x(sheet, section.numbers.bound_ns);
  const label = `best possible ${duration(section.numbers.bound_ns)}`;
  dashed(sheet, at, top + 22, bottom + 4, sheet.palette.soft);
  write(sheet, label, Math.max(at, sheet.measure(label, NOTE_FONT)), bottom + 11, NOTE_FONT, SMALL, sheet.palette.soft, 1);
}

function paintEnd(sheet: Sheet, { section, y, top, bottom }: Layout["heads"][0], colour: string): void {
  const { ctx, measure, palette } = sheet;
  const at = x(sheet, section.numbers.makespan_ns);
  ctx.fillStyle = colour;
  ctx.fillRect(Math.round(at) - 0.75, top + 4, 1.5, bottom - top - 4);
  const text = duration(section.numbers.makespan_ns);
  const wide = measure(text, KEY_FONT);
  const least = measure(section.title, GROUP_FONT) + 12;
  const right = Math.max(at - 7, least + wide);
  ctx.fillStyle = palette.background;
  ctx.fillRect(right - wide - 2, y - 8, wide + 4, 16);
  write(sheet, text, right, y, KEY_FONT, 12, colour, 1);
}

/** How much sooner, or later, one ends than the other: an arrow from the one above to the one below. */
function paintGain(sheet: Sheet, to: number, from: number, y: number, before: number, after: number): void {
  const { ctx, measure, palette } = sheet;
  if (Math.abs(to - from) < 14) return;
  const sooner = after < before;
  const way = sooner ? -1 : 1;
  const taken = sooner ? 3 : measure(duration(after), KEY_FONT) + 12; // the end of a later one is written before it
  const tip = to - way * taken;
  const colour = sooner ? palette.ink : palette.fails;
  if ((tip - from) * way < 12) return;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(from, y);
  ctx.lineTo(tip - way * 5, y);
  ctx.stroke();
  ctx.beginPath();
  arrowHead(ctx, tip, y, way, 0, 7);
  ctx.fill();
  const text = `${duration(Math.abs(before - after))} ${sooner ? "sooner" : "later"}`;
  const wide = measure(text, KEY_FONT);
  if (wide + 30 > Math.abs(tip - from)) return;
  const middle = (from + tip) / 2;
  ctx.fillStyle = palette.background;
  ctx.fillRect(middle - wide / 2 - 5, y - 8, wide + 10, 16);
  write(sheet, text, middle, y, KEY_FONT, 12, colour, 0.5);
}

function dashed(sheet: Sheet, at: number, top: number, bottom: number, colour: string): void {
  const { ctx } = sheet;
  ctx.setLineDash([4, 3]);
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.2;
  ctx.beginPath();
  ctx.moveTo(at, top);
  ctx.lineTo(at, bottom);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** Room for the names of the lanes. */
export function gutterOf(measure: Measure, layout: Layout): number {
  const widths = layout.rows.map((row) => measure(row.name, row.thread ? NOTE_FONT : LANE_FONT));
  return Math.ceil(Math.max(40, ...widths)) + 14;
}

/** The moment that ends the picture: of all that is drawn. */
export function longestOf(sections: readonly Section[]): number {
  return Math.max(1, ...sections.map(({ numbers }) => Math.max(numbers.makespan_ns, numbers.bound_ns)));
}
