/** Under the stage: what the signs mean (those that appear), and one line of numbers. */

import { make } from "../base/dom";
import { legendEntries, paintSwatch, type Seen } from "./draw";
import { max, round } from "../base/numbers";
import { kept } from "../base/kept";
import type { Palette } from "../base/theme";
import type { Wire } from "../base/wire";
import { visible } from "../base/visible";

const TALL = 16;
const WIDE = 28;
const MOST_KNOWN = 200;

export class Legend {
  readonly element = make("ul.legend", { "aria-label": "Legend" });
  /** Entries that were shown before: letters come and go as one zooms. */
  readonly #known = new Map<string, HTMLElement>();
  #shown = "";
  #tallest = 0;
  #room = "";

  /** Rebuilt only when something else is seen; as high as it ever was in this room: zooming moves nothing. */
  show(seen: Seen, palette: Palette, dpr: number, room: string): void {
    const key = [...seen].sort().concat(palette.name, String(dpr)).join("\n");
    if (key === this.#shown && room === this.#room) return;
    if (room !== this.#room) this.#tallest = 0;
    this.#room = room;
    if (key !== this.#shown) {
      const entries = legendEntries(seen);
      this.element.replaceChildren(...entries.map((each) => this.#entryOf(each, palette, dpr)));
    }
    this.#shown = key;
    this.element.style.minHeight = "";
    this.#tallest = max(this.#tallest, this.element.offsetHeight);
    this.element.style.minHeight = `${this.#tallest}px`;
  }

  #entryOf(each: Entry, palette: Palette, dpr: number): HTMLElement {
    const key = JSON.stringify([each, palette.name, dpr]);
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    return kept(this.#known, key, () => entryOf(each, palette, dpr));
  }
}

interface Entry {
  entry: string;
  words: string;
  /** How wide the sign is, where it is not a box. */
  wide?: number;
}

function entryOf(each: Entry, palette: Palette, dpr: number): HTMLElement {
  const wide = each.wide ?? WIDE;
  const canvas = make("canvas", { "aria-hidden": "true" });
  canvas.width = round(wide * dpr);
  canvas.height = round(TALL * dpr);
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${TALL}px`;
  const ctx = canvas.getContext("2d");
  if (ctx) {
    ctx.scale(dpr, dpr);
    paintSwatch(ctx, palette, each.entry, wide, TALL);
  }
  return make("li", canvas, make("span", visible(each.words)));
}

/** What the block "numbers:S" holds. */
export interface NumberWords {
  first: string;
  rest: string[];
}

export class Numbers {
  readonly element = make("p.numbers");
  /** Makes the element of a number, by its place; tools make them buttons. */
  one: (words: string, place: number) => Node | string = (words) => words;
  #words: NumberWords | null = null;
  #key = "";
  #wire: Wire | null = null;

  /** The numbers of a step ("" in a recording without steps); the old ones stand until the new have come. */
  about(wire: Wire, step: string): void {
    const key = `numbers:${step}`;
    if (key === this.#key && wire === this.#wire) return;
    this.#key = key;
    this.#wire = wire;
    const show = (words: NumberWords | null) => {
      if (key === this.#key && wire === this.#wire) this.#show(words);
    };
    wire.json<NumberWords>(key).then(show, () => show(null));
  }

  /** Once more, after `one` was set. */
  again(): void {
    this.#show(this.#words);
  }

  #show(words: NumberWords | null): void {
    this.#words = words;
    if (!words) return this.element.replaceChildren();
    const rest = words.rest.flatMap((each, i) => [i ? " \u00b7 " : "", this.one(visible(each), i + 1)]);
    this.element.replaceChildren(make("b", this.one(visible(words.first), 0)), make("span", ...rest));
  }
}
