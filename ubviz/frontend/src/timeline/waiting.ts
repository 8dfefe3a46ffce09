/** The note in the stage: for whom the view waits (said after a second), or why there is nothing to see. */

import { atEnd } from "../base/dom";

export const PATIENCE_MS = 1000;
export const WAITING = "waiting for the kernel";
/** So much later it is not busy but gone. */
export const LATE_MS = 4000;
export const LATE = "The kernel does not answer; run the cell again.";

export class Waiting {
  #timer = 0;

  constructor(private readonly note: HTMLElement, signal: AbortSignal) {
    atEnd(signal, () => clearTimeout(this.#timer));
  }

  /** Said until something else is selected or seen, where nothing is waited for. */
  brief(words: string): void {
    if (!this.#timer) this.#say(words);
  }

  /** Something is missing: it may come at once, so this is not said at once. */
  begin(): void {
    this.#timer ||= window.setTimeout(() => this.#say(WAITING), PATIENCE_MS);
  }

  /** All has come; `words` where that is nothing. */
  end(words = ""): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.note.classList.toggle("ubviz-nothing", words !== "");
    this.#say(words);
  }

  #say(words: string): void {
    this.note.hidden = words === "";
    if (this.note.textContent !== words) this.note.textContent = words;
  }
}
