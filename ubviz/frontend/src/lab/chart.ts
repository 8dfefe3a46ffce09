/** The curve: makespan against what is dragged, the unsplit run and the best possible beside it, and where one is. */

import { duration, ruler } from "../base/format";
import { CAP, KEY_FONT, NOTE_FONT, RULER_FONT, type Measure } from "../base/text";
import type { Palette } from "../base/theme";
import { breakEven, type Curve, type Point } from "./curve";
import type { Slider } from "./model";

export const CHART_HEIGHT = 190;

export interface Here {
  value: number;
  makespan: number;
  unsplit: number | null;
}

interface Plot {
  ctx: CanvasRenderingContext2D;
  measure: Measure;
  palette: Palette;
  x(value: number): number;
  y(ns: number): number;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export function paintChart(
  ctx: CanvasRenderingContext2D, measure: Measure, palette: Palette, dpr: number, width: number, curve: Curve,
  here: Here,
): void {
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, width, CHART_HEIGHT);
  const most = Math.max(here.makespan, here.unsplit ?? 0, ...curve.points.map((p) => Math.max(p.makespan, p.unsplit ?? 0, p.bound)), 1);
  const { low, high } = curve.slider;
  const [top, bottom, left, right] = [14, CHART_HEIGHT - 26, 58, width - 96];
  const marks = ruler(most, bottom - top, 30);
  const end = Math.max(most * 1.04, marks.at(-1)![0]);
  const plot: Plot = {
    ctx, measure, palette, left, right, top, bottom,
    x: (value) => left + ((value - low) / (high - low)) * (right - left),
    y: (ns) => bottom - (ns / end) * (bottom - top),
  };
  axes(plot, marks, curve.slider);
  const even = curve.done ? breakEven(curve.points) : null;
  if (even !== null && even > low) evenLine(plot, even);
  line(plot, curve.points, (p) => p.bound, palette.soft, 1.3, [4, 3]);
  line(plot, curve.points, (p) => p.unsplit, palette.main, 2);
  line(plot, curve.points, (p) => p.makespan, palette.focus, 2.4);
  names(plot, curve.points);
  dot(plot, here);
}

function write(plot: Plot, text: string, x: number, y: number, font: string, colour: string, align: CanvasTextAlign): void {
  const { ctx } = plot;
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.fillText(text, x, y + 11 * CAP);
}

function axes(plot: Plot, marks: [number, string][], slider: Slider): void {
  const { ctx, palette, left, right, bottom } = plot;
  for (const [ns, label] of marks) {
    const y = Math.round(plot.y(ns)) + 0.5;
    ctx.fillStyle = palette.grid;
    ctx.fillRect(left, y - 0.5, right - left, 1);
    write(plot, label, left - 8, y, RULER_FONT, palette.soft, "right");
  }
  const each = stepOf(slider, right - left);
  for (let value = slider.low; value <= slider.high; value += each) {
    write(plot, String(value), plot.x(value), bottom + 13, RULER_FONT, palette.soft, "center");
  }
  write(plot, slider.unit, right + 18, bottom + 13, RULER_FONT, palette.soft, "left");
}

function stepOf({ low, high }: Slider, room: number): number {
  const [all, most] = [high - low, Math.max(Math.floor(room / 48), 1)];
  return [1, 2, 5, 10, 20, 25, 50, 60, 100, 120, 150, 240, 480].find((step) => all % step === 0 && all / step <= most) ?? all;
}

function line(
  plot: Plot, points: readonly Point[], of: (point: Point) => number | null, colour: string, width: number,
  dash: number[] = [],
): void {
  const { ctx } = plot;
  ctx.beginPath();
  ctx.setLineDash(dash);
  ctx.lineJoin = "round";
  for (const point of points) {
    const ns = of(point);
    if (ns !== null) ctx.lineTo(plot.x(point.value), plot.y(ns));
  }
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.stroke();
  ctx.setLineDash([]);
}

/** What each line is, at its end; those that would touch move apart. */
function names(plot: Plot, points: readonly Point[]): void {
  const last = points.at(-1);
  if (!last || plot.x(last.value) < plot.right - 1) return;
  const { palette } = plot;
  const found = ([["unsplit", last.unsplit, palette.soft], ["makespan", last.makespan, palette.focus],
    ["best possible", last.bound, palette.soft]] as [string, number | null, string][])
    .filter((name): name is [string, number, string] => name[1] !== null)
    .map(([text, ns, colour]) => ({ text, colour, y: plot.y(ns) }))
    .sort((a, b) => a.y - b.y);
  for (let i = 1; i < found.length; i++) found[i]!.y = Math.max(found[i]!.y, found[i - 1]!.y + 14);
  const over = Math.max((found.at(-1)?.y ?? 0) - plot.bottom, 0);
  for (const { text, colour, y } of found) write(plot, text, plot.right + 8, y - over, KEY_FONT, colour, "left");
}

function evenLine(plot: Plot, value: number): void {
  const { ctx, palette, measure, top, bottom, left, right } = plot;
  const x = Math.round(plot.x(value)) + 0.5;
  ctx.setLineDash([2, 3]);
  ctx.strokeStyle = palette.ink;
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(x, top - 4);
  ctx.lineTo(x, bottom);
  ctx.stroke();
  ctx.setLineDash([]);
  const text = `break-even ${value}`;
  const wide = measure(text, NOTE_FONT);
  const leftwards = x + 6 + wide > right && x - 6 - wide > left;
  write(plot, text, leftwards ? x - 6 : x + 6, top - 2, NOTE_FONT, palette.ink, leftwards ? "right" : "left");
}

function dot(plot: Plot, here: Here): void {
  const { ctx, palette } = plot;
  const [x, y] = [plot.x(here.value), plot.y(here.makespan)];
  if (here.unsplit !== null) {
    const above = plot.y(here.unsplit);
    ctx.strokeStyle = here.unsplit >= here.makespan ? palette.focus : palette.fails;
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x, above);
    ctx.lineTo(x, y);
    ctx.stroke();
    ctx.globalAlpha = 1;
  }
  ctx.beginPath();
  ctx.arc(x, y, 5, 0, 2 * Math.PI);
  ctx.fillStyle = palette.focus;
  ctx.fill();
  ctx.strokeStyle = palette.background;
  ctx.lineWidth = 2;
  ctx.stroke();
}

/** What the curve says, for those who do not see it. */
export function chartWords(curve: Curve): string {
  const first = curve.points[0];
  const last = curve.points.at(-1);
  if (!first || !last) return "";
  const { label, unit } = curve.slider;
  const ends = `Makespan against ${inSentence(label)}: ${duration(first.makespan)} at ${first.value} ${unit}, `
    + `${duration(last.makespan)} at ${last.value} ${unit}.`;
  return `${ends} ${evenWords(curve)}`.trim();
}

/** A label within a sentence. */
export const inSentence = (label: string): string => label.charAt(0).toLowerCase() + label.slice(1);

/** From where on splitting pays. */
export function evenWords(curve: Curve): string {
  if (!curve.done || curve.points.every(({ unsplit }) => unsplit === null)) return "";
  const even = breakEven(curve.points);
  const { unit, low } = curve.slider;
  if (even === null) return "Splitting does not pay at the end.";
  if (even === low) return "Splitting is never the slower one.";
  return `Splitting pays from ${even} ${unit} on.`;
}

