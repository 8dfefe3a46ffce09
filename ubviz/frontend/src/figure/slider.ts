/** A named slider: native, with what it stands at in words. */

import { listen, make } from "../base/dom";

export class Slider {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  readonly #said = make("span.figure-said", { "aria-hidden": "true" }); // the slider says it itself
  readonly #mark = make("i.figure-mark", { "aria-hidden": "true" });

  constructor(name: string, changed: (value: number) => void, signal: AbortSignal, ...more: HTMLElement[]) {
    const id = `ubviz-${Math.random().toString(36).slice(2)}`;
    this.input = make("input", { type: "range", id, step: "1" });
    listen(this.input, "input", () => changed(Number(this.input.value)), signal);
    this.#mark.hidden = true;
    this.element = make("div.figure-slider", make("label", { for: id }, name),
      make("span.figure-track", this.input, this.#mark), this.#said, ...more);
  }

  /** Show where it stands; `mark` is another value, marked on its track. */
  show(value: number, low: number, high: number, words: string, mark: number | null = null): void {
    const { input } = this;
    input.min = String(low);
    input.max = String(high);
    input.value = String(value);
    input.setAttribute("aria-valuetext", words);
    if (this.#said.textContent !== words) this.#said.textContent = words;
    const part = (of: number) => (of - low) / Math.max(high - low, 1);
    input.style.setProperty("--ubviz-part", `calc(8px + (100% - 16px) * ${part(value)})`);
    this.#mark.hidden = mark === null;
    if (mark !== null) this.#mark.style.left = `calc(8px + (100% - 16px) * ${part(mark)})`;
  }
}
