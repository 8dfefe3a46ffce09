/** What is said: of an operation in both, of a number of both. */

import { duration, plain, round, round3 } from "../base/format";
import { clean } from "../base/text";
import { cut } from "../base/visible";
import type { Operation, Part } from "./data";
import { later, longer } from "./data";
import type { Index } from "./model";

/** "experts, microbatch 0, layer 1": the second of its name there says so. */
export function nameWords(operation: Operation): string {
  const parts = [cut(clean(operation.name), 60), ...whereOf(operation)];
  if (operation.occurrence > 0) parts.push(againWords(operation.occurrence));
  return parts.join(", ");
}

/** "rank 1", "microbatch 0", "layer 1": what is known of where it ran. */
export function whereOf({ rank, ubatch, layer }: Operation): string[] {
  const parts: string[] = [];
  if (rank !== null) parts.push(`rank ${rank}`);
  if (ubatch !== null) parts.push(`microbatch ${ubatch}`);
  if (layer !== null) parts.push(`layer ${layer}`);
  return parts;
}

/** "2nd time": occurrences are counted from 0. */
export function againWords(occurrence: number): string {
  const n = occurrence + 1;
  const tens = Math.floor(n / 10) % 10 === 1;
  return `${n}${tens ? "th" : ["th", "st", "nd", "rd"][n % 10] ?? "th"} time`;
}

const partWords = (part: Part, name: string): string => `in ${name} ${duration(part.duration)} from ${duration(part.start)} on`;

/** Both durations, both offsets, and the difference. */
export function operationWords(operation: Operation, names: Index["names"]): string {
  const [a, b] = operation.parts;
  const [first, second] = names.map((name) => cut(name, 30)) as [string, string];
  const head = `${nameWords(operation)}: `;
  if (!a || !b) {
    const [part, where] = a ? [a, first] : [b!, second];
    return `${head}only in ${where}, ${duration(part.duration)} from ${duration(part.start)} on.`;
  }
  return `${head}${partWords(a, first)}, ${partWords(b, second)}; ${differenceWords(operation, second)}.`;
}

/** "after runs 1.2 ms longer and begins 3 ms sooner". */
export function differenceWords(operation: Operation, name: string): string {
  const [length, start] = [longer(operation), later(operation)];
  const runs = length === 0 ? "runs as long" : `runs ${duration(Math.abs(length))} ${length > 0 ? "longer" : "shorter"}`;
  const begins = start === 0 ? "begins as soon" : `begins ${duration(Math.abs(start))} ${start > 0 ? "later" : "sooner"}`;
  return `${name} ${runs} and ${begins}`;
}

/** "206 µs later". */
export const startWords = (ns: number): string =>
  ns === 0 ? "as soon" : `${duration(Math.abs(ns))} ${ns > 0 ? "later" : "sooner"}`;

/** A difference with its sign: "+1.2 ms". */
export const signed = (ns: number): string => (ns === 0 ? "0" : `${ns > 0 ? "+" : "\u2212"}${duration(Math.abs(ns))}`);

export interface Figure {
  label: string;
  both: string;
  beside: string;
}

const FIGURES: readonly [name: string, label: string][] = [
  ["makespan_ns", "Makespan"],
  ["compute_busy_ns", "Compute busy"],
  ["comm_busy_ns", "Communication busy"],
  ["overlap_ns", "Overlap"],
  ["overlap_ratio", "Communication hidden"],
  ["exposed_comm_ns", "Exposed"],
  ["transfer_ns", "In flight"],
  ["hidden_transfer_ns", "Hidden in flight"],
];

/** The numbers of both and the difference; left out is what neither has. */
export function figuresOf({ totals }: Index): Figure[] {
  return FIGURES.flatMap(([name, label]) => {
    const [a, b] = totals[name] ?? [null, null];
    if (!a && !b) return [];
    const write = name === "overlap_ratio" ? percent : duration;
    const both = [a, b].map((value) => (value === null ? "unknown" : write(value))).join(" \u2192 ");
    return [{ label, both, beside: a === null || b === null ? "" : besideWords(name, a, b) }];
  });
}

function besideWords(name: string, a: number, b: number): string {
  const diff = b - a;
  if (diff === 0) return "the same";
  const more = diff > 0 ? "more" : "less";
  if (name === "overlap_ratio") {
    const points = plain(round(Math.abs(diff) * 100, 1));
    return points === "0" ? "all but the same" : `${points} ${points === "1" ? "point" : "points"} ${more}`;
  }
  const words = `${duration(Math.abs(diff))} ${name === "makespan_ns" ? (diff > 0 ? "longer" : "sooner") : more}`;
  if (name !== "makespan_ns" || !a || !b) return words;
  const ratio = plain(round3(Math.max(a, b) / Math.min(a, b)));
  return ratio === "1" ? words : `${words}, ${ratio} times as ${diff > 0 ? "long" : "fast"}`;
}

/** A share in whole percent; 100 and 0 only where it is all and nothing. */
function percent(share: number): string {
  const whole = Math.round(share * 100);
  return `${share > 0 && share < 1 ? Math.min(Math.max(whole, 1), 99) : whole} %`;
}

/** All figures, for those who do not see them. */
export const figureWords = (figures: readonly Figure[]): string =>
  figures.map(({ label, both, beside }) => `${label} ${both}${beside ? `, ${beside}` : ""}.`).join(" ");
