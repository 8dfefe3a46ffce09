/** What is selected and hovered, as items: the model has rows, and several bars may share one. */

import type { Data, Item } from "./data";
import type { Row } from "./model";

/** More are not drawn in front: Python may select a whole table. */
const MOST = 2000;

export const rowOf = (item: Item): Row => [item.table, item.row];
const keyOf = (row: Row) => `${row[0]}:${row[1]}`;

export class Items {
  selected: Item[] = [];
  readonly #met = new Map<string, Item>();

  /** The bar that was really met under a row: an awake thread has many bars of one row. */
  meet(item: Item): Item {
    this.#met.set(keyOf(rowOf(item)), item);
    return item;
  }

  of(row: Row, data: Data): Item | null {
    return this.#met.get(keyOf(row)) ?? data.item(row);
  }

  /** Those rows of a selection whose columns have come. */
  select(rows: readonly Row[], data: Data): readonly Item[] {
    const kept = new Set(rows.map(keyOf));
    for (const key of this.#met.keys()) if (!kept.has(key)) this.#met.delete(key);
    return (this.selected = rows.slice(-MOST).flatMap((row) => this.of(row, data) ?? []));
  }

  /** The one that the details show: chosen last. */
  get primary(): Item | null {
    return this.selected[this.selected.length - 1] ?? null;
  }

  forget(): void {
    this.#met.clear();
    this.selected = [];
  }
}

/** A click that adds takes away what was selected already. */
export function added(selection: readonly Row[], row: Row): Row[] {
  const others = selection.filter((each) => !sameRow(each, row));
  return others.length < selection.length ? others : [...others, row];
}

/** What Python may set as a selection is looked at before it is used. */
export function soundRows(value: unknown): Row[] {
  if (!Array.isArray(value)) return [];
  return value.filter((row): row is Row => Array.isArray(row)
    && (row[0] === "spans" || row[0] === "events") && Number.isInteger(row[1]) && row[1] >= 0);
}

export function sameRow(a: Row | null, b: Row | null): boolean {
  return a === b || (a !== null && b !== null && a[0] === b[0] && a[1] === b[1]);
}
