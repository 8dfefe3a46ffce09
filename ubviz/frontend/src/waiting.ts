/** The note in the stage: for whom the view waits (said after a second), or why there is nothing to see. */

import { atEnd } from "./dom";

export const PATIENCE_MS = 1000;
export const WAITING = "waiting for the kernel";
export const LATE_MS = 5000;
export const LATE = "The kernel does not answer; run the cell again.";
const BRIEF_MS = 3000;

export class Waiting {
  #timer = 0;
  #brief = 0;
  /** What holds longer than a brief note. */
  #words = "";

  constructor(private readonly note: HTMLElement, signal: AbortSignal) {
    atEnd(signal, () => {
      clearTimeout(this.#timer);
      clearTimeout(this.#brief);
    });
  }

  /** Say something for a moment, where nothing else is said. */
  brief(words: string): void {
    if (this.#words) return;
    clearTimeout(this.#brief);
    this.#brief = window.setTimeout(() => this.#show(this.#words), BRIEF_MS);
    this.#show(words);
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
    if (words === this.#words) return;
    clearTimeout(this.#brief);
    this.#show((this.#words = words));
  }

  #show(words: string): void {
    this.note.hidden = words === "";
    if (this.note.textContent !== words) this.note.textContent = words;
  }
}
