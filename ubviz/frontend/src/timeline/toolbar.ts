/** The controls above the stage: small, quiet, one stop of the Tab key. */

import { button, icon, listen, make } from "../base/dom";
import { oneStop } from "../base/one_stop";
import type { Command } from "./keys";
import type { Index, Order } from "./model";

export type Act = Command | "previous step" | "next step" | "by the clock" | "in order";

const MINUS = "M3.5 8h9";
const PLUS = "M3.5 8h9M8 3.5v9";
const ENDS = "M2.5 3.5v9M13.5 3.5v9M5 8h6M6.5 6.2 4.7 8l1.8 1.8M9.5 6.2 11.3 8 9.5 9.8";
const LEFT = "M9.5 4 5.5 8l4 4";
const RIGHT = "M6.5 4l4 4-4 4";

export class Toolbar {
  readonly element: HTMLElement;
  readonly keys: HTMLButtonElement;
  readonly #step = make("span.step");
  readonly #earlier: HTMLButtonElement;
  readonly #later: HTMLButtonElement;
  readonly #clock = button("Clock", "By the clock (O)", "Clock");
  readonly #order = button("Order", "In order, one column an event (O)", "Order");
  readonly #orders = make("div.pair", { role: "group", "aria-label": "Order" },
    this.#clock, this.#order);

  constructor(act: (act: Act) => void, signal: AbortSignal) {
    const make1 = (name: string, path: string, key = "") => {
      const made = button(name, name + key, icon(path));
      listen(made, "click", () => act(name.toLowerCase() as Act), signal);
      return made;
    };
    this.#earlier = make1("Previous step", LEFT);
    this.#later = make1("Next step", RIGHT);
    this.keys = button("Keys", "Keys (?)", "?");
    this.keys.setAttribute("aria-expanded", "false");
    listen(this.keys, "click", () => act("keys"), signal);
    listen(this.#clock, "click", () => act("by the clock"), signal);
    listen(this.#order, "click", () => act("in order"), signal);
    const zoom = [
      make1("Zoom out", MINUS, " (S)"),
      make1("Zoom in", PLUS, " (W)"),
      make1("Show all", ENDS, " (Shift+Home)"),
    ];
    this.element = make("div.toolbar", { role: "toolbar", "aria-label": "Timeline controls" },
      this.#earlier, this.#step, this.#later, ...zoom, this.#orders, this.keys);
    oneStop(this.element, signal);
  }

  show(index: Index, step: number | null, order: Order): void {
    const known = step === null ? null : index.steps[step];
    const several = index.steps.length > 1;
    setText(this.#step, known && several ? `step ${known[0]}` : "");
    set(this.#earlier, "disabled", !several || step === 0);
    set(this.#later, "disabled", !several || step === index.steps.length - 1);
    set(this.#order, "disabled", !index.logical);
    set(this.#clock, "pressed", order === "wall");
    set(this.#order, "pressed", order === "logical");
  }
}

function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A button that does nothing now keeps the focus: it is only said to be disabled. */
function set(button: HTMLElement, state: "pressed" | "disabled", on: boolean): void {
  const name = `aria-${state}`;
  if (button.getAttribute(name) !== String(on)) button.setAttribute(name, String(on));
}
