/** Which key means what; a thread's key is its number in the replay string. */

import type { Line } from "../base/keys_panel";
import { passes, type Press } from "../base/press";

export type Command = "undo" | "again" | "run on" | "start again" | "keys" | { thread: number };

/** Threads from the eleventh on have letters, but r, which runs on. */
const THREADS = "0123456789abcdefghijklmnopqstuvwxyz";
const COMMANDS: Record<string, Command> = {
  arrowleft: "undo", backspace: "undo", arrowright: "again", home: "start again", r: "run on", "?": "keys",
};

export const HELP: Line[] = [
  [["0", "1", "2"], "let main, the first, the second other thread go on"],
  [["←", "⌫"], "undo"],
  [["→"], "choose again what was taken back"],
  [["R"], "run on while only one can"],
  [["Home"], "start again"],
  [["?"], "these keys"],
];

/** The key that lets a thread go on; empty for more threads than there are keys. */
export const keyOf = (thread: number): string => (THREADS[thread] ?? "").toUpperCase();

export function commandOf(press: Press): Command | null {
  if (passes(press) || press.isComposing) return null;
  const key = press.key.toLowerCase();
  if (Object.hasOwn(COMMANDS, key)) return COMMANDS[key];
  const thread = key.length === 1 ? THREADS.indexOf(key) : -1;
  return thread < 0 ? null : { thread };
}
