/** The panel that lists the keys of a view: opened by a key or a button, and left to where one came from. */

import { button, listen, make } from "./dom";

/** Keys, and what they do. */
export type Line = readonly [keys: readonly string[], words: string];

export class KeysPanel {
  readonly element = make("div.keys", { role: "dialog", "aria-label": "Keys", tabindex: "-1" });
  #before: Element | null = null;

  /** `opener`: the button that opens it; `home`: where the focus goes that came from nowhere. */
  constructor(
    parts: readonly Node[], private readonly opener: HTMLElement, private readonly home: HTMLElement,
    signal: AbortSignal,
  ) {
    const close = button("Close", "Close (Esc)", "Close");
    listen(close, "click", () => this.toggle(), signal);
    this.element.append(...parts, close);
    this.element.hidden = true;
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(): void {
    this.element.hidden = this.open;
    this.opener.setAttribute("aria-expanded", String(this.open));
    if (this.open) this.#before = document.activeElement;
    const to = this.open ? this.element : this.#before instanceof HTMLElement ? this.#before : this.home;
    to.focus({ preventScroll: true });
  }
}

export function listOf(lines: readonly Line[]): HTMLElement {
  const list = make("dl");
  for (const [keys, words] of lines) {
    list.append(make("dt", ...keys.map((key) => make("kbd", key))), make("dd", words));
  }
  return list;
}
