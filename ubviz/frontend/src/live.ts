/** What is said to those who do not see the picture: the last thing that happened, once it has settled. */

import { atEnd, make } from "./dom";
import { duration } from "./format";
import { abs, ceil, floor, max } from "./numbers";
import type { Range } from "./range";

const SETTLED_MS = 150;

export class Live {
  readonly element = make("div.unseen", { role: "status" });
  #timer = 0;

  constructor(signal: AbortSignal) {
    atEnd(signal, () => clearTimeout(this.#timer));
  }

  /** Only the last of quick changes is said: a held key would talk for minutes. */
  say(words: string): void {
    const spoken = document.activeElement?.closest(".ubviz-timeline");
    if (spoken && !spoken.contains(this.element)) return; // another view of this model says it
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.element.textContent = words;
    }, SETTLED_MS);
  }
}

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
