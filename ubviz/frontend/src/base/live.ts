/** What is said to those who do not see the picture: the last thing that happened, once it has settled. */

import { atEnd, make } from "./dom";

const SETTLED_MS = 150;

export class Live {
  readonly element = make("div.unseen", { role: "status" });
  #timer = 0;

  constructor(signal: AbortSignal) {
    atEnd(signal, () => clearTimeout(this.#timer));
  }

  /** Only the last of quick changes is said: a held key would talk for minutes. */
  say(words: string): void {
    const spoken = document.activeElement?.closest(".ubviz");
    if (spoken && !spoken.contains(this.element)) return; // another view of this model says it
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => {
      this.element.textContent = words;
    }, SETTLED_MS);
  }
}
