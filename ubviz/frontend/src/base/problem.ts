/** Where a view says what went wrong. */

import { listen, make } from "./dom";

/** A sentence that something went wrong; it stands until it is dismissed or no longer true. */
export class Problem {
  readonly element = make("div.problem", { role: "alert" });
  readonly #words = make("span", { dir: "auto" });

  constructor(dismissed: () => void, signal: AbortSignal) {
    const dismiss = make("button", { type: "button" }, "Dismiss");
    listen(dismiss, "click", dismissed, signal);
    this.element.append(this.#words, dismiss);
    this.element.hidden = true;
  }

  show(sentence: string): void {
    this.element.hidden = sentence === "";
    if (this.#words.textContent !== sentence) this.#words.textContent = sentence;
  }
}
