/** Which key means what on the lanes. */

import { passes, type Press } from "../base/press";

export type Command =
  | "zoom in" | "zoom out" | "pan left" | "pan right" | "all" | "frame" | "before" | "after" | "row above" | "row below"
  | "table" | "nothing";

const COMMANDS: Record<string, Command> = {
  w: "zoom in", "+": "zoom in", "=": "zoom in", s: "zoom out", "-": "zoom out", _: "zoom out",
  a: "pan left", d: "pan right", home: "all", "0": "all", f: "frame", arrowleft: "before", arrowright: "after",
  arrowup: "row above", arrowdown: "row below", enter: "table", escape: "nothing",
};

export function commandOf(press: Press): Command | null {
  if (passes(press) || press.isComposing) return null;
  const key = press.key.toLowerCase();
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key]! : null;
}

/** The next of some numbers along a way; from none the first, or the last; at an end it stays. */
export function along(numbers: readonly number[], from: number | null, by: 1 | -1): number | null {
  if (numbers.length === 0) return null;
  const at = from === null ? -1 : numbers.indexOf(from);
  if (at < 0) return numbers.at(by > 0 ? 0 : -1)!;
  return numbers[Math.min(Math.max(at + by, 0), numbers.length - 1)]!;
}
