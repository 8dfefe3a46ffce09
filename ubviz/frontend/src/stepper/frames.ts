/** A frame for each panel, filled anew with each step: code on one side, the others in two stacks of about one height. */

import { make } from "../base/dom";
import type { Index } from "./model";
import { PANELS } from "./panels/all";
import type { Seen } from "./seen";

/** Panels as wide as all others together. */
const WIDE: ReadonlySet<string> = new Set(["streams"]);

export class Frames {
  readonly #bodies = new Map<string, HTMLElement>();

  constructor(private readonly code: HTMLElement, private readonly panels: HTMLElement) {}

  make(index: Index): void {
    const { code, panels } = this;
    this.#bodies.clear();
    code.replaceChildren();
    const stacks = [make("div.stack"), make("div.stack")];
    const heights = [0, 0];
    panels.replaceChildren();
    for (const name of index.panels.filter((name) => Object.hasOwn(PANELS, name))) {
      const body = make("div.panel-body");
      const { heading } = PANELS[name]!;
      const panel = make("section.panel", { "aria-label": heading }, make("div.heading", heading), body);
      panel.dataset.panel = name;
      this.#bodies.set(name, body);
      if (name === "code") code.append(panel);
      else if (WIDE.has(name)) panels.append(panel);
      else {
        const stack = heights[0]! <= heights[1]! ? 0 : 1;
        heights[stack]! += heightOf(name, index);
        stacks[stack]!.append(panel);
      }
    }
    panels.append(...stacks.filter((stack) => stack.childElementCount > 0));
    panels.hidden = panels.childElementCount === 0;
    code.hidden = code.childElementCount === 0;
  }

  show(seen: Seen): void {
    for (const [name, body] of this.#bodies) {
      body.replaceChildren(...PANELS[name]!.show(seen));
      if (!body.textContent) body.replaceChildren(make("p.soft", "none in this recording"));
    }
  }
}

/** About how high a panel is, in lines: with it the two stacks end nearly together. */
function heightOf(name: string, { keys, path, threads }: Index): number {
  const rows = Object.hasOwn(keys, name) ? keys[name]!.length : 1;
  const more: Record<string, number> = {
    ring: 7, barrier: 2 + rows, context: 1 + threads.length, calls: 2 + path.length, votes: 1 + 2 * rows,
  };
  return 2 + (more[name] ?? Math.min(rows, 12));
}
