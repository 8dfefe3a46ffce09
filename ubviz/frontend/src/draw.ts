/** The faces of drawing: by the clock, by order, and what lies in front of both. */

import { entriesOf, swatch, type Entry } from "./draw_legend";
import { order } from "./draw_logical";
import { overlay } from "./draw_overlay";
import { wall } from "./draw_wall";
import type { Data, Item } from "./data";
import type { Layout } from "./layout";
import type { Logical } from "./model";
import type { Scale } from "./scale";
import type { Palette } from "./theme";

export interface Picture {
  ctx: CanvasRenderingContext2D;
  data: Data;
  layout: Layout;
  palette: Palette;
  scale: Scale;
  width: number;
  height: number;
  dpr: number;
}

/** What appeared, for the legend. */
export type Seen = Set<string>;

export interface Front {
  selection: Item[];
  hovered: Item | null;
  cursor: number | null;
  focus: boolean;
  columns: [number, number] | null;
}

/** Everything but the overlay. Sets the transform for `dpr` itself and fills the background. */
export function paintWall(p: Picture): Seen {
  return wall(p);
}

/** The same in logical order; of `p.scale` only where the plot ends plays a part. */
export function paintLogical(p: Picture, logical: Logical, columns: [number, number]): Seen {
  return order(p, logical, columns);
}

/**
 * Selection, hovered, cursor, and the flows of the selection; on its own transparent canvas, cleared first.
 */
export function paintOverlay(p: Picture, front: Front, logical: Logical | null): void {
  overlay(p, front, logical);
}

/** The sign of a legend's entry, within w by h pixels (the context is scaled by the caller). */
export function paintSwatch(
  ctx: CanvasRenderingContext2D,
  palette: Palette,
  entry: string,
  w: number,
  h: number,
): void {
  swatch(ctx, palette, entry, w, h);
}

/** What appeared, in the order in which one reads it; `wide`: how wide its sign is. */
export function legendEntries(seen: Seen, _palette: Palette): Entry[] {
  return entriesOf(seen);
}
