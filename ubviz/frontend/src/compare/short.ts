/** Letters for blocks that are too narrow for their names. */

import { clean } from "../base/text";

/** The fewest letters of each name that no other name begins with: attention and combine are A and C. */
export function shortsOf(names: Iterable<string>): Map<string, string> {
  const all = [...new Set([...names].map((name) => clean(name).slice(0, 60)).filter(Boolean))];
  const found = new Map<string, string>();
  for (const name of all) {
    let letters = 1;
    while (letters < name.length && all.some((other) => other !== name && other.startsWith(name.slice(0, letters)))) letters++;
    const signs = name.slice(0, letters);
    found.set(name, signs.charAt(0).toUpperCase() + signs.slice(1));
  }
  return found;
}
