/** Streams: an operation is a block, its kernels are seen in it, its kind is a pattern; names are set elsewhere. */

import { upper } from "./columns";
import { leastNamed, paintLabel } from "./draw_names";
import { isGapped, type Strip } from "./draw_strips";
import type { Wide } from "./lod";
import { max, min, round } from "../base/numbers";
import { dots } from "../base/patterns";
import { RADIUS, rectangle } from "../base/shapes";
import type { Sheet } from "./sheet";
import { clean, NOTE_FONT } from "../base/text";

export type Run = [a: number, b: number];

/** One block as it is seen: cut off at the sides of the plot. */
export interface Block {
  kind: string;
  colour: string;
  /** The number of its operation's name, and the name once it is asked for. */
  name: number;
  label: string;
  ubatch: number | null;
  x0: number;
  x1: number;
  top: number;
  bottom: number;
  /** Whether it begins, and ends, within the plot: there it is rounded, else cut square. */
  begins: boolean;
  ends: boolean;
  gapped: boolean;
  /** Where its kernels are; those that touch are one run. */
  runs: Run[];
  joints: number[];
  kernels: { a: number; b: number; name: string }[];
  many: boolean;
}

export function paintStream(sheet: Sheet, strip: Strip): void {
  const blocks: Block[] = [];
  for (const wide of strip.wide) if (!isDone(sheet, wide)) blocks.push(blockOf(sheet, strip, wide));
  for (const block of blocks) paintBlock(sheet, block);
  for (const block of blocks) paintLabel(sheet, block);
}

/** Its kernels and gaps are in the image of the loads, and it is too narrow for a name. */
function isDone(sheet: Sheet, wide: Wide): boolean {
  const { bars, from, to, many } = wide;
  const long = (bars.end[to - 1] - bars.start[from]) * sheet.p.scale.k;
  return many && long < leastNamed(sheet) && isGapped(sheet, wide);
}

function blockOf(sheet: Sheet, strip: Strip, wide: Wide): Block {
  const { bars, from, to } = wide;
  const { scale, palette, data } = sheet.p;
  const start = bars.start[from];
  const end = bars.end[to - 1];
  const ubatch = bars.ubatch[from] ? bars.ubatch[from] - 1 : null;
  const name = bars.op[from] ? bars.op[from] - 1 : bars.name[from];
  const kind = data.index.styles[bars.style[from]] ?? "other";
  const block: Block = {
    kind,
    colour: palette.ubatch(ubatch),
    ubatch,
    name,
    label: "",
    x0: max(scale.x(start), sheet.left),
    x1: min(scale.x(end), sheet.right),
    top: strip.y - strip.row.half,
    bottom: strip.y + strip.row.half,
    begins: scale.x(start) >= sheet.left,
    ends: scale.x(end) <= sheet.right,
    gapped: isGapped(sheet, wide),
    runs: [],
    joints: [],
    kernels: [],
    many: wide.many,
  };
  if (wide.many) block.runs.push([block.x0, block.x1]);
  else findRuns(sheet, wide, block);
  return block;
}

/** Where the kernels are, in pixels; gaps too narrow to be seen are closed. */
function findRuns(sheet: Sheet, { bars, from, to }: Wide, block: Block): void {
  const { scale, data } = sheet.p;
  let piece = -Infinity;
  for (let i = upper(bars.end, scale.start, from, to); i < to && bars.start[i] < scale.end; i++) {
    const a = max(scale.x(bars.start[i]), sheet.left);
    const b = min(scale.x(bars.end[i]), sheet.right);
    const run = block.runs[block.runs.length - 1];
    if (run && a - run[1] < 0.45) {
      if (b - piece >= 0.9) {
        if (a - piece > 1) block.joints.push(a);
        piece = a;
      }
      run[1] = max(run[1], b);
    } else {
      block.runs.push([a, b]);
      piece = a;
    }
    if (b - a > 24) block.kernels.push({ a, b, name: clean(data.facts.names[bars.name[i]] ?? "") });
  }
}

function paintBlock(sheet: Sheet, block: Block): void {
  const { ctx } = sheet;
  if (block.x1 <= block.x0) return;
  for (let i = 1; i < block.runs.length; i++) {
    if (block.runs[i][0] - block.runs[i - 1][1] > 2.5) sheet.seen.add("gap");
  }
  if (block.many && block.gapped) return; // it is in the image of the loads
  if (block.ends) shorten(block, block.x1 - edgeOf(sheet, block));
  switch (block.kind) {
    case "copy":
      paintCopy(sheet, block);
      break;
    case "transfer":
      paintTransfer(sheet, block);
      break;
    case "other":
      paintOther(sheet, block);
      break;
    default:
      paintPlain(sheet, block);
      if (block.kind === "comm") {
        ctx.fillStyle = sheet.stripes;
        for (const [a, b] of block.runs) ctx.fillRect(a, block.top, b - a, block.bottom - block.top);
      }
  }
}

/** A little room at the end of a block: two of one colour are two. */
function shorten(block: Block, end: number): void {
  block.x1 = end;
  const last = block.runs[block.runs.length - 1];
  if (last && last[1] > end) last[1] = max(end, last[0]);
}

function paintPlain(sheet: Sheet, block: Block): void {
  const { ctx } = sheet;
  const { x0, x1, top, bottom, runs } = block;
  if (runs.length > 1) {
    ctx.fillStyle = sheet.p.palette.tint(block.colour, 0.3);
    fill(sheet, x0, top, x1, bottom, block.begins, block.ends);
  }
  ctx.fillStyle = block.colour;
  runs.forEach(([a, b], i) => {
    const begins = block.begins && i === 0;
    const ends = block.ends && i === runs.length - 1;
    fill(sheet, a, top, max(b, a + 0.7), bottom, begins, ends);
  });
}

function fill(
  sheet: Sheet,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  begins: boolean,
  ends: boolean,
): void {
  const { ctx } = sheet;
  if (x1 - x0 < sheet.leastRound || !(begins || ends)) {
    ctx.fillRect(x0, y0, x1 - x0, y1 - y0);
    return;
  }
  ctx.beginPath();
  rectangle(ctx, x0, y0, x1, y1, RADIUS, begins, ends);
  ctx.fill();
}

/** A box with an edge of the colour and as much of it inside as `share` says. */
export function outlined(
  sheet: Sheet,
  x0: number,
  y0: number,
  x1: number,
  y1: number,
  colour: string,
  share: number,
  radius = RADIUS,
  begins = true,
  ends = true,
): void {
  const { ctx } = sheet;
  const edge = 0.6;
  const inside = share ? sheet.p.palette.tint(colour, share) : sheet.p.palette.background;
  if (x1 - x0 < sheet.leastRound) {
    sheet.rect(colour, x0, y0, x1 - x0, y1 - y0);
    sheet.rect(inside, x0 + 2 * edge, y0 + 2 * edge, max(x1 - x0 - 4 * edge, 0), y1 - y0 - 4 * edge);
    return;
  }
  ctx.beginPath();
  rectangle(ctx, x0 + edge, y0 + edge, max(x1 - edge, x0 + edge + 0.6), y1 - edge, radius, begins, ends);
  ctx.fillStyle = inside;
  ctx.fill();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2 * edge;
  ctx.stroke();
}

/** Pale, outlined, with fine level lines: it moves bytes and computes nothing. */
function paintCopy(sheet: Sheet, block: Block): void {
  const { ctx } = sheet;
  const { x0, x1, top, bottom, colour } = block;
  outlined(sheet, x0, top, x1, bottom, colour, 0.16, RADIUS, block.begins, block.ends);
  const lines = round((bottom - top) / 7.3);
  ctx.globalAlpha = 0.55;
  ctx.fillStyle = colour;
  for (let i = 1; i < lines; i++) {
    ctx.fillRect(
      x0 + 1,
      sheet.snap(top + ((bottom - top) * i) / lines),
      max(x1 - x0 - 2, 0),
      sheet.thin(0.7),
    );
  }
  ctx.globalAlpha = 1;
}

function paintTransfer(sheet: Sheet, block: Block): void {
  const { ctx, p } = sheet;
  const { x0, x1, top, bottom, colour } = block;
  outlined(sheet, x0, top, x1, bottom, colour, 0, RADIUS, block.begins, block.ends);
  sheet.rect(dots(ctx, colour, p.dpr), x0 + 2, top + 2, max(x1 - x0 - 4, 0), bottom - top - 4);
}

/** Pale, with a dashed edge: it is not known what it does, and it counts as nothing. */
function paintOther(sheet: Sheet, block: Block): void {
  const { ctx } = sheet;
  ctx.setLineDash([3.5, 2.4]);
  block.runs.forEach(([a, b], i) => {
    const begins = block.begins && i === 0;
    outlined(
      sheet,
      a,
      block.top,
      b,
      block.bottom,
      block.colour,
      0.16,
      RADIUS,
      begins,
      block.ends && i === block.runs.length - 1,
    );
  });
  ctx.setLineDash([]);
}

const edgeOf = (sheet: Sheet, block: Block): number => min(sheet.thin(0.9), (block.x1 - block.x0) / 4);

/** A stream waits for an event: for which, where there is room on the line. */
export function paintWaitTexts(sheet: Sheet, strip: Strip): void {
  const { p } = sheet;
  for (const { bars, from } of strip.wide) {
    const x0 = max(p.scale.x(bars.start[from]), sheet.left);
    const x1 = min(p.scale.x(bars.end[from]), sheet.right);
    const name = p.data.facts.names[bars.name[from]] ?? "";
    const text =
      x1 - x0 > 40 ? sheet.fit([`waits for ${name}`, name, "waits"], NOTE_FONT, x1 - x0 - 30) : null;
    if (text) sheet.note(text, (x0 + x1) / 2, strip.y, 4, 4, p.palette.soft);
  }
}
