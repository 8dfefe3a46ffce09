/** What a panel is shown: the state, what has just changed in it, and the colours. */

import { make } from "../base/dom";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import type { Source } from "../base/excerpt";
import type { Index, Thread } from "./model";
import type { Part, Path, Tree } from "./part";

export interface Seen {
  index: Index;
  part: Part;
  tree: Tree;
  at: number;
  /** Who did the last trace event. */
  acting: string;
  changed: Path[];
  sources: readonly Source[] | null;
  palette: Palette;
}

/** What a path holds. */
export function value<T>(seen: Seen, section: string, key: string, field: string): T | undefined {
  return seen.tree.get(section)?.get(key)?.get(field) as T | undefined;
}

/** Whether the last trace event has changed something of an object (or one field of it). */
export function changed(seen: Seen, section: string, key: string, ...fields: string[]): boolean {
  return seen.changed.some(
    (path) => path[0] === section && path[1] === key && (fields.length === 0 || fields.includes(path[2])),
  );
}

/** The objects that ever are in a section. */
export const keysOf = (seen: Seen, section: string): string[] =>
  Object.hasOwn(seen.index.keys, section) ? seen.index.keys[section]! : [];

export function threadOf(seen: Seen, name: string): Thread | undefined {
  return seen.index.threads.find((thread) => thread.name === name);
}

const NAME = 48;

/** A name from a trace: what could hide or turn the text round it is made visible. */
export const named = (name: string): HTMLElement => make("bdi", cut(name, NAME));

/** Parts of a line; those that are names stand for themselves. */
export const line = (...parts: (Node | string)[]): HTMLElement => make("span", ...parts);

/** Mark what has just changed. */
export function mark<E extends HTMLElement>(element: E, on: boolean): E {
  if (on) element.classList.add("ubviz-changed");
  return element;
}

/** The colour of a microbatch beside its name. */
export function who(seen: Seen, name: string): HTMLElement {
  const thread = threadOf(seen, name);
  return make("span.who", dot(seen.palette.ubatch(thread?.ubatch ?? null)), named(name));
}

export function dot(colour: string): HTMLElement {
  const made = make("i.dot", { "aria-hidden": "true" });
  made.style.background = colour;
  return made;
}

/** Names in a row, each with its colour. */
export function all(seen: Seen, names: readonly string[]): HTMLElement[] {
  return names.map((name) => who(seen, name));
}

/** "rank 0" is left out where there is no other. */
export const rankName = (seen: Seen, key: string): string => (seen.index.several ? `${key}: ` : "");
