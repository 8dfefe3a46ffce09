/** Letters for blocks that are too narrow for their names. */

import { begins } from "../base/begins";
import { clean } from "../base/text";

/** The fewest letters of each name that no other name begins with: attention and combine are A and C. */
export function shortsOf(names: Iterable<string>): Map<string, string> {
  const all = [...new Set([...names].map((name) => clean(name).slice(0, 60)).filter(Boolean))];
  const found = new Map<string, string>();
  for (const name of all) found.set(name, begins(name, all));
  return found;
}
