/** The button "Tools" and its menu: every tool by its name, with its key. */

import { button, listen, make } from "../base/dom";
import { passes } from "../base/press";
import type { Timeline } from "../timeline/timeline";
import type { Tool } from "./tool";

export class Menu {
  readonly element = make("div.menu", { role: "menu", "aria-label": "Tools" });
  readonly #button = button("Tools", "Tools", "Tools");
  readonly #items: HTMLElement[];

  constructor(
    private readonly view: Timeline, private readonly tools: readonly Tool[],
    private readonly use: (tool: Tool) => void,
  ) {
    const { signal, toolbar, shell: { stage } } = view;
    this.#items = tools.map((tool) => this.#itemOf(tool));
    this.element.append(...this.#items);
    this.element.hidden = true;
    this.#button.setAttribute("aria-haspopup", "menu");
    this.#button.setAttribute("aria-expanded", "false");
    this.#button.tabIndex = -1; // the toolbar is one stop
    listen(this.#button, "click", () => this.toggle(), signal);
    listen(this.element, "keydown", (event) => this.#press(event), signal);
    listen(this.element, "focusout", (event) => {
      const { relatedTarget: to } = event;
      if (this.open && to !== this.#button && !this.element.contains(to as Node | null)) this.#close();
    }, signal);
    toolbar.keys.before(this.#button);
    stage.after(this.element);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  toggle(): void {
    if (this.open) {
      this.#close();
      this.#button.focus({ preventScroll: true });
      return;
    }
    this.tools.forEach((tool, i) => this.#items[i]!.setAttribute("aria-checked", String(tool.open)));
    this.element.hidden = false;
    this.#button.setAttribute("aria-expanded", "true");
    this.#items[0]!.focus({ preventScroll: true });
  }

  #close(): void {
    this.element.hidden = true;
    this.#button.setAttribute("aria-expanded", "false");
  }

  #itemOf(tool: Tool): HTMLElement {
    const item = make("button", { type: "button", role: "menuitemcheckbox", tabindex: "-1",
      "aria-keyshortcuts": tool.key }, make("span", tool.name), make("kbd", tool.key.toUpperCase()));
    listen(item, "click", () => {
      this.#close();
      this.view.shell.stage.focus({ preventScroll: true });
      this.use(tool);
    }, this.view.signal);
    return item;
  }

  /** Up and down within the menu; Escape is heard by the view. */
  #press(event: KeyboardEvent): void {
    if (passes(event)) return;
    const at = this.#items.indexOf(event.target as HTMLElement);
    const last = this.#items.length - 1;
    const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at === 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.#items[to]!.focus({ preventScroll: true });
  }
}
