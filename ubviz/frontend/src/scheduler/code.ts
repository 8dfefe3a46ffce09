/** Where a thread stands: its line among those round it, and the line that called it. */

import { codeOf as linesOf } from "../base/code";
import { make } from "../base/dom";
import { excerpt } from "../base/excerpt";
import { cut } from "../base/visible";
import type { Game, Place } from "./model";

const AROUND = 2;

/** The place of an act and the place that called it, as elements; nothing where no line is known. */
export function codeOf(game: Game, at: number | null, caller: number | null): HTMLElement[] {
  const places = [...new Set([at, caller])].filter((place): place is number => place !== null);
  return places.flatMap((place, i) => placeParts(game, game.places[place], i > 0));
}

/** What is too wide for its column is a stop of the Tab key, so that the arrow keys can scroll it. */
export function reachable(code: HTMLElement): void {
  for (const pre of code.querySelectorAll("pre")) {
    if (pre.scrollWidth > pre.clientWidth) pre.tabIndex = 0;
    else pre.removeAttribute("tabindex");
  }
}

function placeParts(game: Game, place: Place, calls: boolean): HTMLElement[] {
  const last = (path: string, after: string) => path.slice(path.lastIndexOf(after) + 1);
  const file = last(place.file, "/");
  const caption = make("p", { dir: "auto", title: cut(`${place.file}:${place.line} in ${place.function}`, 300) },
    ...(calls ? ["called from "] : []), make("code", cut(`${file}:${place.line}`, 80)), ` in ${cut(last(place.function, "."), 60)}`);
  const found = excerpt(game.sources, `${place.file}:${place.line}`, calls ? 0 : AROUND);
  if (!found) return [caption];
  return [caption, linesOf(found, { role: "group", "aria-label": cut(`source of ${place.function}`, 90) })];
}
