/**
 * Streams: an operation is a block, its kernels are seen in it, its kind is a pattern, its name stands
 * where it fits.
 */

import { upper } from "./columns";
import { isGapped, type Strip } from "./draw_strips";
import type { Wide } from "./lod";
import { max, min, round } from "../base/numbers";
import { dots } from "../base/patterns";
import { rectangle } from "../base/shapes";
import type { Sheet } from "./sheet";
import { clean, LABEL, LABEL_FONT, NOTE_FONT, SMALL, SMALL_FONT } from "../base/text";

const RADIUS = 2.6;
/** Kernels that are narrower on average are not told apart. */
const LEAST_KERNEL = 6;
type Run = [a: number, b: number];

/** One block as it is seen: cut off at the sides of the plot. */
interface Block {
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

const leastNamed = (sheet: Sheet): number => sheet.crowded ? 24 : 7;

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

// ---- names

interface Setting {
  font: string;
  size: number;
  lines: string[];
  margin: number;
  short?: boolean;
}

function paintLabel(sheet: Sheet, block: Block): void {
  const high = block.bottom - block.top;
  const wide = block.x1 - block.x0;
  if (wide < leastNamed(sheet) || high < SMALL + 1) return;
  const label = clean(sheet.p.data.facts.names[block.name] ?? "");
  block.label = block.kind === "transfer" ? label.replace(/ send$/, "") : label;
  if (!block.label) return;
  const named = high >= 31 ? namedKernels(sheet, block) : [];
  const [a, b] =
    named.length > 1 || !block.gapped ? [block.x0, block.x1] : longest(block.runs);
  const y = (block.top + block.bottom) / 2;
  let x0 = Infinity;
  let x1 = -Infinity;
  for (const setting of settings(sheet, block, named.length ? 20 : high)) {
    const up = named.length && setting.lines.length === 1 ? -7 : 0;
    const middle = placeFor(sheet, setting, a, b, y + up);
    if (middle === null) continue;
    const calm = block.kind !== "compute" || block.many || named.length > 1;
    [x0, x1] = paintLines(sheet, block, setting, middle, y + up, calm);
    if (setting.short) sheet.seen.add(`short ${sheet.p.data.shortOf(block.label)} ${block.label}`);
    if (setting.lines.length === 1) {
      for (const kernel of named) paintKernelName(sheet, block, kernel, y + 8);
    }
    break;
  }
  paintJoints(sheet, block, x0 - 2, x1 + 2);
}

/** Where a name fits between a and b, clear of marks: in the middle, or near it. */
function placeFor(sheet: Sheet, setting: Setting, a: number, b: number, y: number): number | null {
  const { lines, font, margin, size } = setting;
  const half = max(...lines.map((line) => sheet.measure(line, font))) / 2;
  const slack = (b - a) / 2 - half - margin;
  if (slack < 0) return null;
  const high = (size * 1.28 * lines.length) / 2 - 2;
  for (const share of [0, -0.5, 0.5, -1, 1]) {
    const x = (a + b) / 2 + share * slack;
    if (sheet.marks.free(x - half, y - high, x + half, y + high)) return x;
    if (slack < 3) break;
  }
  return null;
}

function longest(runs: readonly Run[]): Run {
  let best: Run = [0, -1];
  for (const run of runs) if (run[1] - run[0] > best[1] - best[0]) best = run;
  return best;
}

/** Ways to write an operation's name, the best first. */
function settings(sheet: Sheet, block: Block, high: number): Setting[] {
  const numbered = sheet.p.data.numbered && block.ubatch !== null;
  const name = numbered ? `${block.label} ${block.ubatch}` : block.label;
  const [first, ...rest] = block.label.split(" ");
  const found: Setting[] = [];
  if (high >= LABEL + 2.5) found.push({ font: LABEL_FONT, size: LABEL, lines: [name], margin: 4.5 });
  if (rest.length === 1 && high >= 2 * SMALL + 7) {
    found.push({ font: SMALL_FONT, size: SMALL, lines: [first, name.slice(first.length + 1)], margin: 4 });
  }
  found.push({ font: SMALL_FONT, size: SMALL, lines: [name], margin: 3.2 });
  const short = sheet.p.data.shortOf(block.label);
  if (short && numbered) {
    found.push({ font: SMALL_FONT, size: SMALL, lines: [`${short}${block.ubatch}`], margin: 2, short: true });
  }
  if (short) found.push({ font: SMALL_FONT, size: SMALL, lines: [short], margin: 2, short: true });
  return found;
}

function groundOf(sheet: Sheet, block: Block): string {
  const { palette } = sheet.p;
  if (block.kind === "copy" || block.kind === "other") return palette.tint(block.colour, 0.16);
  return block.kind === "transfer" ? palette.background : block.colour;
}

/** Set the lines, on a calm ground where there is a pattern; from where to where they reach. */
function paintLines(
  sheet: Sheet,
  block: Block,
  setting: Setting,
  middle: number,
  y: number,
  calm: boolean,
): [number, number] {
  const { p } = sheet;
  const ground = groundOf(sheet, block);
  const pitch = setting.size * 1.28;
  const widths = setting.lines.map((line) => sheet.measure(line, setting.font));
  const top = y - (pitch * (setting.lines.length - 1)) / 2;
  setting.lines.forEach((line, i) => {
    const at = top + i * pitch;
    if (calm) {
      const grow = min(3, setting.margin - 0.5);
      const half = widths[i] / 2 + grow;
      const high = setting.size * 0.66;
      if (sheet.crowded) sheet.rect(ground, middle - half, at - high, 2 * half, 2 * high);
      else sheet.rounded(ground, middle - half, at - high, middle + half, at + high, RADIUS);
    }
    sheet.text(line, middle, at, setting.font, setting.size, p.palette.on(ground), 0.5);
  });
  const half = max(...widths) / 2;
  return [middle - half, middle + half];
}

/** Kernels that are wide enough for a name of their own, which the operation does not have already. */
function namedKernels(sheet: Sheet, block: Block): Block["kernels"] {
  return block.kernels.filter(
    ({ a, b, name }) => name && name !== block.label && sheet.measure(name, NOTE_FONT) + 9 <= b - a,
  );
}

function paintKernelName(sheet: Sheet, block: Block, kernel: Block["kernels"][0], y: number): void {
  const { p } = sheet;
  const ground = groundOf(sheet, block);
  const middle = (kernel.a + kernel.b) / 2;
  if (block.kind !== "compute") {
    const half = sheet.measure(kernel.name, NOTE_FONT) / 2 + 3;
    sheet.rect(ground, middle - half, y - SMALL * 0.62, 2 * half, SMALL * 1.24);
  }
  sheet.text(kernel.name, middle, y, NOTE_FONT, SMALL, p.palette.on(ground), 0.5);
}

/** A fine line where one kernel follows another, unless that would be a comb. */
function paintJoints(sheet: Sheet, block: Block, from: number, to: number): void {
  const { joints } = block;
  if (!joints.length || (block.x1 - block.x0) / joints.length < LEAST_KERNEL) return;
  const { ctx, p } = sheet;
  ctx.fillStyle = p.palette.background;
  ctx.globalAlpha = 0.4;
  for (const x of joints) {
    if (x < from || x > to) ctx.fillRect(sheet.snap(x), block.top, sheet.thin(0.7), block.bottom - block.top);
  }
  ctx.globalAlpha = 1;
}

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
