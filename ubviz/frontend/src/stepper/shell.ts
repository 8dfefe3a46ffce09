/** The elements that are there as long as the stepper is. */

import { button, listen, make } from "../base/dom";
import { HELP } from "./keys";

export interface Shell {
  root: HTMLElement;
  title: HTMLElement;
  /** Where the keys go: what has just happened. */
  stage: HTMLElement;
  says: HTMLElement;
  when: HTMLElement;
  code: HTMLElement;
  panels: HTMLElement;
}

export interface Parts {
  transport: HTMLElement;
  problem: HTMLElement;
  keys: HTMLElement;
  list: HTMLElement;
  live: HTMLElement;
}

export function shellOf(parts: Parts): Shell {
  const title = make("div.title", { dir: "auto" });
  const says = make("p.says", { dir: "auto" });
  const when = make("p.when");
  const stage = make("div.step-stage", { tabindex: "0", role: "application", "aria-roledescription": "stepper" },
    when, says);
  const code = make("div.code");
  const panels = make("div.panels");
  const root = make("section", { class: "ubviz ubviz-stepper", role: "group" },
    title, parts.problem, stage, parts.transport, parts.keys,
    make("div.columns", make("div.beside", code, parts.list), panels), parts.live);
  root.dataset.ubvizState = "loading";
  return { root, title, stage, says, when, code, panels };
}

/** The panel that lists the keys. */
export class Help {
  readonly element = make("div.help", { role: "region", "aria-label": "Keys", tabindex: "-1" });
  #before: Element | null = null;

  constructor(closed: () => void, signal: AbortSignal) {
    const close = button("Close", "Close (Esc)", "Close");
    listen(close, "click", closed, signal);
    const list = make("dl");
    for (const [keys, words] of HELP) {
      list.append(make("dt", ...keys.map((key) => make("kbd", key))), make("dd", words));
    }
    this.element.append(list, close);
    this.element.hidden = true;
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Open it, or close it and lead the focus back to where it came from. */
  toggle(opener: HTMLElement, stage: HTMLElement): void {
    this.element.hidden = this.open;
    opener.setAttribute("aria-expanded", String(this.open));
    if (this.open) this.#before = document.activeElement;
    const to = this.open ? this.element : this.#before instanceof HTMLElement ? this.#before : stage;
    to.focus({ preventScroll: true });
  }
}
