/** What colours, patterns and letters mean: only of what is in the picture. */

import { make } from "../base/dom";
import { dashes } from "../base/patterns";
import { density, sized } from "../base/surface";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import { paintBlock, type Block } from "./picture";
import type { Section } from "./rows";

const [WIDE, HIGH] = [24, 13];

interface Item {
  words: string;
  block?: Omit<Block, "x0" | "x1" | "label">;
  waiting?: boolean;
}

export class Legend {
  readonly element = make("div.lab-legend", { "aria-hidden": "true" });
  #key = "";

  show(sections: readonly Section[], shortened: ReadonlyMap<string, string>, palette: Palette): void {
    const items = itemsOf(sections);
    const letters = [...shortened].sort(([a], [b]) => (a < b ? -1 : 1)).map(([short, name]) => `${short} ${cut(name, 24)}`);
    const key = JSON.stringify([items, letters, palette.name, globalThis.devicePixelRatio]);
    if (key === this.#key) return;
    this.#key = key;
    this.element.replaceChildren(...items.map((item) => make("span.lab-key", swatch(item, palette), item.words)));
    if (letters.length > 0) this.element.append(make("span.lab-key", letters.join(" · ")));
  }
}

function itemsOf(sections: readonly Section[]): Item[] {
  const bars = sections.flatMap(({ plan }) => plan.works.map(([cls, , category]) => (category === "transfer" ? "transfer" : cls)));
  const ubatches = [...new Set(sections.flatMap(({ plan }) => [...plan.bars.ubatch]))].sort((a, b) => a - b);
  const items: Item[] = ubatches.map((ubatch) => ({
    words: ubatch < 0 ? "whole batch" : `microbatch ${ubatch}`, block: { kind: "compute", ubatch },
  }));
  const has = (kind: string) => bars.includes(kind);
  if (has("comm")) items.push({ words: "communication", block: { kind: "comm", ubatch: -1 } });
  if (has("transfer")) items.push({ words: "in flight", block: { kind: "transfer", ubatch: -1 } });
  if (has("copy")) items.push({ words: "copy", block: { kind: "copy", ubatch: -1 } });
  if (sections.some(({ threads }) => threads)) items.push({ words: "a thread waits", waiting: true });
  return items;
}

function swatch({ block, waiting }: Item, palette: Palette): HTMLCanvasElement {
  const canvas = make("canvas");
  const dpr = density(WIDE, HIGH);
  sized(canvas, WIDE, HIGH, dpr);
  const ctx = canvas.getContext("2d")!;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  if (block) paintBlock({ ctx, palette, dpr }, { ...block, x0: 0, x1: WIDE, label: "" }, 0.5, HIGH - 0.5);
  if (waiting) {
    ctx.fillStyle = dashes(ctx, palette.waiting, dpr);
    ctx.fillRect(0, Math.floor(HIGH / 2), WIDE, 1);
  }
  return canvas;
}
