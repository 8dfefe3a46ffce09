/**
 * The dense part of every track: loads become one row of pixels in a small image, and each row is drawn once,
 * stretched to the height of its lane. One image for all tracks: what it costs does not grow with the spans.
 */

import { loadsOf, type Bars } from "./columns";
import { middle, rowOfLane, type LaneRow } from "./layout";
import { collect, commRuns, LoadRow, opacity, waitRuns, type Grid, type Shade, type Shader, type Wide } from "./lod";
import type { Sheet } from "./sheet";
import { channels, type Palette } from "./theme";
import type { BarTrack } from "./tracks";

/**
 * Blocks narrower than this are loads, not shapes; where there are many tracks shapes cost more than they
 * show.
 */
const LEAST_SHAPE = 5;
const LEAST_OF_MANY = 8;
const MANY_TRACKS = 16;

/** What one track shows. */
export interface Strip {
  track: BarTrack;
  row: LaneRow;
  y: number;
  wide: Wide[];
  image: [first: number, last: number] | null;
  comm: [number, number][];
  waits: [number, number][];
}

interface Kept {
  canvas: HTMLCanvasElement;
  ctx: CanvasRenderingContext2D;
  image: ImageData;
  pixels: Uint32Array;
  loads: LoadRow;
}

const kept = new WeakMap<HTMLCanvasElement, Kept>();

/** Work out what each track shows, and draw the loads. */
export function paintStrips(sheet: Sheet, tracks: readonly BarTrack[]): Strip[] {
  const { p } = sheet;
  const first = Math.round(sheet.left * p.dpr);
  const count = Math.max(Math.round(sheet.right * p.dpr) - first, 1);
  const start = p.scale.ns(first / p.dpr);
  const grid: Grid = { start, step: (p.scale.ns((first + count) / p.dpr) - start) / count, count };
  const store = keptFor(p.ctx.canvas, count, tracks.length);
  store.pixels.fill(0);
  const shader = shaderOf(p.palette, p.data.index.styles);
  const least = (tracks.length > MANY_TRACKS ? LEAST_OF_MANY : LEAST_SHAPE) * p.dpr * grid.step;
  const strips: Strip[] = [];
  tracks.forEach((track, number) => {
    const row = rowOfLane(p.layout, track.spec.lane);
    if (row) strips.push(stripOf(sheet, track, row, { grid, least, shader, store, number }));
  });
  store.ctx.putImageData(store.image, 0, 0);
  paintWaits(sheet, strips, first);
  paintTints(sheet, strips);
  paintImages(sheet, strips, store, tracks);
  paintStripes(sheet, strips, first);
  return strips;
}

interface Work {
  grid: Grid;
  least: number;
  shader: Shader;
  store: Kept;
  number: number;
}

function stripOf(sheet: Sheet, track: BarTrack, row: LaneRow, work: Work): Strip {
  const { grid, store } = work;
  const { loads } = store;
  const wide: Wide[] = [];
  loads.clear();
  const until = grid.start + grid.step * grid.count;
  for (const bars of track.within(grid.start, until)) {
    noteSeen(sheet, bars);
    collect(bars, grid, work.least, work.shader, loads, wide);
  }
  const image = loads.last >= 0 ? ([loads.first, loads.last] as [number, number]) : null;
  if (image) fillRow(store.pixels, work.number * grid.count, loads);
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

/**
 * For the legend: a part that is seen counts with all that is in it, so that the legend stays as one pans.
 */
function noteSeen(sheet: Sheet, bars: Bars): void {
  for (const { style, ubatch } of loadsOf(bars).classes) {
    const name = sheet.p.data.index.styles[style] ?? "other";
    sheet.seen.add(name);
    if (name !== "waiting") sheet.seen.add(ubatch ? `ubatch ${ubatch - 1}` : "main");
  }
}

/** The colour of a class of spans seen from afar: pale where it is drawn pale from near. */
function shaderOf(palette: Palette, styles: readonly string[]): Shader {
  const known = new Map<number, Shade>();
  const shadeOf = (style: number, ubatch: number): Shade => {
    const name = styles[style];
    if (name === "waiting") return null;
    const share = { device: 0.4, copy: 0.5, other: 0.4, transfer: 0.45 }[name] ?? 1;
    const colour = palette.ubatch(ubatch ? ubatch - 1 : null);
    const [red, green, blue] = channels(share === 1 ? colour : palette.tint(colour, share));
    return { red, green, blue, comm: name === "comm" };
  };
  return (style, ubatch) => {
    const key = style * 65536 + ubatch;
    const shade = known.get(key) ?? shadeOf(style, ubatch);
    known.set(key, shade);
    return shade;
  };
}

function fillRow(pixels: Uint32Array, at: number, { load, red, green, blue, first, last }: LoadRow): void {
  for (let p = first; p <= last; p++) {
    const k = load[p];
    if (k <= 0) continue;
    pixels[at + p] =
      ((255 * opacity(k) + 0.5) << 24) | ((blue[p] / k + 0.5) << 16) | ((green[p] / k + 0.5) << 8) | (red[p] / k + 0.5);
  }
}

function keptFor(canvas: HTMLCanvasElement, width: number, height: number): Kept {
  const old = kept.get(canvas);
  if (old && old.image.width === width && old.image.height === Math.max(height, 1)) return old;
  const own = canvas.ownerDocument.createElement("canvas");
  own.width = width;
  own.height = Math.max(height, 1);
  const ctx = own.getContext("2d", { willReadFrequently: true })!;
  const image = ctx.createImageData(own.width, own.height);
  const pixels = new Uint32Array(image.data.buffer);
  const made = { canvas: own, ctx, image, pixels, loads: new LoadRow(width) };
  kept.set(canvas, made);
  return made;
}

/** Under the kernels of a wide block whose kernels are loads: the tint in which its gaps are seen. */
function paintTints(sheet: Sheet, strips: readonly Strip[]): void {
  const { ctx, p } = sheet;
  for (const { wide, row, y } of strips) {
    for (const { bars, from, to, many } of wide) {
      if (!many) continue;
      const x0 = Math.max(p.scale.x(bars.start[from]), sheet.left);
      const x1 = Math.min(p.scale.x(bars.end[to - 1]), sheet.right);
      ctx.fillStyle = p.palette.tint(p.palette.ubatch(bars.ubatch[from] ? bars.ubatch[from] - 1 : null), 0.3);
      ctx.fillRect(x0, y - row.half, x1 - x0, 2 * row.half);
    }
  }
}

function paintImages(sheet: Sheet, strips: readonly Strip[], store: Kept, tracks: readonly BarTrack[]): void {
  const { ctx, p } = sheet;
  const at = Math.round(sheet.left * p.dpr) / p.dpr;
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
