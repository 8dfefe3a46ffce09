/** The bar of a view: what can be done beside choosing. */

import { button, icon, listen, make } from "../base/dom";
import { oneStop } from "../base/one_stop";
import type { Command } from "./keys";

const UNDO = "M6.5 3.5 3 7l3.5 3.5M3 7h6a4 4 0 0 1 0 8H7";
const AGAIN = "M9.5 3.5 13 7l-3.5 3.5M13 7H7a4 4 0 0 0 0 8h2";
const RUN_ON = "M3 4l5 4-5 4zM8.5 4l5 4-5 4z";
const FIRST = "M3.5 3.5v9M12.5 3.5 6 8l6.5 4.5z";
const CODE = "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5";

export type BarAct = Exclude<Command, { thread: number }> | "code";

export class Bar {
  readonly element: HTMLElement;
  readonly keys = button("Keys", "Keys (?)", "?");
  readonly #undo: HTMLButtonElement;
  readonly #again: HTMLButtonElement;
  readonly #runOn: HTMLButtonElement;
  readonly #first: HTMLButtonElement;
  readonly #code: HTMLButtonElement;

  constructor(act: (act: BarAct) => void, signal: AbortSignal) {
    const tool = (name: string, title: string, path: string, does: BarAct) => {
      const made = button(name, title, icon(path), make("span", name));
      listen(made, "click", () => act(does), signal);
      return made;
    };
    this.#undo = tool("Undo", "Take the last choice back (←)", UNDO, "undo");
    this.#again = tool("Redo", "Choose again what was taken back (→)", AGAIN, "again");
    this.#runOn = tool("Run on", "Let go on while only one can (R)", RUN_ON, "run on");
    this.#first = tool("Start again", "Start again (Home)", FIRST, "start again");
    this.#code = tool("Code", "Show the code of each thread", CODE, "code");
    this.keys.setAttribute("aria-expanded", "false");
    listen(this.keys, "click", () => act("keys"), signal);
    this.element = make("div.tools", { role: "toolbar", "aria-label": "Scheduler controls" },
      this.#undo, this.#again, this.#runOn, this.#first, this.#code, this.keys);
    oneStop(this.element, signal);
  }

  show(can: { undo: boolean; again: boolean; runOn: boolean }, code: boolean | null): void {
    disable(this.#undo, !can.undo);
    disable(this.#first, !can.undo);
    disable(this.#again, !can.again);
    disable(this.#runOn, !can.runOn);
    this.#code.hidden = code === null;
    this.#code.setAttribute("aria-pressed", String(code === true));
  }
}

/** A button that does nothing now keeps the focus: it is only said to be disabled. */
function disable(made: HTMLElement, off: boolean): void {
  made.setAttribute("aria-disabled", String(off));
}
