/** For each thread the text of its function with the line it is at, and where that was called from. */

import { codeOf } from "../../base/code";
import { make } from "../../base/dom";
import { excerpt, type Excerpt } from "../../base/excerpt";
import { cut } from "../../base/visible";
import { changed, mark, value, who, type Seen } from "../seen";

const AROUND = 2;
/** Of more threads only the one that acts is shown with its lines. */
const MOST_WITH_LINES = 4;

export function code(seen: Seen): HTMLElement[] {
  return seen.index.threads.map(({ name }) => thread(seen, name));
}

function thread(seen: Seen, name: string): HTMLElement {
  const status = value<string>(seen, "threads", name, "status") ?? "not seen yet";
  const on = value<string>(seen, "threads", name, "on");
  const error = value<string>(seen, "threads", name, "error");
  const words = status === "waits" && on !== undefined ? `waits for ${cut(on, 60)}` : status;
  const moved = changed(seen, "threads", name, "status", "on");
  const head = make("div.thread-head", who(seen, name), mark(make("b.state", words), moved),
    ...(error === undefined ? [] : [make("span.wrong", { dir: "auto" }, cut(error, 200))]));
  const whole = seen.index.threads.length <= MOST_WITH_LINES || name === seen.acting;
  const made = make("div.thread", head, ...(whole ? places(seen, name) : inShort(seen, name)));
  made.dataset.status = status;
  if (name === seen.acting) made.classList.add("ubviz-acting");
  return made;
}

/** Only where it is: the place that called, which is the program's own. */
function inShort(seen: Seen, name: string): HTMLElement[] {
  const site = value<string>(seen, "threads", name, "caller") ?? value<string>(seen, "threads", name, "site");
  return site === undefined ? [] : [captionOf(site, "", seen.sources && excerpt(seen.sources, site, 0))];
}

function places(seen: Seen, name: string): HTMLElement[] {
  const site = value<string>(seen, "threads", name, "site");
  const caller = value<string>(seen, "threads", name, "caller");
  if (site === undefined) return [];
  if (caller === undefined || caller === site) return place(seen, site, AROUND + 1, "");
  return [...place(seen, caller, 0, ""), ...place(seen, site, AROUND, "in ")];
}

/** "prepare, all2all.py:111" and the lines round it. */
function place(seen: Seen, site: string, around: number, start: string): HTMLElement[] {
  const found = seen.sources && excerpt(seen.sources, site, around);
  const caption = captionOf(site, start, found);
  if (!found) return [caption];
  return [caption, codeOf(found)];
}

function captionOf(site: string, start: string, found: Excerpt | null): HTMLElement {
  return make("p.place", start, ...(found ? [make("b", cut(shortName(found.function), 60)), " "] : []),
    make("code", cut(site, 120)));
}

/** "UBatchContext._wait" of "make.<locals>.UBatchContext._wait". */
const shortName = (name: string): string => name.split("<locals>.").at(-1)!;
