/** Movements of the view in words. */

import { duration } from "../base/format";
import { abs, ceil, floor, max } from "../base/numbers";
import type { Range } from "../base/range";

/** What a movement of the view is called: zoomed, moved or nothing. */
export function rangeWords(old: Range, now: Range, origin_ns: number): string | null {
  const length = now[1] - now[0];
  if (old[0] === now[0] && old[1] === now[1]) return null;
  if (abs(length - (old[1] - old[0])) > 1e-6 * length + 2) return `zoomed to ${duration(length)}`;
  return `moved to ${duration(now[0] - origin_ns)}`;
}

export function columnWords(columns: Range): string {
  const first = max(floor(columns[0]), 0) + 1;
  return `trace events ${first} to ${max(ceil(columns[1]), first)}`;
}
