/** What colours and patterns mean: only of what is in the picture. */

import { make } from "../base/dom";
import { dashes, dots, hatch } from "../base/patterns";
import { rectangle } from "../base/shapes";
import { density, sized } from "../base/surface";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import type { Data } from "./data";
import { alone } from "./hatch";

const [WIDE, HIGH] = [24, 13];

interface Item {
  words: string;
  kind: string;
  ubatch: number;
}

export class Legend {
  readonly element = make("div.compare-legend", { "aria-hidden": "true" });
  #key = "";

  show(data: Data, shortened: ReadonlyMap<string, string>, palette: Palette): void {
    const items = itemsOf(data);
    const letters = [...shortened].sort(([a], [b]) => (a < b ? -1 : 1)).map(([short, name]) => `${cut(short, 8)} ${cut(name, 24)}`);
    const key = JSON.stringify([items, letters, palette.name, globalThis.devicePixelRatio]);
    if (key === this.#key) return;
    this.#key = key;
    this.element.replaceChildren(...items.map((item) => make("span.compare-key", swatch(item, palette), item.words)));
    if (letters.length > 0) this.element.append(make("span.compare-key", letters.slice(0, 24).join(" \u00b7 ")));
  }
}

function itemsOf(data: Data): Item[] {
  const ubatches = new Set<number>();
  const styles = new Set<string>();
  for (const { tracks, thread } of data.sides.flat()) {
    for (const { blocks } of tracks) {
      for (const { ubatch, style } of blocks) {
        ubatches.add(ubatch);
        styles.add(style);
      }
    }
    if (thread) styles.add("waiting");
  }
  const items: Item[] = [...ubatches].sort((a, b) => a - b).map((ubatch) => ({
    words: ubatch < 0 ? "no microbatch" : `microbatch ${ubatch}`, kind: "compute", ubatch,
  }));
  const add = (words: string, kind: string) => items.push({ words, kind, ubatch: -1 });
  if (styles.has("comm")) add("communication", "comm");
  if (styles.has("transfer")) add("in flight", "transfer");
  if (styles.has("copy") || styles.has("other")) add("copy or other", "copy");
  if (data.operations.some(({ parts }) => parts.includes(null))) add("only in one of them", "alone");
  if (styles.has("waiting")) add("a thread waits", "waiting");
  return items;
}

function swatch({ kind, ubatch }: Item, palette: Palette): HTMLCanvasElement {
  const canvas = make("canvas");
  const dpr = density(WIDE, HIGH);
  sized(canvas, WIDE, HIGH, dpr);
  const ctx = canvas.getContext("2d")!;
  ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
  const colour = palette.ubatch(ubatch);
  if (kind === "waiting") {
    ctx.fillStyle = dashes(ctx, palette.waiting, dpr);
    ctx.fillRect(0, Math.floor(HIGH / 2), WIDE, 1);
    return canvas;
  }
  const fill = (style: string | CanvasPattern) => {
    ctx.beginPath();
    rectangle(ctx, 0.6, 0.6, WIDE - 0.6, HIGH - 0.6, 2.6);
    ctx.fillStyle = style;
    ctx.fill();
  };
  fill(kind === "transfer" ? palette.background : kind === "copy" || kind === "alone" ? palette.tint(colour, 0.18) : colour);
  if (kind === "comm") fill(hatch(ctx, palette.hatch, dpr));
  if (kind === "transfer") fill(dots(ctx, colour, dpr));
  if (kind === "alone") fill(alone(ctx, colour, dpr));
  if (kind !== "compute" && kind !== "comm") {
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.2;
    ctx.stroke();
  }
  return canvas;
}
