/** Which key means what on the stage, and which keys belong to the notebook round it. */

import { passes, type Press } from "../base/press";

export type Command =
  | "zoom in"
  | "zoom out"
  | "pan left"
  | "pan right"
  | "home"
  | "show all"
  | "previous item"
  | "next item"
  | "lane above"
  | "lane below"
  | "to cause"
  | "to effect"
  | "frame"
  | "turn order"
  | "into details"
  | "escape"
  | "keys";

const COMMANDS: Record<string, Command> = {
  w: "zoom in", "+": "zoom in", "=": "zoom in",
  s: "zoom out", "-": "zoom out", _: "zoom out",
  a: "pan left", d: "pan right",
  home: "home", "0": "home",
  arrowleft: "previous item", arrowright: "next item",
  arrowup: "lane above", arrowdown: "lane below",
  "[": "to cause", "]": "to effect",
  f: "frame", o: "turn order",
  enter: "into details", escape: "escape", "?": "keys",
};

/** What the panel of keys says, in the order in which one learns them. */
export const HELP: [keys: string[], words: string][] = [
  [["←", "→"], "previous, next on its lane"], [["W", "S"], "zoom in, out"],
  [["↑", "↓"], "nearest on the lane above, below"], [["A", "D"], "pan left, right"],
  [["[", "]"], "along an arrow to its cause, effect"], [["Home"], "back to the step"],
  [["Enter"], "into the details"], [["Shift", "Home"], "everything"],
  [["F"], "frame the selection"], [["O"], "by the clock, or in order"],
  [["Esc"], "close the details, clear the selection"], [["?"], "these keys"],
];

/** The command of a key pressed on the stage. */
export function commandOf(press: Press): Command | null {
  if (passes(press) || press.isComposing) return null;
  const key = press.key.toLowerCase();
  if (key === "home" && press.shiftKey) return "show all";
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : null;
}
