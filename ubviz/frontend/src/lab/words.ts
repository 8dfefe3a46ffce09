/** The numbers in words: what stands in the strip, and what is said once things have settled. */

import { duration, plain, round } from "../base/format";
import type { Index, Slider, Value } from "./model";
import type { Numbers } from "./numbers";

export interface Result {
  numbers: Numbers;
  unsplit: number | null;
  /** The recording's own numbers, where it was measured. */
  measured: Numbers | null;
}

export interface Figure {
  label: string;
  value: string;
  /** Beside it: what was measured, or what it is of. */
  beside: string;
}

/** A share in whole percent; 100 and 0 only where it is all and nothing. As in Python. */
export function percent(part: number, whole: number): string {
  let share = round((100 * part) / whole, 0);
  if (part > 0 && part < whole) share = Math.min(Math.max(share, 1), 99);
  return `${share} %`;
}

export const times = (ratio: number): string => `${plain(round(ratio, 2))} ×`;

/** What a slider stands at, with its unit. */
export const valueWords = ({ unit }: Slider, value: Value): string => `${value} ${unit}`;

/** The numbers to be shown, the first ones first. */
export function figuresOf({ names, kind }: Index, { numbers, unsplit, measured }: Result): Figure[] {
  const was = (of: (numbers: Numbers) => string) => (measured ? `measured ${of(measured)}` : "");
  const found: Figure[] = [{ label: "Makespan", value: duration(numbers.makespan_ns), beside: was((n) => duration(n.makespan_ns)) }];
  if (unsplit !== null) {
    found.push({ label: "Unsplit", value: duration(unsplit), beside: "" });
    if (numbers.makespan_ns > 0) found.push({ label: "Speed-up", value: times(unsplit / numbers.makespan_ns), beside: "over unsplit" });
  } else if (kind === "simulated" && measured) {
    found[0]!.beside = `${names[0]} ${duration(measured.makespan_ns)}`;
  }
  found.push({
    label: "Best possible", value: duration(numbers.bound_ns),
    beside: numbers.makespan_ns > 0 && unsplit !== null && numbers.bound_ns > 0 ? `at most ${times(unsplit / numbers.bound_ns)}` : "",
  });
  if (numbers.comm_busy_ns && numbers.overlap_ratio !== null) {
    found.push({
      label: "Communication hidden", value: percent(numbers.overlap_ns, numbers.comm_busy_ns),
      beside: was(hidden) || `of ${duration(numbers.comm_busy_ns)}`,
    });
    found.push({ label: "Exposed", value: duration(numbers.exposed_comm_ns), beside: was((n) => duration(n.exposed_comm_ns)) || "of communication" });
  }
  if (numbers.transfer_ns) {
    found.push({
      label: "Time in flight hidden", value: percent(numbers.hidden_transfer_ns, numbers.transfer_ns),
      beside: was((n) => percent(n.hidden_transfer_ns, n.transfer_ns || 1)) || `of ${duration(numbers.transfer_ns)}`,
    });
  }
  return found;
}

const hidden = (n: Numbers): string => (n.comm_busy_ns ? percent(n.overlap_ns, n.comm_busy_ns) : "0 %");

/** All figures as a sentence. */
export const said = (figures: readonly Figure[]): string =>
  figures.map(({ label, value, beside }) => `${label} ${value}${beside ? ` (${beside})` : ""}`).join(", ") + ".";
