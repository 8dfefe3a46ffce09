/** The controls: native sliders and selects with their names, and what they stand at in words. */

import { listen, make } from "../base/dom";
import { cut } from "../base/visible";
import type { Choice, Index, Slider, Value, Values } from "./model";
import { valueWords } from "./words";

export interface Wishes {
  change(name: string, value: Value): void;
  curve(name: string): void;
  reset(): void;
}

export class Panel {
  readonly element = make("form.lab-controls", { "aria-label": "Controls" });
  readonly #sliders = new Map<string, { slider: Slider; input: HTMLInputElement; output: HTMLElement; row: HTMLElement }>();
  readonly #choices = new Map<string, { choice: Choice; select: HTMLSelectElement }>();
  readonly #reset = make("button.lab-reset", { type: "button", "aria-label": "Reset all controls" }, "Reset");

  constructor(index: Index, wishes: Wishes, signal: AbortSignal) {
    const id = `ubviz-${Math.random().toString(36).slice(2)}`;
    const [choices, sliders] = [make("div.lab-choices"), make("div.lab-sliders")];
    for (const choice of index.choices) choices.append(this.#select(choice, `${id}-${choice.name}`, wishes, signal));
    for (const slider of index.sliders) {
      // what a slider is of stands above it
      if (slider.scales === "operation") sliders.append(...choices.childNodes);
      sliders.append(this.#slider(slider, `${id}-${slider.name}`, wishes, signal));
    }
    listen(this.#reset, "click", () => wishes.reset(), signal);
    listen(this.element, "submit", (event) => event.preventDefault(), signal);
    this.element.append(sliders, choices, this.#reset);
  }

  #slider(slider: Slider, id: string, wishes: Wishes, signal: AbortSignal): HTMLElement {
    const { low, high, step, label, name } = slider;
    const input = make("input", { type: "range", id, min: String(low), max: String(high), step: String(step) });
    const output = make("span.lab-value", { "aria-hidden": "true" }); // the slider says it itself
    const row = make("div.lab-slider", make("label", { for: id }, cut(label, 80)), output, input);
    listen(input, "input", () => wishes.change(name, Number(input.value)), signal);
    for (const type of ["focus", "pointerdown"] as const) listen(input, type, () => wishes.curve(name), signal);
    this.#sliders.set(name, { slider, input, output, row });
    return row;
  }

  #select(choice: Choice, id: string, wishes: Wishes, signal: AbortSignal): HTMLElement {
    const options = choice.words.map((word, i) => make("option", { value: String(i) }, cut(word, 60)));
    const select = make("select", { id }, ...options);
    listen(select, "change", () => wishes.change(choice.name, choice.values[Number(select.value)]!), signal);
    this.#choices.set(choice.name, { choice, select });
    return make("div.lab-choice", make("label", { for: id }, cut(choice.label, 60)), select);
  }

  /** Lead to the first control. */
  focus(): void {
    this.element.querySelector<HTMLElement>("input, select")?.focus({ preventScroll: true });
  }

  /** Show where everything stands. */
  show(values: Values, curve: string): void {
    for (const [name, { slider, input, output, row }] of this.#sliders) {
      const value = values[name]!;
      const words = valueWords(slider, value);
      if (Number(input.value) !== value) {
        // a value between two steps, set from Python, is kept
        input.step = (Number(value) - slider.low) % slider.step ? "1" : String(slider.step);
        input.value = String(value);
      }
      input.style.setProperty("--ubviz-part", `${(100 * (Number(value) - slider.low)) / (slider.high - slider.low)}%`);
      if (output.textContent !== words) output.textContent = words;
      input.setAttribute("aria-valuetext", words);
      row.toggleAttribute("data-ubviz-curve", name === curve);
    }
    for (const [name, { choice, select }] of this.#choices) select.value = String(choice.values.indexOf(values[name]!));
    const factor = this.#sliders.get("factor");
    if (factor) factor.input.disabled = values.operation === null;
  }
}
