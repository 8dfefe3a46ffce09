/** Pixels of the stage as moments, in either order; and where bars begin and end. */

import { abs, round } from "../base/numbers";
import type { Item } from "../timeline/data";
import { rowAt } from "../timeline/layout";
import { rangeOf } from "../timeline/logical";
import type { Timeline } from "../timeline/timeline";
import { isBars, tracksOf, itemAt, isEcho } from "./matches";

/** The moment under a pixel. */
export function timeAt(view: Timeline, x: number): number | null {
  const { axis, scene } = view;
  if (!axis) return null;
  const at = axis.at(x);
  if (view.order === "wall") return round(at);
  return scene?.logical ? round(rangeOf(scene.logical, [at, at])[0]) : null;
}

/** The lane at a height; null between lanes. */
export function laneAt(view: Timeline, y: number): number | null {
  const at = view.picture && rowAt(view.picture.layout, y, 4);
  return at ? at.row.lane : null;
}

/** Where something begins or ends. */
export interface Edge {
  ns: number;
  item: Item | null;
  side: "begin" | "end" | null;
}

/** The edge nearest to a moment, no farther than `reach`; on one lane, or (null) on any. */
export function edgeNear(view: Timeline, ns: number, lane: number | null, reach: number): Edge {
  const { scene } = view;
  let best: Edge = { ns, item: null, side: null };
  let least = reach;
  for (const track of scene ? tracksOf(scene.data) : []) {
    if (lane !== null && track.spec.lane !== lane) continue;
    for (const place of [track.last(ns), track.first(ns, true)]) {
      if (!place || isEcho(scene!.data, track, place.chunk, place.i)) continue;
      const { chunk, i } = place as { chunk: { start: Float64Array; end?: Float64Array }; i: number };
      const ends: [number, "begin" | "end"][] = [[chunk.start[i]!, "begin"]];
      if (isBars(track)) ends.push([chunk.end![i]!, "end"]);
      for (const [at, side] of ends) {
        if (abs(at - ns) > least || (abs(at - ns) === least && best.item)) continue;
        least = abs(at - ns);
        best = { ns: at, item: itemAt(scene!.data, track, place.chunk, i), side };
      }
    }
  }
  return best;
}
