/** Which key means what. */

import type { Line } from "../base/keys_panel";
import { passes, type Press } from "../base/press";

export type Command =
  | "back" | "forward" | "first" | "last" | "play"
  | "previous of thread" | "next of thread" | "previous of object" | "next of object"
  | "keys" | "close";

/** What the panel of keys says. */
export const HELP: Line[] = [
  [["←", "→"], "one trace event back, forward"],
  [["Shift", "← →"], "the same of this thread"],
  [["[", "]"], "the same of this object"],
  [["Home", "End"], "the first, the last"],
  [["Space"], "play, pause"],
  [["?"], "these keys"],
];

const COMMANDS: Record<string, Command> = {
  ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play",
  "[": "previous of object", "]": "next of object", "?": "keys", Escape: "close",
};

/** The command of a key. In a field that takes text only Escape and ? leave it be. */
export function commandOf(press: Press, within: "field" | "button" | "else"): Command | null {
  if (passes(press) || press.isComposing) return null;
  if (within === "field") return press.key === "Escape" ? "close" : null;
  if (within === "button" && press.key === " ") return null; // presses the button
  if (press.shiftKey && press.key === "ArrowLeft") return "previous of thread";
  if (press.shiftKey && press.key === "ArrowRight") return "next of thread";
  return Object.hasOwn(COMMANDS, press.key) ? COMMANDS[press.key]! : null;
}
