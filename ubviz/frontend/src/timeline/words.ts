/** Items in words: what the tip, the details, the buttons and the live region say. */

import type { Item } from "./data";
import { cut } from "../base/visible";
import { duration, moment } from "../base/format";
import type { Index } from "./model";

/** From when to when, counted from the ruler's zero, and how long; of a mark only when. */
export function timesOf(item: Item, index: Index): string {
  const length = item.end - item.start;
  const at = (ns: number) => moment(ns - index.origin_ns, length / 10 || 1000);
  return length > 0 ? `${at(item.start)} to ${at(item.end)}, ${duration(length)}` : `at ${at(item.start)}`;
}

const STYLES: Record<string, string> = {
  awake: "CPU thread, awake",
  device: "CPU thread, blocked by the device",
  waiting: "waiting",
  compute: "kernel, computation",
  comm: "kernel, communication",
  copy: "kernel, copy",
  other: "kernel, unclassified",
  transfer: "data in flight",
  operation: "operation, its host side",
};
const KINDS: Record<string, string> = { record: "event recorded", wait: "wait ends" };

/** What a table of words has for a name: "constructor" and the like are names too. */
const own = (words: Record<string, string>, name: string | null): string | null =>
  name !== null && Object.hasOwn(words, name) ? words[name]! : null;

/** What sort of thing an item is. */
export function sortOf({ kind, style }: Item): string {
  if (kind !== null) return own(KINDS, kind) ?? `trace event ${kind}`;
  return own(STYLES, style) ?? style ?? "span";
}

const BLOCKS: Record<string, string> = {
  "thread.join": "joins",
  "barrier.arrive": "waits at the barrier",
  "host_event.wait": "waits for a host event",
};

/** What something waits for, of an item that waits; else nothing. */
export function waitOf(item: Item): string | null {
  if (item.style === "waiting") {
    if (item.table === "spans" && /^(waits|joins)\b/.test(item.name)) return item.name;
    return own(BLOCKS, item.name) ?? (item.name ? `waits for ${item.name}` : "waits");
  }
  return item.style === "device" ? deviceWords(item) : null;
}

function deviceWords(item: Item): string {
  if (/^(blocked|reads|synchronizes)\b/.test(item.name)) return item.name;
  if (item.name === "kernel.launch") return `blocked in ${item.op ?? "a launch"}`;
  return item.name ? `blocked in ${item.name}` : "blocked by the device";
}

/** The name an item goes by. */
export function nameOf(item: Item): string {
  if (item.kind !== null) return markName(item.kind, item.name);
  const waits = waitOf(item);
  if (waits !== null) return waits;
  if (item.style === "awake") return "awake";
  return item.name || item.op || sortOf(item);
}

/** Trace events go by the words on their marks; what these words leave out is added. */
function markName(kind: string, text: string): string {
  if (kind === "record") return `record of ${text || "an event"}`;
  if (kind === "wait") return `end of the wait for ${text || "an event"}`;
  if (kind === "kernel.launch") return `launch of ${text || "a kernel"}`;
  if (kind === "barrier.arrive") return text ? `arrives, ${text}` : "arrives";
  return text || kind;
}

/** Where an item belongs: "attention", "microbatch 0", "layer 2"; what its name says is left out. */
export function belongsTo(item: Item): string[] {
  const found: string[] = [];
  if (item.kind !== null && item.table === "events" && item.kind !== nameOf(item)) found.push(item.kind);
  if (item.op !== null && item.op !== nameOf(item)) found.push(item.op);
  if (item.ubatch !== null) found.push(`microbatch ${item.ubatch}`);
  if (item.layer !== null) found.push(`layer ${item.layer}`);
  return found;
}

/** An item in one sentence: "attention, microbatch 0, layer 2, on compute, 12.3 ms to 20.1 ms, 7.8 ms". */
export function sentence(item: Item, index: Index): string {
  const lane = index.lanes[item.lane]?.name ?? "";
  const parts = [nameOf(item), ...belongsTo(item), `on ${lane}`, timesOf(item, index)];
  return parts.map((part) => cut(part, 120)).join(", ");
}
