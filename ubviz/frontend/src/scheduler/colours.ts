/** The colour of a thread: that of its microbatch, as in every view; grey for main. */

import type { Palette } from "../base/theme";

const UBATCH = /^ubatch (\d{1,4})$/;

/** The microbatch of a thread; other threads than main are told apart by their number. */
export function ubatchOf(name: string, thread: number): number | null {
  const found = UBATCH.exec(name);
  if (found) return Number(found[1]);
  return thread === 0 ? null : thread - 1;
}

export const isMicrobatch = (name: string) => UBATCH.test(name);

/** The microbatch that an object's name ends with: cpu_event[1] belongs to microbatch 1. */
export function ownerOf(object: string): number | null {
  const found = /\[(\d{1,4})\]$/.exec(object);
  return found ? Number(found[1]) : null;
}

/** Colour an element as what belongs to a microbatch. */
export function paint(element: HTMLElement, palette: Palette, ubatch: number | null): void {
  const colour = palette.ubatch(ubatch);
  element.style.setProperty("--ubviz-own", colour);
  element.style.setProperty("--ubviz-own-tint", palette.tint(colour, 0.14));
  element.style.setProperty("--ubviz-own-deep", palette.tint(colour, 0.26));
}
