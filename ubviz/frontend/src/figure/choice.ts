/** A named choice of a few numbers. */

import { listen, make } from "../base/dom";

export class Choice {
  readonly element: HTMLElement;
  readonly #select: HTMLSelectElement;

  constructor(name: string, private readonly values: readonly number[], changed: (value: number) => void, signal: AbortSignal) {
    const id = `ubviz-${Math.random().toString(36).slice(2)}`;
    this.#select = make("select", { id });
    this.#offer(values);
    listen(this.#select, "change", () => changed(Number(this.#select.value)), signal);
    this.element = make("div.figure-choice", make("label", { for: id }, name), this.#select);
  }

  /** A number set from Python may be none of those offered: it is offered as well. */
  show(value: number): void {
    if (![...this.#select.options].some((option) => option.value === String(value))) {
      this.#offer([...this.values, value].sort((a, b) => a - b));
    }
    this.#select.value = String(value);
  }

  #offer(values: readonly number[]): void {
    this.#select.replaceChildren(...values.map((value) => make("option", { value: String(value) }, String(value))));
  }
}
