/** What is written on the blocks of a stream: the operation's name where it fits, and the names of its kernels. */

import type { Block, Run } from "./draw_streams";
import { max, min } from "../base/numbers";
import { RADIUS } from "../base/shapes";
import type { Sheet } from "./sheet";
import { clean, LABEL, LABEL_FONT, NOTE_FONT, SMALL, SMALL_FONT } from "../base/text";

/** Kernels that are narrower on average are not told apart. */
const LEAST_KERNEL = 6;

/** A narrower block has no name. */
export const leastNamed = (sheet: Sheet): number => sheet.crowded ? 24 : 7;

interface Setting {
  font: string;
  size: number;
  lines: string[];
  margin: number;
  short?: boolean;
}

export function paintLabel(sheet: Sheet, block: Block): void {
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
