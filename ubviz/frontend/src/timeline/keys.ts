/** Which key means what on the stage, and which keys belong to the notebook round it. */

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

/** What we look at of a KeyboardEvent. */
export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing?: boolean;
  getModifierState?(name: string): boolean;
}

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

/** AltGr is how some keyboards write brackets: it is held, but the key is a plain one. */
function plain(press: Press): boolean {
  if (press.getModifierState?.("AltGraph")) return true;
  return !press.ctrlKey && !press.metaKey && !press.altKey;
}

/**
 * Whether the page round the widget may see this key: Tab, Shift+Enter (runs the cell) and what has Ctrl,
 * Meta or Alt. Every other key, used here or not, is stopped: in JupyterLab's command mode a stray x would
 * cut the cell.
 */
export function passes(press: Press): boolean {
  return !plain(press) || press.key === "Tab" || (press.key === "Enter" && press.shiftKey);
}

/** The command of a key pressed on the stage. */
export function commandOf(press: Press): Command | null {
  if (passes(press) || press.isComposing) return null;
  const key = press.key.toLowerCase();
  if (key === "home" && press.shiftKey) return "show all";
  return Object.hasOwn(COMMANDS, key) ? COMMANDS[key] : null;
}
