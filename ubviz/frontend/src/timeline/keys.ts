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

/** The command of a key pressed on the stage. */
export function commandOf(press: Press): Command | null {
  if (passes(press) || press.isComposing) return null;
  const key = press.key.toLowerCase();
  if (key === "home" && press.shiftKey) return "show all";
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : null;
}
