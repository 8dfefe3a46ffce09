/** Details of the selection: at once what the page knows, then what the kernel answers; never empty. */

import type { Data, FlowEnd, Item } from "./data";
import { codeOf } from "../base/code";
import { button, icon, listen, make } from "../base/dom";
import { excerpt, type Source } from "../base/excerpt";
import { argumentFields, columnFields, firstFields, flowWords, rowKey } from "./fields";
import type { Field, RowData } from "./fields";
import { linksOf } from "./links";
import type { Index, Row } from "./model";
import type { Palette } from "../base/theme";
import { LATE, LATE_MS, PATIENCE_MS, WAITING } from "./waiting";
import type { Wire } from "../base/wire";
import { cut } from "../base/visible";
import { nameOf, sortOf } from "./words";

const MOST_FLOWS = 6;
const AROUND = 3;
const CROSS = "M4.5 4.5l7 7M11.5 4.5l-7 7";

export interface DetailsHost {
  select(row: Row): void;
  close(): void;
}

export interface Loaded {
  index: Index;
  wire: Wire;
  data: Data;
}

export class Details {
  readonly element = make("aside.details", { role: "region", "aria-label": "Details", tabindex: "-1" });
  readonly #body = make("div.details-body");
  readonly #swatch = make("span.swatch", { "aria-hidden": "true" });
  readonly #heading = make("strong.heading", { dir: "auto" });
  readonly #below = make("div.below", { dir: "auto" });
  #asked: AbortController | null = null;

  constructor(private readonly host: DetailsHost, private readonly signal: AbortSignal) {
    const close = button("Close details", "Close details (Esc)", icon(CROSS));
    listen(close, "click", () => host.close(), signal);
    const words = make("div.named", this.#heading, this.#below);
    this.element.append(make("div.details-head", this.#swatch, words, close), this.#body);
    this.element.hidden = true;
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  hide(): void {
    this.#asked?.abort();
    this.element.hidden = true;
  }

  /** Show an item; `count` is how many are selected with it. */
  show(item: Item, count: number, loaded: Loaded, palette: Palette): void {
    this.#asked?.abort();
    this.#asked = new AbortController();
    const { index, data, wire } = loaded;
    this.#swatch.style.background = palette.ubatch(item.ubatch);
    this.#heading.textContent = cut(nameOf(item), 80);
    this.#below.textContent = count > 1 ? `${sortOf(item)} · one of ${count} selected` : sortOf(item);
    const fields = make("dl", ...fieldRows(firstFields(item, index)));
    const note = make("p.wait");
    const source = make("div.source");
    const columns = make("dl.columns");
    const causes = make("div.causes", this.#flows(item, data, index), note, source);
    this.#body.replaceChildren(fields, causes, columns);
    this.#body.scrollTop = 0;
    this.element.hidden = false;
    void this.#fill(item, index, wire, { fields, note, source, columns }, this.#asked.signal);
  }

  #flows(item: Item, data: Data, index: Index): HTMLElement {
    const { causes, effects } = linksOf(data, item);
    const list = make("div.flows");
    if (!causes.length && !effects.length && data.flows.chunks.every(Boolean)) {
      list.append(make("p", "no cause and no effect recorded"));
    }
    for (const [way, ends] of [["causes", causes], ["effects", effects]] as const) {
      for (const end of ends.slice(0, MOST_FLOWS)) list.append(this.#flowButton(way, end, data, index));
      if (ends.length > MOST_FLOWS) list.append(make("p", `and ${ends.length - MOST_FLOWS} more ${way}`));
    }
    return list;
  }

  #flowButton(way: "causes" | "effects", end: FlowEnd, data: Data, index: Index): HTMLElement {
    const words = flowWords(way, end, data.item(end.row), index);
    const [start, rest] = [words.slice(0, words.indexOf(" ", 7)), words.slice(words.indexOf(" ", 7))];
    const made = make("button.flow", { type: "button", title: end.kind },
      make("span", start), make("bdi", rest));
    listen(made, "click", () => this.host.select(end.row), this.signal);
    return made;
  }

  async #fill(
    item: Item, index: Index, wire: Wire, into: Record<"fields" | "note" | "source" | "columns", HTMLElement>,
    until: AbortSignal,
  ): Promise<void> {
    const { fields, note, source, columns } = into;
    let timer = setTimeout(() => {
      note.textContent = WAITING;
      timer = setTimeout(() => (note.textContent = LATE), LATE_MS);
    }, PATIENCE_MS);
    try {
      const row = await rowOf(wire, index, [item.table, item.row]);
      if (until.aborted) return;
      fields.append(...fieldRows(argumentFields(row)));
      columns.append(...fieldRows(columnFields(item, row)));
      const { site, caller } = row;
      const sources = site || caller ? await wire.json<Source[]>("sources") : [];
      if (until.aborted) return;
      source.append(...[...new Set([site, caller])].flatMap((at, i) => sourceParts(sources, at, i > 0)));
      note.textContent = "";
    } catch (error) {
      if (!until.aborted) note.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

async function rowOf(wire: Wire, index: Index, row: Row): Promise<RowData> {
  const [key, place] = rowKey(row, index.row_part);
  const rows = await wire.json<RowData[]>(key);
  return rows[place] ?? {};
}

const fieldRows = (fields: readonly Field[]): HTMLElement[] =>
  fields.flatMap(([term, value]) => [make("dt", term), make("dd", { dir: "auto" }, value)]);

/** "moe.py:41 in experts" and its lines, the current one marked. */
function sourceParts(sources: readonly Source[], site: unknown, calls: boolean): HTMLElement[] {
  if (typeof site !== "string" || !site) return [];
  const found = excerpt(sources, site, calls ? 1 : AROUND);
  const caption = make("p", ...(calls ? ["called from "] : []), make("code", cut(site, 120)));
  if (!found) return [caption];
  caption.append(` in ${cut(found.function, 80)}`);
  return [caption, codeOf(found, { tabindex: "0", "aria-label": `source of ${found.function}` })];
}
