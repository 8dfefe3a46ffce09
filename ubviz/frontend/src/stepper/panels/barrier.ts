/** How many have arrived at each barrier, and who. */

import { make } from "../../base/dom";
import { all, changed, dot, keysOf, mark, named, threadOf, value, type Seen } from "../seen";

const MOST_SLOTS = 12;

export function barrier(seen: Seen): HTMLElement[] {
  return [make("ul.rows", ...keysOf(seen, "barriers").map((key) => row(seen, key)))];
}

function row(seen: Seen, key: string): HTMLElement {
  const parties = value<number>(seen, "barriers", key, "parties");
  if (parties === undefined) return make("li", named(key), make("span.soft", "nobody has arrived"));
  const n = value<number>(seen, "barriers", key, "n") ?? 0;
  const state = value<string>(seen, "barriers", key, "state") ?? "";
  const arrived = value<string[]>(seen, "barriers", key, "arrived") ?? [];
  const generation = value<number>(seen, "barriers", key, "generation");
  const words = state === "open" ? ", it is open" : state === "broken" ? ", it is broken" : "";
  const count = mark(make("b.state", `${n} of ${parties}${words}`), changed(seen, "barriers", key, "n", "state"));
  return make("li", named(key), count, slots(seen, parties, arrived),
    make("span.people", ...all(seen, arrived)),
    make("span.soft", typeof generation === "number" ? `generation ${generation}` : ""));
}

/** A place for each party, filled in the order of arrival. */
function slots(seen: Seen, parties: number, arrived: readonly string[]): HTMLElement {
  const row = make("span.slots", { "aria-hidden": "true" });
  for (let i = 0; i < Math.min(parties, MOST_SLOTS); i++) {
    const name = arrived[i];
    const thread = name === undefined ? null : threadOf(seen, name);
    const place = dot(thread ? seen.palette.ubatch(thread.ubatch) : "transparent");
    place.classList.add("ubviz-slot");
    row.append(place);
  }
  return row;
}
