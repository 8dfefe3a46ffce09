/** The table: every operation with both durations and the difference, a page of it at a time. */

import { duration } from "../base/format";
import { listen, make } from "../base/dom";
import type { Palette } from "../base/theme";
import { clean } from "../base/text";
import { cut } from "../base/visible";
import { later, longer, sorted, type Data, type Operation, type Order } from "./data";
import { againWords, signed, startWords, whereOf } from "./words";

/** Rows in the page at once. */
export const PAGE = 100;
const ORDERS: readonly [Order, string][] = [
  ["difference", "difference"], ["start", "start moved"], ["time", "order of time"], ["name", "name"],
];

export interface Wishes {
  choose(number: number): void;
  point(number: number | null): void;
  leave(): void;
  /** Other rows are to be shown. */
  turned(): void;
}

export class Table {
  readonly element = make("div.compare-list");
  readonly #body = make("tbody");
  readonly #head = make("tr");
  readonly #box = make("div.compare-box");
  readonly #said = make("span.compare-count");
  readonly #orders = new Map<Order, HTMLButtonElement>();
  readonly #turn: [HTMLButtonElement, HTMLButtonElement];
  #data: Data | null = null;
  #order: Order = "difference";
  #numbers: number[] = [];
  #page = 0;
  #shown = "";

  constructor(private readonly wishes: Wishes, signal: AbortSignal) {
    const bar = make("div.compare-sort", { role: "group", "aria-label": "Order of the table" }, "Sort by");
    for (const [order, words] of ORDERS) {
      const one = make("button", { type: "button" }, words);
      listen(one, "click", () => this.sort(order), signal);
      this.#orders.set(order, one);
      bar.append(one);
    }
    this.#turn = [make("button", { type: "button" }, "Previous"), make("button", { type: "button" }, "Next")];
    this.#turn.forEach((each, way) => listen(each, "click", () => this.#go(this.#page + (way ? 1 : -1)), signal));
    this.#box.append(make("table", { role: "grid" }, make("thead", this.#head), this.#body));
    this.element.append(make("div.compare-bar", bar, make("span.compare-pages", this.#said, ...this.#turn)), this.#box);
    const numberAt = (event: Event): number | null => {
      const row = (event.target as HTMLElement).closest<HTMLElement>("tr[data-ubviz-number]");
      return row ? Number(row.dataset.ubvizNumber) : null;
    };
    listen(this.#body, "click", (event) => {
      const number = numberAt(event);
      if (number !== null) wishes.choose(number);
    }, signal);
    listen(this.#body, "pointerover", (event) => wishes.point(numberAt(event)), signal);
    listen(this.#body, "pointerleave", () => wishes.point(null), signal);
    listen(this.#body, "keydown", (event) => this.#pressed(event, numberAt(event)), signal);
  }

  /** The operations in the table's order. */
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  load(data: Data): void {
    this.#data = data;
    this.#shown = "";
    const [a, b] = data.index.names.map((name) => cut(name, 20));
    const heads: [string, string][] = [
      ["Operation", "compare-name"], ["Microbatch", "compare-wide"], ["Layer", "compare-wide"], [a!, "compare-number"],
      [b!, "compare-number"], ["Difference", "compare-number"], ["Starts", "compare-number compare-wide"],
    ];
    if (data.index.align === "name") heads.splice(1, 1); // no operation is of a microbatch
    if (data.ranked) heads.splice(1, 0, ["Rank", "compare-wide"]);
    this.#head.replaceChildren(...heads.map(([words, kind]) => {
      const cell = make("th", { scope: "col", dir: "auto" }, words);
      cell.className = classes(kind);
      return cell;
    }));
    this.sort(data.operations.some(longer) ? "difference" : "start");
  }

  sort(order: Order): void {
    this.#order = order;
    this.#numbers = this.#data ? sorted(this.#data.operations, order) : [];
    for (const [name, one] of this.#orders) one.setAttribute("aria-pressed", String(name === order));
    this.#go(0);
  }

  /** Light the row of what is selected, and of what is pointed at elsewhere. */
  show(palette: Palette, selected: number | null, pointed: number | null): void {
    if (!this.#data) return;
    const key = JSON.stringify([this.#order, this.#page, palette.name]);
    if (key !== this.#shown) {
      this.#shown = key;
      const most = Math.max(1, ...this.#data.operations.map((operation) => Math.abs(longer(operation))));
      this.#body.replaceChildren(...this.#here().map((number) => rowOf(this.#data!, number, palette, most)));
    }
    const stop = selected !== null && this.#here().includes(selected) ? selected : this.#here()[0];
    for (const row of this.#body.rows) {
      const number = Number(row.dataset.ubvizNumber);
      row.tabIndex = number === stop ? 0 : -1;
      row.setAttribute("aria-selected", String(number === selected));
      row.toggleAttribute("data-ubviz-pointed", number === pointed);
    }
  }

  /** Turn to the page of an operation, and scroll the table, not the notebook, to its row. */
  reveal(number: number, focus = false): void {
    this.#go(Math.floor(this.#numbers.indexOf(number) / PAGE));
    requestAnimationFrame(() => {
      const row = this.#row(number);
      if (!row) return;
      const [box, room] = [row.getBoundingClientRect(), this.#box.getBoundingClientRect()];
      const head = this.#head.getBoundingClientRect().height;
      if (box.top < room.top + head) this.#box.scrollTop -= room.top + head - box.top;
      else if (box.bottom > room.bottom) this.#box.scrollTop += box.bottom - room.bottom;
      if (focus) row.focus({ preventScroll: true });
    });
  }

  #row(number: number): HTMLTableRowElement | undefined {
    return [...this.#body.rows].find((row) => row.dataset.ubvizNumber === String(number));
  }

  #here(): number[] {
    return this.#numbers.slice(this.#page * PAGE, (this.#page + 1) * PAGE);
  }

  #go(page: number): void {
    const last = Math.max(Math.ceil(this.#numbers.length / PAGE) - 1, 0);
    const to = Math.min(Math.max(page, 0), last);
    if (to !== this.#page) this.#box.scrollTop = 0;
    this.#page = to;
    const count = this.#numbers.length;
    this.#said.textContent = last === 0 ? `${count} operations`
      : `${to * PAGE + 1} to ${Math.min((to + 1) * PAGE, count)} of ${count} operations`;
    this.#turn.forEach((each, way) => {
      each.hidden = last === 0;
      each.setAttribute("aria-disabled", String(way ? to === last : to === 0));
    });
    this.wishes.turned();
  }

  #pressed(event: KeyboardEvent, number: number | null): void {
    if (number === null) return;
    const at = this.#numbers.indexOf(number);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.#numbers.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      if (event.key === "Enter") this.wishes.choose(number);
      this.wishes.leave();
    } else if (to !== undefined) {
      event.preventDefault();
      const next = this.#numbers[to];
      if (next === undefined) return;
      this.wishes.choose(next);
      this.reveal(next, true);
    }
  }
}

const classes = (names: string): string => names.split(" ").map((name) => `ubviz-${name}`).join(" ");

function rowOf(data: Data, number: number, palette: Palette, most: number): HTMLTableRowElement {
  const operation = data.operations[number]!;
  const { rank, ubatch, layer, parts } = operation;
  const [a, b] = parts;
  const named = data.index.align === "name";
  const mark = make("i.compare-mark", { "aria-hidden": "true" });
  mark.style.background = palette.ubatch(ubatch);
  mark.hidden = named;
  const name = make("th.compare-name", { scope: "row", dir: "auto" }, mark, cut(clean(operation.name), 60),
    make("span.compare-where", whereOf(operation).join(", ")));
  if (operation.occurrence > 0) name.append(make("span.compare-again", againWords(operation.occurrence)));
  const cell = (kind: string, ...words: (string | Node)[]): HTMLTableCellElement => {
    const made = make("td", ...words);
    made.className = classes(kind);
    return made;
  };
  const row = make("tr", { "data-ubviz-number": String(number) }, name,
    ...(data.ranked ? [cell("compare-wide", known(rank))] : []),
    ...(named ? [] : [cell("compare-wide", known(ubatch))]), cell("compare-wide", known(layer)),
    cell("compare-number", a ? duration(a.duration) : "\u2013"), cell("compare-number", b ? duration(b.duration) : "\u2013"),
    cell("compare-number", ...differenceOf(data, operation, most)),
    cell("compare-number compare-wide", a && b ? startWords(later(operation)) : "\u2013"));
  if (!a || !b) row.dataset.ubvizOnly = a ? "a" : "b";
  return row;
}

const known = (number: number | null): string => (number === null ? "\u2013" : String(number));

/** Words, and a bar that is as long as the difference is large. */
function differenceOf(data: Data, operation: Operation, most: number): (string | Node)[] {
  const by = longer(operation);
  const bar = make("i.compare-by", { "aria-hidden": "true" });
  bar.style.width = `${(Math.abs(by) / most) * 100}%`;
  bar.toggleAttribute("data-ubviz-longer", by > 0);
  const missing = operation.parts.indexOf(null);
  const words = missing < 0 ? signed(by) : `only in ${cut(data.index.names[1 - missing]!, 16)}`;
  return [make("span", words), make("span.compare-rail", { "aria-hidden": "true" }, bar)];
}
