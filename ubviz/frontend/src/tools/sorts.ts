/**
 * Rows of a chunk by their sort: those that are alike in all that a search asks of them. Found once for a chunk, in one
 * pass; what a sort is called is then asked once for all of its rows.
 */

import type { Column } from "../timeline/columns";

export interface Sorts {
  /** The sort of each row. */
  of: Uint32Array;
  /** A row of each sort. */
  first: number[];
  /** What was found out about each sort. */
  texts: (string | undefined)[];
}

/** Begins so large, and is twice as large whenever it is half full. */
const LEAST = 256;

export function sortsOf(columns: readonly Column[], rows: number): Sorts {
  const of = new Uint32Array(rows);
  const first: number[] = [];
  let table = new Int32Array(LEAST).fill(-1);
  const place = (row: number) => {
    let hash = 0;
    for (const column of columns) hash = Math.imul(hash ^ column[row]!, 0x9e3779b1);
    const mask = table.length - 1;
    let at = (hash ^ (hash >>> 15)) & mask;
    while (table[at]! >= 0 && !alike(columns, first[table[at]!]!, row)) at = (at + 1) & mask;
    return at;
  };
  for (let row = 0; row < rows; row++) {
    if (row && alike(columns, row - 1, row)) {
      of[row] = of[row - 1]!;
      continue;
    }
    const at = place(row);
    if (table[at]! < 0) {
      table[at] = first.length;
      first.push(row);
    }
    of[row] = table[at]!;
    if (2 * first.length <= table.length) continue;
    table = new Int32Array(2 * table.length).fill(-1);
    first.forEach((row, sort) => (table[place(row)] = sort));
  }
  return { of, first, texts: [] };
}

function alike(columns: readonly Column[], a: number, b: number): boolean {
  for (const column of columns) if (column[a] !== column[b]) return false;
  return true;
}
