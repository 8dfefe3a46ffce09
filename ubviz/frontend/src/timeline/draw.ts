/** The faces of drawing: by the clock, by order, and what lies in front of both. */

import type { Data, Item } from "./data";
import type { Layout } from "./layout";
import type { Scale } from "../base/scale";
import type { Palette } from "../base/theme";

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
export { wall as paintWall } from "./draw_wall";

/** Nothing but the background. */
export { empty as paintEmpty } from "./draw_wall";

/** The same in logical order; of `p.scale` only where the plot ends plays a part. */
export { order as paintLogical } from "./draw_logical";

/** Selection, hovered, cursor, flows of the selection; on its own transparent canvas, cleared first. */
export { overlay as paintOverlay } from "./draw_overlay";

/** What appeared, in the order in which one reads it, and the sign of each; the caller scales the context. */
export { entriesOf as legendEntries, swatch as paintSwatch } from "./draw_legend";
