/** What a tool is, and what the tools of one view share. */

import { button, icon, listen, make } from "../base/dom";
import type { Item } from "../timeline/data";
import { revealed } from "../base/range";
import type { Timeline } from "../timeline/timeline";
import type { Layer } from "./layer";
import type { Standing } from "./standing";

/** One tool: a key, a place in the menu, and while it is open a panel under the stage or marks on it. */
export interface Tool {
  readonly name: string;
  readonly key: string;
  readonly open: boolean;
  /** What the trait `tool` calls it; one without stands open by itself. */
  readonly word?: string;
  /** What the key and the menu do. */
  use(): void;
  /** Open it where it is closed, and leave the focus where it is; one without does so by `use`. */
  stand?(): void;
  close(): void;
  /** The picture was drawn anew. */
  painted?(base: boolean): void;
}

export interface Shared {
  readonly view: Timeline;
  readonly signal: AbortSignal;
  /** Where panels go: under the stage, above the legend. */
  readonly dock: HTMLElement;
  readonly layer: Layer;
  readonly standing: Standing;
}

const CROSS = "M4.5 4.5l7 7M11.5 4.5l-7 7";

/** A panel in the dock: a row with a heading and a button that closes it, and what is below. */
export class Panel {
  readonly element: HTMLElement;
  readonly head = make("div.tool-head");
  readonly body = make("div.tool-body");

  readonly #changed: () => void;

  constructor({ dock, signal, standing }: Shared, name: string, closed: () => void) {
    this.#changed = standing.changed;
    const close = button(`Close ${name.toLowerCase()}`, "Close (Esc)", icon(CROSS));
    listen(close, "click", closed, signal);
    this.element = make("section.tool", { "aria-label": name }, make("div.tool-row", this.head, close), this.body);
    this.element.hidden = true;
    dock.append(this.element);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  show(): void {
    this.element.hidden = false;
    this.#changed();
  }

  /** Whoever was in it is led back to the stage. */
  hide(stage: HTMLElement): void {
    const inside = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (inside) stage.focus({ preventScroll: true });
    this.#changed();
  }
}

/** Select an item and bring it into view. */
export function goTo(view: Timeline, item: Item): void {
  view.choose(item);
  if (view.axis) view.goTo(revealed(view.axis.range, ...view.axis.of(item)), false);
}

/** "1 span", "12,345 spans". */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : more}`;
}

/** Nanoseconds to the last one: "12,345 ns". */
export const exact = (ns: number): string => `${Math.round(ns).toLocaleString("en-US")} ns`;
