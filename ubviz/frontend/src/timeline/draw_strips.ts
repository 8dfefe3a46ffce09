/**
 * The dense part of every track: loads become one row of pixels in a small image, and each row is drawn once,
 * stretched to the height of its lane. One image for all tracks: what it costs does not grow with the spans.
 */

import type { Bars } from "./columns";
import { kept } from "../base/kept";
import { middle, rowOfLane, type LaneRow } from "./layout";
import { loadsOf, type Loads } from "./loads";
import { collect, commRuns, LoadRow, opacity, waitRuns } from "./lod";
import type { Grid, Shader, Wide } from "./lod";
import { floor, max, min, round } from "../base/numbers";
import { pixelsFor, type Pixels, type PixelStore } from "../base/pixels";
import type { Sheet } from "./sheet";
import { channels, type Palette } from "../base/theme";
import type { BarTrack } from "./tracks";

/**
 * Blocks narrower than this are loads, not shapes; where there are many tracks shapes cost more than they
 * show.
 */
const LEAST_SHAPE = 5;
const LEAST_OF_MANY = 8;
const MANY_TRACKS = 16;

/** Kinds of blocks in which gaps between kernels are seen. */
const GAPPED = ["compute", "comm", "other"];

export function isGapped(sheet: Sheet, { bars, from }: Wide): boolean {
  return GAPPED.includes(sheet.p.data.index.styles[bars.style[from]] ?? "other");
}

type Run = [from: number, to: number];

/** What one track shows. */
export interface Strip {
  track: BarTrack;
  row: LaneRow;
  y: number;
  wide: Wide[];
  image: Run | null;
  comm: Run[];
  waits: Run[];
}

const images: PixelStore = new WeakMap();
let loads = new LoadRow(0);

/** Work out what each track shows, and draw the loads. */
export function paintStrips(sheet: Sheet, tracks: readonly BarTrack[]): Strip[] {
  const { p } = sheet;
  const first = round(sheet.left * p.dpr);
  const count = max(round(sheet.right * p.dpr) - first, 1);
  const start = p.scale.ns(first / p.dpr);
  const grid: Grid = { start, step: (p.scale.ns((first + count) / p.dpr) - start) / count, count };
  const store = pixelsFor(images, p.ctx.canvas, count, max(tracks.length, 1));
  if (loads.count !== count) loads = new LoadRow(count);
  store.values.fill(0);
  const shader = shaderOf(p.palette, p.data.index.styles);
  const least = (tracks.length > MANY_TRACKS ? LEAST_OF_MANY : LEAST_SHAPE) * p.dpr * grid.step;
  const strips: Strip[] = [];
  tracks.forEach((track, number) => {
    const row = rowOfLane(p.layout, track.spec.lane);
    if (row) strips.push(stripOf(sheet, track, row, { grid, least, shader, store, number }));
  });
  store.ctx.putImageData(store.image, 0, 0);
  paintWaits(sheet, strips, first);
  paintImages(sheet, strips, store, tracks);
  paintStripes(sheet, strips, first);
  return strips;
}

interface Work {
  grid: Grid;
  least: number;
  shader: Shader;
  store: Pixels;
  number: number;
}

function stripOf(sheet: Sheet, track: BarTrack, row: LaneRow, work: Work): Strip {
  const { grid, store } = work;
  const wide: Wide[] = [];
  loads.clear();
  const until = grid.start + grid.step * grid.count;
  for (const bars of track.within(grid.start, until)) {
    noteSeen(sheet, bars);
    collect(bars, grid, work.least, work.shader, loads, wide);
  }
  const image = loads.last >= 0 ? ([loads.first, loads.last] as Run) : null;
  if (image) {
    const at = work.number * grid.count;
    fillRow(store.values, at, loads);
    for (const each of wide) {
      if (!each.many) continue;
      const x0 = max((each.bars.start[each.from] - grid.start) / grid.step, 0);
      const x1 = (each.bars.end[each.to - 1] - grid.start) / grid.step;
      fillBlock(sheet, store.values, at, [x0, min(x1, grid.count)], x1 <= grid.count, each);
    }
  }
  return {
    track,
    row,
    y: middle(row, track.spec.sub),
    wide,
    image,
    comm: image && row.group !== "threads" ? commRuns(loads, 5 * sheet.p.dpr) : [],
    waits: image ? waitRuns(loads) : [],
  };
}

const signs = new WeakMap<Loads, string[]>();

/**
 * For the legend: a part that is seen counts with all that is in it, so that the legend stays as one pans.
 */
function noteSeen(sheet: Sheet, bars: Bars): void {
  const { styles } = sheet.p.data.index;
  const names = kept(signs, loadsOf(bars), () => loadsOf(bars).classes.flatMap(({ style, ubatch }) => {
    const name = styles[style] ?? "other";
    return name === "waiting" ? [name] : [name, ubatch ? `ubatch ${ubatch - 1}` : "main"];
  }));
  for (const name of names) sheet.seen.add(name);
}

const shaders = new WeakMap<Palette, WeakMap<readonly string[], Shader>>();

/** The colour of a class of spans seen from afar: pale where it is drawn pale from near. */
function shaderOf(palette: Palette, styles: readonly string[]): Shader {
  const known = kept(shaders, palette, () => new WeakMap<readonly string[], Shader>());
  return kept(known, styles, () => newShader(palette, styles));
}

function newShader(palette: Palette, styles: readonly string[]): Shader {
  return (style, ubatch) => {
    const name = styles[style];
    if (name === "waiting") return null;
    const share = { device: 0.4, copy: 0.5, other: 0.4, transfer: 0.45 }[name] ?? 1;
    const colour = palette.ubatch(ubatch ? ubatch - 1 : null);
    const [red, green, blue] = channels(share === 1 ? colour : palette.tint(colour, share));
    return { red, green, blue, comm: name === "comm" };
  };
}

function fillRow(pixels: Uint32Array, at: number, { load, red, green, blue, first, last }: LoadRow): void {
  for (let p = first; p <= last; p++) {
    const k = load[p];
    if (k <= 0) continue;
    pixels[at + p] =
      ((255 * opacity(k) + 0.5) << 24) |
      ((blue[p] / k + 0.5) << 16) |
      ((green[p] / k + 0.5) << 8) |
      (red[p] / k + 0.5);
  }
}

/**
 * A wide block whose kernels are loads: behind them the tint in which its gaps are seen, and after it a
 * little room: two of one colour are two. Mixed into the pixels: so many rectangles would cost far more.
 */
function fillBlock(
  sheet: Sheet,
  pixels: Uint32Array,
  at: number,
  [x0, x1]: Run,
  ends: boolean,
  wide: Wide,
): void {
  const { palette, dpr } = sheet.p;
  const ubatch = wide.bars.ubatch[wide.from];
  const [tint, background] = groundsOf(palette, ubatch ? ubatch - 1 : null);
  const gap = ends && isGapped(sheet, wide) ? min(sheet.thin(0.9) * dpr, (x1 - x0) / 4) : 0;
  for (let p = floor(x0); p < x1; p++) {
    const pixel = pixels[at + p];
    let alpha = (pixel >>> 24) / 255;
    const behind = (min(p + 1, x1) - max(p, x0)) * (1 - alpha);
    const over = max(min(p + 1, x1) - max(p, x1 - gap), 0);
    alpha += behind;
    const whole = over + alpha * (1 - over);
    let mixed = (255 * whole + 0.5) << 24;
    for (let c = 0; c < 3; c++) {
      const load = ((pixel >>> (8 * c)) & 255) * (alpha - behind) + tint[c] * behind;
      mixed |= ((over * background[c] + load * (1 - over)) / whole + 0.5) << (8 * c);
    }
    pixels[at + p] = mixed;
  }
}

type Grounds = [tint: number[], background: number[]];
const grounds = new Map<string, Grounds>();

function groundsOf(palette: Palette, ubatch: number | null): Grounds {
  return kept(grounds, palette.name + ubatch, () => {
    const tint = palette.tint(palette.ubatch(ubatch), 0.3);
    return [channels(tint), channels(palette.background)];
  });
}

function paintImages(
  sheet: Sheet,
  strips: readonly Strip[],
  store: Pixels,
  tracks: readonly BarTrack[],
): void {
  const { ctx, p } = sheet;
  const at = round(sheet.left * p.dpr) / p.dpr;
  ctx.imageSmoothingEnabled = false;
  for (const { image, row, y, track } of strips) {
    if (!image) continue;
    const [first, last] = image;
    const wide = last - first + 1;
    const number = tracks.indexOf(track);
    const x = at + first / p.dpr;
    ctx.drawImage(store.canvas, first, number, wide, 1, x, y - row.half, wide / p.dpr, 2 * row.half);
  }
}

/** Dots along where something waits. */
function paintWaits(sheet: Sheet, strips: readonly Strip[], first: number): void {
  const { dpr } = sheet.p;
  for (const { waits, y } of strips) {
    if (waits.length)
      sheet.dotted(
        y,
        waits.map(([a, b]) => [(first + a) / dpr, (first + b) / dpr]),
      );
  }
}

/** Stripes where all is communication. */
function paintStripes(sheet: Sheet, strips: readonly Strip[], first: number): void {
  const { ctx, p } = sheet;
  ctx.fillStyle = sheet.stripes;
  for (const { comm, row, y } of strips) {
    for (const [a, b] of comm) ctx.fillRect((first + a) / p.dpr, y - row.half, (b - a) / p.dpr, 2 * row.half);
  }
}
