/**
 * Error bands: where clocks were aligned, each edge of a bar is known so exactly and no more; and behind each fact of a
 * thread the recorder itself held that thread for so long.
 */

import { make } from "../base/dom";
import { duration } from "../base/format";
import { max, min } from "../base/numbers";
import { cut } from "../base/visible";
import { lower } from "../timeline/columns";
import { middle, rowOfLane } from "../timeline/layout";
import type { Band } from "../timeline/model";
import type { BarTrack } from "../timeline/tracks";
import type { Paint } from "./layer";
import { isBars, type AnyTrack } from "./matches";
import { exact, Panel, type Shared, type Tool } from "./tool";

/** A narrower band is not seen. */
const LEAST = 1.5;
/** Edges nearer to one another than this share one band. */
const APART = 1;
/** Over a bar a colour would make another microbatch of it: what is uncertain is faint, between two lines. */
const FAINT = 0.45;
/** Pixels: the recorder's bands are low, so that names stay readable. */
const LOW = 5;

export class Bands implements Tool {
  readonly name = "Error bands: clocks, the recorder";
  readonly key = "u";
  readonly word = "bands";
  readonly #panel: Panel;
  readonly #list = make("ul.bands");
  readonly #paint = (paint: Paint) => this.#draw(paint);

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, "Error bands", () => this.close());
    this.#panel.head.append(this.#list);
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    const { view, layer } = this.shared;
    if (this.open) return this.close();
    const bands = view.scene?.index.bands ?? [];
    this.#panel.show();
    layer.add(this.#paint);
    const words = bands.map((band) => this.#wordsOf(band));
    this.#list.replaceChildren(...bands.map((band, i) => make("li",
      make(band.after ? "i.band-after" : "i.band-clock", { "aria-hidden": "true" }), make("span", { dir: "auto" }, words[i]!),
      make("small"))));
    view.live.say(`error bands: ${words.join("; ")}`);
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
  }

  #wordsOf({ after, error_ns: ns, lanes: places, words }: Band): string {
    const { lanes } = this.shared.view.scene!.index;
    const where = after ? "behind each fact of a thread" : `on ${cut(places.map((lane) => lanes[lane]!.name).join(", "), 120)}`;
    return `${after ? "" : "\u00b1 "}${duration(ns)} (${exact(ns)}) ${where}: ${cut(words, 300)}`;
  }

  #draw(paint: Paint): void {
    const { data, index } = paint.view.scene!;
    if (paint.view.order !== "wall") return this.#hint(() => "in order of columns there are none");
    const { x, from } = paint;
    this.#hint(({ error_ns: ns }) => (x(from + ns) - x(from) < LEAST ? "zoom in to see it" : ""));
    for (const band of index.bands) {
      if (x(from + band.error_ns) - x(from) < LEAST) continue;
      for (const track of [...data.bars, ...data.marks]) if (band.lanes.includes(track.spec.lane)) drawOn(paint, band, track);
    }
  }

  #hint(say: (band: Band) => string): void {
    this.shared.view.scene!.index.bands.forEach((band, i) => {
      const place = this.#list.children[i]!.lastElementChild!;
      const words = say(band);
      if (place.textContent !== words) place.textContent = words;
    });
  }
}

/** Which moments of a row have a band, by the track that the row is of. */
function momentsOf(band: Band, track: AnyTrack, styles: readonly string[]): ((chunk: Chunk, i: number) => number[]) | null {
  const { layer } = track.spec;
  if (!band.after) return layer === "main" ? ({ start, end }, i) => [start[i]!, end![i]!] : null;
  if (layer === "events") return ({ start }, i) => [start[i]!];
  if (layer === "inner") return ({ start, end }, i) => [start[i]!, end![i]!];
  // a call that a device blocked is over with a fact of its own; others end with a trace event
  const blocked = styles.indexOf("device");
  return layer === "main" ? ({ end, style }, i) => (style![i] === blocked ? [end![i]!] : []) : null;
}

interface Chunk {
  rows: number;
  start: Float64Array;
  end?: Float64Array;
  style?: Uint8Array;
}

function drawOn(paint: Paint, band: Band, track: AnyTrack): void {
  const { layout, left, right, from, to, x, view } = paint;
  const row = rowOfLane(layout, track.spec.lane);
  const moments = momentsOf(band, track, view.scene!.index.styles);
  if (!row || !moments) return;
  const { error_ns: ns, after } = band;
  const wide = x(from + ns) - x(from);
  const y = middle(row, track.spec.sub);
  for (const chunk of (track as BarTrack).within(from - ns, to + ns) as Iterable<Chunk>) {
    let reach = -Infinity;
    const first = lower(isBars(track) ? chunk.end! : chunk.start, from - ns, 0, chunk.rows); // rows of a track follow one another
    for (let i = first; i < chunk.rows && chunk.start[i]! <= to + ns; i++) {
      for (const moment of moments(chunk, i)) {
        const edge = x(moment);
        if (edge - reach < APART) continue;
        const [a, b] = [max(after ? edge : edge - wide, reach + wide, left - 5), min(edge + wide, right + 5)];
        if (b > a) (after ? taken : uncertain)(paint, a, b, after ? row.bottom : y, row.half);
        reach = edge;
      }
    }
  }
}

function uncertain({ ctx, palette }: Paint, a: number, b: number, y: number, half: number): void {
  ctx.globalAlpha = FAINT;
  ctx.fillStyle = palette.background;
  ctx.fillRect(a, y - half, b - a, 2 * half);
  ctx.globalAlpha = 1;
  ctx.fillStyle = palette.fails;
  for (const at of [a, b - 1]) ctx.fillRect(at, y - half - 2, 1, 2 * half + 4);
  ctx.fillRect(a, y - half - 2, b - a, 1);
  ctx.fillRect(a, y + half + 1, b - a, 1);
}

function taken({ ctx, palette }: Paint, a: number, b: number, bottom: number): void {
  ctx.fillStyle = palette.ink;
  ctx.fillRect(a, bottom - LOW + 3, b - a, LOW);
}
