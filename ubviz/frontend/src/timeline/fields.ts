/** What the details say of an item: what the columns know, then the whole row. */

import type { FlowEnd, Item } from "./data";
import { duration, moment } from "../base/format";
import type { Index, Row } from "./model";
import { floor, min } from "../base/numbers";
import { cut, visible } from "../base/visible";
import { nameOf } from "./words";

export type Field = readonly [term: string, value: string];
export type RowData = Record<string, unknown>;

/** In which block the whole row is, and where in it. */
export function rowKey([table, row]: Row, part: number): [key: string, place: number] {
  return [`rows:${table}:${floor(row / part)}`, row % part];
}

/** The heading cuts a longer name: then it stands in full among the fields. */
const LONG = 30;

/** What is known at once. */
export function firstFields(item: Item, index: Index): Field[] {
  const lane = index.lanes[item.lane];
  const length = item.end - item.start;
  const at = (ns: number) => moment(ns - index.origin_ns, length > 0 ? min(length / 10, 1000) : 1000);
  const found: Field[] = [["lane", visible(lane?.name ?? String(item.lane))]];
  const name = visible(nameOf(item));
  if (name.length > LONG) found.unshift(["name", name]);
  if (new Set(index.lanes.map((lane) => lane.rank)).size > 1) found.push(["rank", String(lane?.rank)]);
  if (item.op !== null) found.push(["operation", visible(item.op)]);
  if (item.ubatch !== null) found.push(["microbatch", String(item.ubatch)]);
  if (item.layer !== null) found.push(["layer", String(item.layer)]);
  if (length > 0) found.push(["begins", at(item.start)], ["ends", at(item.end)], ["lasts", duration(length)]);
  else found.push(["at", at(item.start)]);
  return found;
}

/** Columns that the first fields have said, or that say nothing outside the kernel. */
const SAID = new Set(["t_ns", "start_ns", "end_ns", "until_ns", "rank", "ubatch", "lane", "operation",
  "layer", "cat", "site", "caller", "args", "event_row"]);
const TERMS: Record<string, string> = { seq: "trace event", cls: "class" };

/** Every argument of a row, and how long a call blocked. */
export function argumentFields(row: RowData): Field[] {
  const found: Field[] = [];
  const { t_ns: begin, until_ns: until, args } = row;
  if (typeof begin === "number" && typeof until === "number") {
    found.push(["blocks for", duration(until - begin)]);
  }
  if (args === null || typeof args !== "object") return found;
  for (const [name, value] of Object.entries(args)) found.push([visible(name), valueWords(value)]);
  return found;
}

/** The other columns of a row, for whoever looks it up in Python; its number in the table first. */
export function columnFields(item: Item, row: RowData): Field[] {
  const found: Field[] = [["row", `${item.row} of ${item.table}`]];
  for (const [name, value] of Object.entries(row)) {
    if (SAID.has(name) || value === null || (name === "name" && value === nameOf(item))) continue;
    found.push([TERMS[name] ?? visible(name), valueWords(value)]);
  }
  return found;
}

/** A value of an argument in words; nothing of it is left out. */
export function valueWords(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "string") return visible(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((part) => part === null || typeof part !== "object")) {
    return value.length ? value.map(valueWords).join(", ") : "none";
  }
  return visible(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** A flow's button: "caused by host_event.set cpu_event[0] on main, at 3.2 ms". */
export function flowWords(way: "causes" | "effects", end: FlowEnd, other: Item | null, index: Index): string {
  const start = way === "causes" ? "caused by" : "leads to";
  const what = other ? nameOf(other) : end.kind;
  const lane = index.lanes[end.lane]?.name ?? "";
  return `${start} ${cut(what, 60)} on ${cut(lane, 40)}, at ${moment(end.ns - index.origin_ns, 1000)}`;
}

/** Which flow a key follows: the latest cause, the earliest effect. */
export function follow(way: "causes" | "effects", ends: readonly FlowEnd[]): FlowEnd | null {
  const sign = way === "causes" ? -1 : 1;
  const before = (a: FlowEnd, b: FlowEnd) => sign * a.ns <= sign * b.ns;
  return ends.reduce<FlowEnd | null>((best, end) => (best && before(best, end) ? best : end), null);
}
