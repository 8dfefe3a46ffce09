/** The overview: all of the recording in a low strip, and a brush over what the picture shows. */

import { listen, make } from "../base/dom";
import { duration } from "../base/format";
import { abs, max, min, round } from "../base/numbers";
import type { Range } from "../base/range";
import { density, sized, styled } from "../base/surface";
import { channels, type Palette } from "../base/theme";
import type { Data } from "../timeline/data";
import type { Index } from "../timeline/model";
import { Panel, type Shared, type Tool } from "./tool";

const MOST_HIGH = 44;
const LANE = 5;
/** So near an edge of the brush, in pixels, the edge is meant. */
const EDGE = 7;
const STILL = 3;
const SETTLED_MS = 200;
/** A step shorter than this share of the recording has an overview from the beginning. */
const PART = 0.7;

export class Overview implements Tool {
  readonly name = "Overview";
  readonly key = "v";
  readonly #panel: Panel;
  readonly #canvas = make("canvas.map", { "aria-hidden": "true" });
  readonly #brush = make("div.brush", { role: "slider", tabindex: "0", "aria-label": "What is shown",
    "aria-valuemin": "0", "aria-valuemax": "100" });
  readonly #place = make("div.map-place", this.#canvas, this.#brush);
  #known = "";
  #data: Data | null = null;
  /** Where it lies beside the plot: looked up only when that has changed. */
  #room = { key: "", shift: 0, width: 0 };
  #timer = 0;

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, this.name, () => this.close());
    this.#panel.element.classList.add("ubviz-overview");
    this.#panel.head.append(this.#place);
    this.#listen();
    const { index } = shared.view.scene!;
    const [home, all] = [index.home[1] - index.home[0], index.end_ns - index.begin_ns];
    if (home < PART * all) this.use();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.#panel.show();
    this.painted(true);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#room.key = "";
    this.#panel.hide(this.shared.view.shell.stage);
  }

  painted(base: boolean): void {
    const { picture, scene, palette, range } = this.shared.view;
    if (!base || !picture || !scene) return;
    const { index, data } = scene;
    const high = min(max(index.lanes.length * LANE, 16), MOST_HIGH);
    const { shift, width } = this.#measured(picture.scale.left, picture.scale.right, picture.width, high);
    const dpr = density(width, high);
    const key = [data.version, width, high, dpr, palette.name].join();
    if (key !== this.#known || data !== this.#data) {
      const first = data !== this.#data;
      this.#known = key;
      this.#data = data;
      const paint = () => {
        sized(this.#canvas, width, high, dpr);
        paintMap(this.#canvas, data, index, palette);
      };
      clearTimeout(this.#timer);
      if (first) paint();
      else this.#timer = window.setTimeout(paint, SETTLED_MS); // while parts come it would be drawn for each
    }
    this.#placeBrush(range, index, shift, width);
  }

  #measured(left: number, right: number, all: number, high: number): { shift: number; width: number } {
    const key = [left, right, all, high].join();
    if (key !== this.#room.key) {
      styled(this.#place, "height", `${high + 4}px`);
      const box = this.#place.getBoundingClientRect();
      const own = this.shared.view.shell.stage.getBoundingClientRect();
      const shift = max(left - (box.left - own.left), 0);
      this.#room = { key, shift, width: max(round(min(right - left, box.width - shift)), 20) };
      styled(this.#canvas, "left", `${shift}px`);
    }
    return this.#room;
  }

  #placeBrush([a, b]: Range, index: Index, shift: number, width: number): void {
    const all = index.end_ns - index.begin_ns || 1;
    const at = (ns: number) => min(max((ns - index.begin_ns) / all, 0), 1) * width;
    const wide = max(at(b) - at(a), 6);
    const left = min(at(a), width - wide);
    styled(this.#brush, "left", `${round(shift + left)}px`);
    styled(this.#brush, "width", `${round(wide)}px`);
    const from = round((100 * (a - index.begin_ns)) / all);
    this.#brush.setAttribute("aria-valuenow", String(min(max(from, 0), 100)));
    this.#brush.setAttribute("aria-valuetext",
      `${duration(a - index.origin_ns)} to ${duration(b - index.origin_ns)}, of ${duration(all)}`);
  }

  #listen(): void {
    const { view, signal } = this.shared;
    let held: { x: number; range: Range; part: "begin" | "end" | "all" | "new"; at: number } | null = null;
    const timeOf = (x: number): number => {
      const { index } = view.scene!;
      const box = this.#canvas.getBoundingClientRect();
      const share = min(max((x - box.left) / max(box.width, 1), 0), 1);
      return index.begin_ns + share * (index.end_ns - index.begin_ns);
    };
    listen(this.#place, "pointerdown", (event) => {
      if (event.button !== 0 || !view.scene) return;
      event.preventDefault();
      const box = this.#brush.getBoundingClientRect();
      const x = event.clientX;
      const inside = x >= box.left - EDGE && x <= box.right + EDGE;
      const edge = min(EDGE, box.width / 3);
      const part = !inside ? "new" : abs(x - box.left) <= edge ? "begin" : abs(x - box.right) <= edge ? "end" : "all";
      held = { x, range: view.range, part, at: timeOf(x) };
      this.#place.setPointerCapture(event.pointerId);
      this.#brush.focus({ preventScroll: true });
    }, signal);
    listen(this.#place, "pointermove", (event) => {
      if (!held || abs(event.clientX - held.x) < STILL) return;
      const now = timeOf(event.clientX);
      const [a, b] = held.range;
      if (held.part === "all") this.#go([a + now - held.at, b + now - held.at]);
      else if (held.part === "begin") this.#go(ordered(now, b));
      else if (held.part === "end") this.#go(ordered(a, now));
      else this.#go(ordered(held.at, now));
    }, signal);
    const free = (event: PointerEvent) => {
      if (held?.part === "new" && abs(event.clientX - held.x) < STILL) {
        const half = (held.range[1] - held.range[0]) / 2;
        this.#go([held.at - half, held.at + half]);
      }
      held = null;
    };
    listen(this.#place, "pointerup", free, signal);
    listen(this.#place, "pointercancel", () => (held = null), signal);
    listen(this.#brush, "keydown", (event) => {
      const act = ({ ArrowLeft: "pan left", ArrowRight: "pan right", ArrowUp: "zoom in", ArrowDown: "zoom out",
        Home: "home", End: "show all" } as const)[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      view.act(act);
    }, signal);
  }

  /** The same, moved back into the recording where it would leave it. */
  #go([a, b]: Range): void {
    const { begin_ns: begin, end_ns: end } = this.shared.view.scene!.index;
    const length = min(b - a, end - begin);
    const start = min(max(a, begin), end - length);
    this.shared.view.goToTime([start, start + length]);
  }
}

const ordered = (a: number, b: number): Range => (a <= b ? [a, b] : [b, a]);

// ---- the picture

/** How busy each lane is, pixel by pixel, in the colours of its microbatches. */
function paintMap(canvas: HTMLCanvasElement, data: Data, index: Index, palette: Palette): void {
  const ctx = canvas.getContext("2d")!;
  const [width, high] = [canvas.width, canvas.height];
  ctx.fillStyle = palette.background;
  ctx.fillRect(0, 0, width, high);
  const image = ctx.getImageData(0, 0, width, high);
  const pitch = high / max(index.lanes.length, 1);
  const ground = channels(palette.background);
  index.lanes.forEach((_, lane) => {
    const { load, colours } = loadsOf(data, index, lane, width, palette);
    const [top, bottom] = [round(lane * pitch), max(round((lane + 1) * pitch - pitch / 5), round(lane * pitch) + 1)];
    for (let p = 0; p < width; p++) {
      const share = min(load[p]!, 1);
      if (!share) continue;
      for (let y = top; y < min(bottom, high); y++) {
        for (let c = 0; c < 3; c++) {
          const full = colours[3 * p + c]! / load[p]!;
          image.data[4 * (y * width + p) + c] = full * share + ground[c]! * (1 - share);
        }
      }
    }
  });
  ctx.putImageData(image, 0, 0);
}

/** Of a lane: for each pixel how much of its time is busy, and the colours of that, weighted by it. */
export function loadsOf(data: Data, index: Index, lane: number, width: number, palette: Palette) {
  const load = new Float64Array(width);
  const colours = new Float64Array(3 * width);
  const k = width / max(index.end_ns - index.begin_ns, 1);
  const waiting = index.styles.indexOf("waiting");
  const own = index.lanes[lane]!.ubatch;
  for (const track of data.bars) {
    if (track.spec.lane !== lane || track.spec.layer !== "main") continue;
    for (const chunk of track.chunks) {
      for (let i = 0; chunk && i < chunk.rows; i++) {
        if (chunk.style[i] === waiting) continue;
        const [red, green, blue] = rgb(palette, chunk.ubatch[i] ? chunk.ubatch[i]! - 1 : own);
        const [a, b] = [(chunk.start[i]! - index.begin_ns) * k, (chunk.end[i]! - index.begin_ns) * k];
        for (let p = max(Math.floor(a), 0); p < min(b, width); p++) {
          const share = min(b, p + 1) - max(a, p);
          load[p]! += share;
          colours[3 * p]! += share * red;
          colours[3 * p + 1]! += share * green;
          colours[3 * p + 2]! += share * blue;
        }
      }
    }
  }
  return { load, colours };
}

const known = new Map<string, [number, number, number]>();

function rgb(palette: Palette, ubatch: number | null): [number, number, number] {
  const key = `${palette.name}${ubatch}`;
  let found = known.get(key);
  if (!found) known.set(key, (found = channels(palette.ubatch(ubatch))));
  return found;
}
