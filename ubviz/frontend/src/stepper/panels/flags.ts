/** Each host event as a light, with who waits for it. */

import { make } from "../../base/dom";
import { all, changed, keysOf, mark, named, value, type Seen } from "../seen";

const MOST = 12;

export function flags(seen: Seen): HTMLElement[] {
  const keys = keysOf(seen, "flags");
  const atRest = (key: string) =>
    !value(seen, "flags", key, "set") && !waiting(seen, key).length && !changed(seen, "flags", key);
  const shown = keys.length <= MOST ? keys : keys.filter((key) => !atRest(key)).slice(0, MOST);
  const rows = shown.map((key) => row(seen, key));
  const rest = keys.length - shown.length;
  return [make("ul.rows", ...rows), ...(rest ? [make("p.soft", `and ${rest} more`)] : [])];
}

const waiting = (seen: Seen, key: string): string[] => value<string[]>(seen, "flags", key, "waiting") ?? [];

function row(seen: Seen, key: string): HTMLElement {
  const up = value<boolean>(seen, "flags", key, "set") === true;
  const colour = seen.palette.ubatch(ubatchOf(key));
  const light = make("i.light", { "aria-hidden": "true" });
  light.style.borderColor = colour;
  if (up) light.style.background = colour;
  const names = waiting(seen, key);
  const state = mark(make("b.state", up ? "set" : "not set"), changed(seen, "flags", key, "set"));
  const who = names.length ? [...all(seen, names), names.length > 1 ? "wait" : "waits"] : [];
  return make("li", light, named(key), state,
    mark(make("span.people", ...who), names.length > 0 && changed(seen, "flags", key, "waiting")));
}

/** The microbatch that a name such as "cpu_event[1]" belongs to. */
export function ubatchOf(name: string): number | null {
  const found = /\[(\d+)\]/.exec(name);
  return found ? Number(found[1]) : null;
}
