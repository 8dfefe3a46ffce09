/** What each stream runs, what is queued behind it, and which threads launch on it. */

import { make } from "../../base/dom";
import { cut } from "../../base/visible";
import type { Item } from "../model";
import { changed, keysOf, mark, named, value, who, type Seen } from "../seen";

const MOST_GROUPS = 5;

export function streams(seen: Seen): HTMLElement[] {
  return keysOf(seen, "streams").map((key) => stream(seen, key));
}

function stream(seen: Seen, key: string): HTMLElement {
  const here = seen.index.threads.filter(({ name }) => value(seen, "threads", name, "stream") === key);
  const moved = here.some(({ name }) => changed(seen, "threads", name, "stream"));
  const head = make("div.stream-head", named(key),
    mark(make("span.people", ...(here.length ? ["current in ", ...here.map(({ name }) => who(seen, name))] : [])), moved));
  const queued = value<number>(seen, "streams", key, "queued") ?? 0;
  const done = value<number>(seen, "streams", key, "done");
  if (done === undefined) {
    return make("div.stream", head, make("p.soft", `was given ${queued}; when they ran was not recorded`));
  }
  const groups = grouped(seen.part.items(key, done, queued));
  const runs = value<boolean>(seen, "streams", key, "runs") === true;
  const list = make("ol.queue");
  if (!runs) list.append(make("li.idle", groups.length ? "idle, next" : "idle"));
  groups.slice(0, MOST_GROUPS).forEach((group, i) => list.append(chip(seen, group, runs && i === 0)));
  const rest = groups.slice(MOST_GROUPS).reduce((sum, [, count]) => sum + count, 0);
  if (rest) list.append(make("li.soft", `and ${rest} more`));
  return make("div.stream", head, mark(list, changed(seen, "streams", key)));
}

type Group = [item: Item, count: number];

/** Equal neighbours as one. */
export function grouped(items: readonly Item[]): Group[] {
  const found: Group[] = [];
  for (const item of items) {
    const last = found[found.length - 1];
    if (last && last[0].every((part, i) => part === item[i])) last[1]++;
    else found.push([item, 1]);
  }
  return found;
}

/** What runs is filled with its microbatch's colour, what waits for its turn is outlined; communication is hatched. */
function chip(seen: Seen, [[label, cat, cls, ubatch], count]: Group, now: boolean): HTMLElement {
  const { palette } = seen;
  const made = make("li.work");
  const colour = palette.ubatch(ubatch);
  made.style.setProperty("--ubviz-of", colour);
  made.style.setProperty("--ubviz-on", palette.on(colour));
  if (cat !== "kernel") made.classList.add("ubviz-sync");
  if (now) made.classList.add("ubviz-now");
  if (cls === "comm") made.classList.add("ubviz-comm");
  const words = ubatch === null ? "" : `, ubatch ${ubatch}`;
  made.append(make("bdi", cut(label, 32)), ...(count > 1 ? [make("span.times", `×${count}`)] : []),
    make("span.unseen", `${now ? " runs" : " queued"}${words}`));
  return made;
}
