/** Some trace events before and after this one, to be clicked: of as many as one likes only these are there. */

import { listen, make } from "../base/dom";
import { moment } from "../base/format";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import { dot } from "./seen";

const AROUND = 4;
export const SHOWN = 2 * AROUND + 1;

export interface Entry {
  at: number;
  t_ns: number;
  says: string;
  ubatch: number | null;
}

/** The first trace event of the list, such that the list is full wherever it can be. */
export const firstShown = (at: number, count: number): number =>
  Math.max(Math.min(at - AROUND, count - SHOWN), 0);

export class EventList {
  readonly element = make("ol.events", { "aria-label": "Trace events" });
  readonly #rows: { item: HTMLElement; button: HTMLButtonElement; at: number }[] = [];

  constructor(jump: (at: number) => void, signal: AbortSignal) {
    for (let i = 0; i < SHOWN; i++) {
      const button = make("button.event", { type: "button" });
      const row = { item: make("li", button), button, at: 0 };
      listen(button, "click", () => jump(row.at), signal);
      this.#rows.push(row);
      this.element.append(row.item);
    }
  }

  show(entries: readonly Entry[], at: number, origin_ns: number, palette: Palette): void {
    this.#rows.forEach((row, i) => {
      const entry = entries[i];
      row.item.hidden = !entry;
      if (!entry) return;
      row.at = entry.at;
      if (entry.at === at) row.button.setAttribute("aria-current", "step");
      else row.button.removeAttribute("aria-current");
      row.button.replaceChildren(make("span.n", String(entry.at)),
        make("span.time", moment(entry.t_ns - origin_ns, 100)),
        dot(palette.ubatch(entry.ubatch)), make("span.what", { dir: "auto" }, cut(entry.says, 300)));
    });
  }
}
