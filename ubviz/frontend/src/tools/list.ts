/** The list: what the picture shows, as text. The two are linked: what is selected in one is selected in the other. */

import { listen, make } from "../base/dom";
import { duration, moment } from "../base/format";
import { max, min } from "../base/numbers";
import { passes } from "../base/press";
import { cut } from "../base/visible";
import type { Item } from "../timeline/data";
import { nameOf, sortOf } from "../timeline/words";
import { MOST_ROWS, Rows, seenRows } from "./rows";
import { counted, goTo, Panel, type Shared, type Tool } from "./tool";

const PITCH = 22;
/** While the picture moves the list waits so long. */
const SETTLED_MS = 150;
const COLUMNS = ["at", "lasts", "what", "lane", "microbatch", "sort"];

export class List implements Tool {
  readonly name = "List of what is shown";
  readonly key = "l";
  readonly word = "list";
  readonly #panel: Panel;
  readonly #words = make("span.soft");
  readonly #rows = make("div.rows", { role: "rowgroup" });
  readonly #scroll = make("div.list", { role: "grid", tabindex: "0", "aria-label": "What the picture shows",
    "aria-colcount": String(COLUMNS.length) },
    make("div.list-row", { role: "row", "aria-rowindex": "1" },
      ...COLUMNS.map((word) => make("span", { role: "columnheader" }, word))),
    this.#rows);
  readonly #id = `ubviz-${Math.random().toString(36).slice(2)}`;
  #listed: Rows | null = null;
  #known = "";
  #current = -1;
  #timer = 0;
  #shown: [number, number] = [0, 0];
  #own = false;

  constructor(private readonly shared: Shared) {
    const { view, signal } = shared;
    this.#panel = new Panel(shared, "List", () => this.close());
    this.#panel.head.append(this.#words);
    this.#panel.body.append(this.#scroll);
    listen(this.#scroll, "scroll", () => this.#fill(), signal);
    listen(this.#scroll, "keydown", (event) => this.#press(event), signal);
    listen(this.#rows, "click", (event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("[data-row]");
      if (row) this.#select(Number(row.dataset.row));
    }, signal);
    listen(this.#scroll, "focus", () => this.#current < 0 && this.#listed?.count && this.#mark(0), signal);
    view.link.on("selection", () => this.open && !this.#own && this.#follow());
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.stand();
    this.#scroll.focus({ preventScroll: true });
  }

  stand(): void {
    this.#panel.show();
    this.#make();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#panel.hide(this.shared.view.shell.stage);
    this.#listed = null;
    this.#known = "";
    this.#rows.replaceChildren();
  }

  painted(base: boolean): void {
    if (!base || this.#key() === this.#known) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#make(), SETTLED_MS);
  }

  #key(): string {
    const { view } = this.shared;
    return JSON.stringify([view.range, view.scene?.data.version, view.link.get("hidden")]);
  }

  #make(): void {
    const { view } = this.shared;
    const { scene, range } = view;
    if (!this.open || !scene || this.#key() === this.#known) return;
    this.#known = this.#key();
    const shown = new Set(view.picture?.layout.rows.map((row) => row.lane));
    this.#listed = new Rows(scene.data, range[0], range[1], (lane) => shown.has(lane));
    const { count, all } = this.#listed;
    this.#words.textContent = all > count
      ? `the first ${counted(count, "row")} of ${all.toLocaleString("en-US")}: zoom in to list all` : counted(count, "row");
    this.#scroll.setAttribute("aria-rowcount", String(count + 1));
    styledHeight(this.#rows, min(count, MOST_ROWS) * PITCH);
    this.#current = -1;
    this.#shown = [-1, -1];
    this.#follow();
    this.#fill();
  }

  /** The rows that are seen, and no others. */
  #fill(): void {
    const listed = this.#listed;
    if (!listed) return;
    const [from, to] = seenRows(this.#scroll.scrollTop, this.#scroll.clientHeight, PITCH, listed.count);
    if (from === this.#shown[0] && to === this.#shown[1]) return;
    this.#shown = [from, to];
    const made: HTMLElement[] = [];
    for (let row = from; row < to; row++) made.push(this.#rowOf(listed.item(row), row));
    this.#rows.replaceChildren(...made);
  }

  #rowOf(item: Item, row: number): HTMLElement {
    const { index } = this.shared.view.scene!;
    const lasts = item.end - item.start;
    const cells = [moment(item.start - index.origin_ns, min(lasts / 10 || 1000, 1000)), lasts ? duration(lasts) : "",
      cut(nameOf(item), 80), cut(index.lanes[item.lane]?.name ?? "", 40), item.ubatch === null ? "" : String(item.ubatch),
      sortOf(item)];
    const element = make("div.list-row", { role: "row", "aria-rowindex": String(row + 2), id: `${this.#id}-${row}`,
      "aria-selected": String(row === this.#current) },
      ...cells.map((text) => make("span", { role: "gridcell", dir: "auto" }, text)));
    element.dataset.row = String(row);
    element.style.top = `${row * PITCH}px`;
    return element;
  }

  #press(event: KeyboardEvent): void {
    const { count = 0 } = this.#listed ?? {};
    if (passes(event) || !count) return;
    const page = max(Math.floor(this.#scroll.clientHeight / PITCH) - 2, 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }[event.key];
    if (event.key === "Enter") this.shared.view.act("into details");
    else if (by !== undefined) this.#select(min(max(this.#current + by, 0), count - 1));
    else return;
    event.preventDefault();
  }

  #select(row: number): void {
    const { view } = this.shared;
    const item = this.#listed?.item(row);
    if (!item) return;
    this.#own = true;
    goTo(view, item);
    this.#own = false;
    this.#mark(row);
  }

  /** What is selected in the picture. */
  #follow(): void {
    const { primary } = this.shared.view.items;
    const row = primary && this.#listed ? this.#listed.find(primary) : -1;
    this.#mark(row);
  }

  #mark(row: number): void {
    this.#rows.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
    this.#current = row;
    if (row < 0) return this.#scroll.removeAttribute("aria-activedescendant");
    const { scrollTop, clientHeight } = this.#scroll;
    const [top, bottom] = [row * PITCH, (row + 2) * PITCH];
    if (top < scrollTop) this.#scroll.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.#scroll.scrollTop = bottom - clientHeight;
    this.#fill();
    this.#rows.querySelector(`[data-row="${row}"]`)?.setAttribute("aria-selected", "true");
    this.#scroll.setAttribute("aria-activedescendant", `${this.#id}-${row}`);
  }
}

function styledHeight(element: HTMLElement, height: number): void {
  element.style.height = `${height}px`;
}
