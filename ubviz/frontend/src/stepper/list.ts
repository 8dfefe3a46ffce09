/** Some trace events before and after this one, to be clicked: as many as there is room for beside the panels. */

import { make } from "../base/dom";
import { moment } from "../base/format";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import { dot } from "./seen";

/** So many are there even where there is no room left. */
export const LEAST = 9;
const MOST = 61;
/** Pixels of a row of one line. */
const PITCH = 25;

export interface Entry {
  at: number;
  t_ns: number;
  says: string;
  ubatch: number | null;
}

/** The first of so many trace events round one, such that the list is full wherever it can be. */
export const firstShown = (at: number, count: number, shown: number): number =>
  Math.max(Math.min(at - Math.floor(shown / 2), count - shown), 0);

/** How many rows to try for a room of so many pixels; an odd number, so that one is in the middle. */
export const rowsFor = (room: number): number =>
  Math.min(Math.max(2 * Math.ceil(Math.floor(room / PITCH) / 2) - 1, LEAST), MOST);

export class EventList {
  readonly element = make("ol.events", { "aria-label": "Trace events" });
  readonly #rows: { item: HTMLElement; button: HTMLButtonElement; at: number }[] = [];

  constructor(private readonly jump: (at: number) => void) {}

  /** Show so many that none stands lower than `bottom`: sentences of two lines leave room for fewer. */
  fit(bottom: number | null, show: (rows: number) => void): void {
    const low = () => this.element.getBoundingClientRect().bottom;
    let rows = bottom === null ? LEAST : rowsFor(bottom - this.element.getBoundingClientRect().top);
    show(rows);
    while (bottom !== null && rows > LEAST && low() > bottom) {
      rows = Math.max(rows - 2 * Math.ceil((low() - bottom) / PITCH / 2), LEAST);
      show(rows);
    }
  }

  show(entries: readonly Entry[], at: number, origin_ns: number, palette: Palette): void {
    while (this.#rows.length < entries.length) this.#add();
    this.#rows.forEach((row, i) => {
      const entry = entries[i];
      row.item.hidden = !entry;
      row.button.removeAttribute("aria-current");
      if (!entry) return;
      row.at = entry.at;
      if (entry.at === at) row.button.setAttribute("aria-current", "step");
      row.button.replaceChildren(make("span.n", String(entry.at)),
        make("span.time", moment(entry.t_ns - origin_ns, 100)),
        dot(palette.ubatch(entry.ubatch)), make("span.what", { dir: "auto" }, cut(entry.says, 300)));
    });
  }

  #add(): void {
    const button = make("button.event", { type: "button" });
    const row = { item: make("li", button), button, at: 0 };
    button.onclick = () => this.jump(row.at);
    this.#rows.push(row);
    this.element.append(row.item);
  }
}
