/** From item to item: along a lane and across lanes, by time or, in logical order, from column to column. */

import type { Axis } from "./axis";
import type { Data, Item } from "./data";
import type { Logical } from "./model";
import { abs } from "../base/numbers";

/** Where one is: on an item, or nowhere yet and looking at a position of the axis. */
export interface Stand {
  data: Data;
  /** Those that are shown, from the top. */
  lanes: readonly number[];
  item: Item | null;
  axis: Axis;
  /** The position from which one begins where there is no item. */
  here: number;
  /** Null by the clock. */
  logical: Logical | null;
}

export type Direction = -1 | 1;

/** The next item of the lane; without an item, the nearest on the first lane that has any. */
export function along(stand: Stand, direction: Direction): Item | null {
  const { data, item, logical } = stand;
  const column = columnOf(stand);
  if (logical && column >= 0) return step(stand, logical, column, direction);
  return item && !logical ? data.neighbour(item, direction) : first(stand, 0, 1);
}

/** The nearest item of the next lane in this direction that has any. */
export function across(stand: Stand, direction: Direction): Item | null {
  const { item, logical } = stand;
  const column = columnOf(stand);
  const lane = logical && column >= 0 ? logical.lane[column] : item?.lane;
  const at = stand.lanes.indexOf(lane ?? -1);
  return at < 0 ? first(stand, 0, 1) : first(stand, at + direction, direction);
}

function first(stand: Stand, from: number, direction: Direction): Item | null {
  for (let at = from; at >= 0 && at < stand.lanes.length; at += direction) {
    const lane = stand.lanes[at]!;
    const found = stand.logical ? nearestColumn(stand, stand.logical, lane) : stand.data.nearest(lane, place(stand));
    if (found) return found;
  }
  return null;
}

/** The middle of where one stands. */
function place({ item, axis, here }: Stand): number {
  const [from, to] = item ? axis.of(item) : [here, here];
  return (from + to) / 2;
}

/** The column of a trace event; -1 for all else. */
function columnOf({ item, logical }: Stand): number {
  return logical && item?.table === "events" ? logical.row.indexOf(item.row) : -1;
}

function step({ data }: Stand, logical: Logical, column: number, direction: Direction): Item | null {
  for (let at = column + direction; at >= 0 && at < logical.row.length; at += direction) {
    if (logical.lane[at] === logical.lane[column]) return data.item(["events", logical.row[at]!]);
  }
  return null;
}

function nearestColumn(stand: Stand, logical: Logical, lane: number): Item | null {
  const middle = place(stand) - 0.5;
  let best = -1;
  logical.lane.forEach((each, at) => {
    if (each === lane && (best < 0 || abs(at - middle) < abs(best - middle))) best = at;
  });
  return best < 0 ? null : stand.data.item(["events", logical.row[best]!]);
}
