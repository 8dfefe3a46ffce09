/** The signs of the legend, and what they mean: only of what appeared, in the order in which one reads it. */

import type { Seen } from "./draw";
import { RING, TIP } from "./draw_marks";
import { min, round } from "../base/numbers";
import { dashes, dots, hatch } from "../base/patterns";
import { diamond, head, rectangle, ring } from "../base/shapes";
import { CAP, KEY_FONT } from "../base/text";
import type { Palette } from "../base/theme";

export interface Entry {
  entry: string;
  words: string;
  /** How wide the sign is, in pixels. */
  wide: number;
}

const SWATCH = 24;
const MARK = 12;
const KINDS: Record<string, string> = {
  comm: "communication",
  copy: "copy",
  other: "unclassified",
  transfer: "in flight",
  gap: "gap between kernels",
  device: "blocked by device",
  waiting: "waiting",
};
const ARROWS: Record<string, string> = {
  "set -> wake": "set wakes",
  "record -> wait": "record releases",
  "send -> receive": "data moves",
};
const MARKS: Record<string, string> = {
  record: "event recorded",
  released: "wait ends",
  arrives: "arrives",
  clears: "clears its flag",
};

export function entriesOf(seen: Seen): Entry[] {
  const numbers = [...seen].filter((key) => key.startsWith("ubatch ")).map((key) => Number(key.slice(7)));
  numbers.sort((a, b) => a - b);
  const first = numbers.length ? String(numbers[0]) : "-";
  const found: Entry[] = numbers.map((n) => ({
    entry: `plain ${n}`,
    words: `microbatch ${n}`,
    wide: SWATCH,
  }));
  if (seen.has("main")) {
    found.unshift({
      entry: "plain -",
      words: numbers.length ? "no microbatch" : "computation",
      wide: SWATCH,
    });
  }
  for (const [key, words] of Object.entries(KINDS)) {
    if (seen.has(key)) found.push({ entry: `${key} ${first}`, words, wide: SWATCH });
  }
  const arrows = Object.keys(ARROWS).filter((key) => seen.has(key));
  if (arrows.length)
    found.push({ entry: "arrow", words: arrows.map((key) => ARROWS[key]).join(", "), wide: SWATCH });
  if (seen.has("register -> run")) found.push({ entry: "hook", words: "hook runs", wide: SWATCH });
  for (const [key, words] of Object.entries(MARKS))
    if (seen.has(key)) found.push({ entry: key, words, wide: MARK });
  return [...found, ...keysOf(seen)];
}

/** The initials that stand in narrow blocks, and their operations. */
function keysOf(seen: Seen): Entry[] {
  const shorts = [...seen].filter((key) => key.startsWith("short ")).map((key) => key.slice(6));
  shorts.sort((a, b) => (a.slice(a.indexOf(" ")) < b.slice(b.indexOf(" ")) ? -1 : 1));
  return shorts.map((key) => {
    const [letters, ...name] = key.split(" ");
    return { entry: `letters ${letters}`, words: name.join(" "), wide: 5 + 8 * letters.length };
  });
}

export function swatch(
  ctx: CanvasRenderingContext2D,
  palette: Palette,
  entry: string,
  w: number,
  h: number,
): void {
  const [key, of = ""] = entry.split(" ");
  const dpr = ctx.getTransform().a || 1;
  const colour = palette.ubatch(of === "" || of === "-" ? null : Number(of));
  const y = h / 2;
  ctx.lineWidth = 1.2;
  switch (key) {
    case "arrow":
    case "hook":
      return arrow(ctx, palette, w, y, key === "hook");
    case "record":
    case "released":
      return mark(ctx, palette, w / 2, y, key === "record");
    case "arrives":
      return ring(ctx, w / 2, y, RING, palette.background, palette.ink);
    case "clears":
      ctx.fillStyle = palette.ink;
      return ctx.fillRect(round(w / 2), y - 4, 1.2, 8);
    case "letters":
      ctx.font = KEY_FONT;
      ctx.fillStyle = palette.ink;
      return ctx.fillText(of, 0, y + 12 * CAP);
    case "waiting":
      ctx.fillStyle = dashes(ctx, palette.waiting, dpr);
      return ctx.fillRect(0, y - 0.7, w, 1.4);
    default:
      return box(ctx, palette, key, colour, w, h, dpr);
  }
}

function arrow(ctx: CanvasRenderingContext2D, palette: Palette, w: number, y: number, dashed: boolean): void {
  ctx.strokeStyle = ctx.fillStyle = palette.arrow;
  ctx.setLineDash(dashed ? [3.4, 2.2] : []);
  ctx.beginPath();
  ctx.moveTo(0, y);
  ctx.lineTo(w - 4, y);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.beginPath();
  head(ctx, w, y, 1, 0, 6.2);
  ctx.fill();
}

function mark(ctx: CanvasRenderingContext2D, palette: Palette, x: number, y: number, filled: boolean): void {
  ctx.beginPath();
  diamond(ctx, x, y, TIP);
  ctx.closePath();
  ctx.fillStyle = filled ? palette.ink : palette.background;
  ctx.fill();
  ctx.strokeStyle = palette.ink;
  ctx.stroke();
}

function box(
  ctx: CanvasRenderingContext2D,
  palette: Palette,
  key: string,
  colour: string,
  w: number,
  h: number,
  dpr: number,
): void {
  const tall = min(h, 13);
  const [y0, y1] = [(h - tall) / 2, (h + tall) / 2];
  const share = { copy: 0.16, other: 0.16, transfer: 0, device: 0.14, gap: 0.3 }[key];
  const edge = key === "copy" || key === "other" || key === "transfer" || key === "device" ? 0.6 : 0;
  ctx.beginPath();
  rectangle(ctx, edge, y0 + edge, w - edge, y1 - edge, 2.6);
  ctx.fillStyle = share === undefined ? colour : palette.tint(colour, share);
  ctx.fill();
  if (edge) {
    ctx.setLineDash(key === "other" ? [3.5, 2.4] : []);
    ctx.strokeStyle = colour;
    ctx.stroke();
    ctx.setLineDash([]);
  }
  if (key === "comm") ctx.fillStyle = hatch(ctx, palette.hatch, dpr);
  else if (key === "transfer") ctx.fillStyle = dots(ctx, colour, dpr);
  else ctx.fillStyle = colour;
  if (key === "comm") ctx.fill();
  if (key === "transfer") ctx.fillRect(2, y0 + 2, w - 4, tall - 4);
  if (key === "gap") {
    ctx.fillRect(0, y0, w / 3, tall);
    ctx.fillRect((2 * w) / 3, y0, w / 3, tall);
  }
  if (key === "copy") {
    ctx.globalAlpha = 0.55;
    ctx.fillRect(1, h / 2 - 0.4, w - 2, 0.8);
    ctx.globalAlpha = 1;
  }
}
