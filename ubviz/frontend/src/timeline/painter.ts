/** The two canvases of a view: what is drawn on them, and where time or columns lie on them now. */

import { clockAxis, columnsOfItem, orderAxis, timeOf, type Axis } from "./axis";
import type { Item } from "./data";
import { paintLogical, paintOverlay, paintWall, type Front, type Picture, type Seen } from "./draw";
import { same } from "../base/link";
import { columnScale, columnsFrom, columnsOf } from "./logical";
import type { Logical, Order } from "./model";
import { ceil, floor, max } from "../base/numbers";
import type { Range } from "../base/range";
import { Scale } from "../base/scale";
import type { Scene } from "./scene";
import type { Shell } from "./shell";
import { density, sized, styled } from "../base/surface";
import type { Palette } from "../base/theme";

/** Room at the right edge. */
const PAD = 14;

/** The state of which the base canvas is a picture. */
export interface Shown {
  order: Order;
  range: Range;
  palette: Palette;
  width: number;
}

export class Painter {
  /** Order has just been entered: the next columns are as many as can be read, not all of the range. */
  entering = true;
  /** As it was last drawn: what the pointer hits. */
  picture: Picture | null = null;
  #columns: { time: Range; columns: [number, number] } | null = null;
  #frontIsEmpty = false;
  readonly #contexts = new Map<HTMLCanvasElement, CanvasRenderingContext2D>();
  #known: { key: string; scene: Scene; axis: Axis } | null = null;

  constructor(private readonly shell: Shell) {}

  /** Draw everything but the front. Logical order without its block is an empty stage. */
  base(scene: Scene, { order, range, palette, width }: Shown): Picture & { seen: Seen } {
    const { stage, base, front, root } = this.shell;
    const layout = scene.layout(order);
    const height = ceil(layout.height);
    const dpr = density(width, height);
    styled(stage, "height", `${height}px`);
    styled(root, "--ubviz-gutter", `${layout.gutter}px`);
    sized(base, width, height, dpr);
    sized(front, width, height, dpr);
    const ctx = this.#contextOf(base);
    const scale = new Scale(range, layout.gutter, max(width - PAD, layout.gutter + 1));
    const picture = { ctx, data: scene.data, layout, palette, scale, width, height, dpr };
    this.picture = picture;
    const { logical } = scene;
    if (order === "logical" && !logical) ctx.clearRect(0, 0, base.width, base.height);
    const seen: Seen = order === "wall" ? paintWall(picture)
      : logical ? paintLogical(picture, logical, this.#columnsOf(logical, range)) : new Set();
    return { ...picture, seen };
  }

  /** Where time or columns lie now; between two frames ahead of the picture, so that no movement is lost. */
  axis(scene: Scene, { order, range, width }: Omit<Shown, "palette">): Axis | null {
    const { logical } = scene;
    if (order === "logical" && !logical) return null;
    const columns = order === "logical" ? this.#columnsOf(logical!, range) : null;
    const key = JSON.stringify([range, columns, width]);
    if (this.#known?.key === key && this.#known.scene === scene) return this.#known.axis;
    const layout = scene.layout(order);
    const right = max(width - PAD, layout.gutter + 1);
    const axis = columns
      ? orderAxis(columnScale(logical!, layout, columns, right, scene.measure), columns, logical!)
      : clockAxis(new Scale(range, layout.gutter, right), scene.index);
    this.#known = { key, scene, axis };
    return axis;
  }

  front(scene: Scene, front: Omit<Front, "columns">): void {
    if (!this.picture) return;
    const logical = this.picture.layout.order === "logical" ? scene.logical : null;
    if (this.picture.layout.order === "logical" && !logical) return;
    const columns = logical ? (this.#columns?.columns ?? null) : null;
    // A canvas that is touched is copied whole: one that stays empty is left alone.
    const empty = !front.selection.length && !front.hovered && front.cursor === null;
    if (empty && this.#frontIsEmpty) return;
    this.#frontIsEmpty = empty;
    paintOverlay({ ...this.picture, ctx: this.#contextOf(this.shell.front) }, { ...front, columns }, logical);
  }

  /** Go to some columns; the range of time that stands for them. */
  goToColumns(scene: Scene, columns: Range): [number, number] | null {
    if (!scene.logical) return null;
    const time = timeOf(scene.logical, columns);
    this.#columns = { time, columns: [columns[0], columns[1]] };
    return time;
  }

  forget(): void {
    this.picture = this.#columns = this.#known = null;
    this.entering = true;
  }

  /** Begin order anew: as many columns as have room for their words, round an item if there is one. */
  enter(scene: Scene, { range, width }: Shown, item: Item | null): void {
    const { logical } = scene;
    if (!this.entering || !logical) return;
    this.entering = false;
    const [begin, last] = columnsOf(logical, range);
    const first = floor(begin); // half a chip says nothing
    const room = width - PAD - scene.layout("logical").gutter;
    const fitting = (from: number) => columnsFrom(logical, max(from, first), room, scene.measure);
    let [from, to] = fitting(first);
    const at = item ? columnsOfItem(item, logical)[0] : first;
    if (at > to && at <= last) [from, to] = fitting(at - (to - from) / 2);
    this.#columns = { time: range, columns: to < last ? [from, to] : [max(from, first), last] };
  }

  /** The columns last gone to while they stand for the range (several share a moment), else the range's. */
  #columnsOf(logical: Logical, range: Range): [number, number] {
    if (!this.#columns || !same(this.#columns.time, range)) {
      this.#columns = { time: range, columns: columnsOf(logical, range) };
    }
    return this.#columns.columns;
  }

  #contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const ctx = this.#contexts.get(canvas) ?? canvas.getContext("2d");
    if (!ctx) throw new Error("this browser gives no canvas to draw on");
    this.#contexts.set(canvas, ctx);
    return ctx;
  }
}
