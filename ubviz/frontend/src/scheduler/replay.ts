/** The replay string: to select, to copy, and to open another one. */

import { button, icon, listen, make } from "../base/dom";

const COPY = "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7";

export class ReplayString {
  readonly element: HTMLElement;
  readonly input = make("input.replay", { type: "text", "aria-label": "Replay string", spellcheck: "false",
    autocomplete: "off", placeholder: "no choice yet" });
  readonly #copy = button("Copy the replay string", "Copy the replay string", icon(COPY), "Copy");
  #shown = "";

  constructor(open: (text: string) => void, copied: (how: boolean) => void, signal: AbortSignal) {
    this.element = make("div.replay-row", make("span", { "aria-hidden": "true" }, "replay string"), this.input, this.#copy);
    const enter = () => {
      if (this.input.value.trim() !== this.#shown) open(this.input.value);
    };
    listen(this.input, "change", enter, signal);
    listen(this.input, "keydown", (event) => {
      if (event.key === "Enter") enter();
      if (event.key === "Escape") this.input.value = this.#shown;
    }, signal);
    listen(this.#copy, "click", () => void this.#toClipboard().then(copied), signal);
  }

  /** What is being typed, and is no replay string yet, stays. */
  show(schedule: string): void {
    const typing = document.activeElement === this.input && schedule === this.#shown;
    this.#shown = schedule;
    if (!typing && this.input.value !== schedule) this.input.value = schedule;
  }

  /** Where the page may not write the clipboard the text is selected, for Ctrl+C. */
  async #toClipboard(): Promise<boolean> {
    try {
      await navigator.clipboard.writeText(this.#shown);
      return true;
    } catch {
      this.input.focus();
      this.input.select();
      return false;
    }
  }
}
