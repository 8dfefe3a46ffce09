/** Who does what to which object, in whatever schedule: what a reader of the program knows of it. */

import { kept } from "../base/kept";
import type { Game } from "./model";

const known = new WeakMap<Game, Map<string, number[]>>();

/** The threads that carry out an operation of this kind on this object in some schedule. */
export function whoDoes(game: Game, kind: string, object: string): readonly number[] {
  const all = kept(known, game, () => wired(game));
  return all.get(key(kind, object)) ?? [];
}

const key = (kind: string, object: string) => `${kind} ${object}`;

function wired(game: Game): Map<string, number[]> {
  const found = new Map<string, Set<number>>();
  for (const node of game.nodes) {
    for (const thread of node.able) {
      const act = game.acts[node.acts[thread]];
      if (act) kept(found, key(act.kind, act.object), () => new Set<number>()).add(thread);
    }
  }
  return new Map([...found].map(([name, threads]) => [name, [...threads].sort((a, b) => a - b)]));
}
