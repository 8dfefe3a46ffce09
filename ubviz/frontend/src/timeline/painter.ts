/** The two canvases of a view: what is drawn on them, and where time or columns lie on them now. */

import { clockAxis, columnsOfItem, orderAxis, timeOf, type Axis } from "./axis";
import type { Item } from "./data";
import { paintEmpty, paintLogical, paintOverlay, paintWall, type Front, type Picture, type Seen } from "./draw";
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

/** How much nearer the ranges are that are drawn beforehand. */
const NEARER = [12, 24, 48];
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
    const ctx = this.#contextOf(base, true);
    const scale = new Scale(range, layout.gutter, max(width - PAD, layout.gutter + 1));
    const picture = { ctx, data: scene.data, layout, palette, scale, width, height, dpr };
    this.picture = picture;
    const { logical } = scene;
    const seen: Seen = order === "wall" ? paintWall(picture)
      : logical ? paintLogical(picture, logical, this.#columnsOf(logical, range)) : paintEmpty(picture);
    return { ...picture, seen };
  }

  /**
   * Draw nearer ranges where nobody sees them, once there is time: what is drawn for the first time is slow, and the
   * first turns of the wheel would be felt.
   */
  rehearse(): void {
    const { picture } = this;
    if (picture?.layout.order !== "wall") return;
    const { scale, ctx: { canvas: { width, height } } } = picture;
    const ctx = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
    const middle = scale.ns((scale.left + scale.right) / 2);
    for (const share of ctx ? NEARER : []) {
      const half = (scale.ns(scale.right) - middle) / share;
      const nearer = new Scale([middle - half, middle + half], scale.left, scale.right);
      paintWall({ ...picture, ctx: ctx!, scale: nearer });
    }
  }

  /** Where time or columns lie now; between two frames ahead of the picture, so that no movement is lost. */
  axis(scene: Scene, { order, range, width }: Omit<Shown, "palette">): Axis | null {
    const { logical } = scene;
    if (order === "logical" && !logical) return null;
    const columns = order === "logical" ? this.#columnsOf(logical!, range) : null;
    const layout = scene.layout(order);
    const key = JSON.stringify([range, columns, width, layout.gutter]);
    if (this.#known?.key === key && this.#known.scene === scene) return this.#known.axis;
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
    // Browsers copy and blend a canvas that is shown with every frame, also an empty one.
    const canvas = this.shell.front;
    canvas.hidden = !front.selection.length && !front.hovered && front.cursor === null;
    if (canvas.hidden) return;
    paintOverlay({ ...this.picture, ctx: this.#contextOf(canvas) }, { ...front, columns }, logical);
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

  /** `opaque`: nothing behind it shows through, so that it need not be blended. */
  #contextOf(canvas: HTMLCanvasElement, opaque = false): CanvasRenderingContext2D {
    const ctx = this.#contexts.get(canvas) ?? canvas.getContext("2d", { alpha: !opaque });
    if (!ctx) throw new Error("this browser gives no canvas to draw on");
    this.#contexts.set(canvas, ctx);
    return ctx;
  }
}
