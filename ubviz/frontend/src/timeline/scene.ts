/** One recording as it has come to this page: its index, its way to the kernel, its columns, its lanes. */

import { Data } from "./data";
import { kept } from "../base/kept";
import { layoutOf, type Arranged, type Layout } from "./layout";
import type { Measure } from "../base/text";
import type { Facts, Index, Logical, Model, Order } from "./model";
import { open, type Wire } from "../base/wire";

export class Scene {
  logical: Logical | null = null;
  #asked: Promise<void> | null = null;
  #arranged: Arranged | undefined;
  readonly #layouts = new Map<Order, Layout>();

  constructor(readonly index: Index, readonly wire: Wire, readonly data: Data, readonly measure: Measure) {}

  layout(order: Order): Layout {
    return kept(this.#layouts, order, () => layoutOf(this.index, order, this.measure, this.#arranged));
  }

  /** Pin and hide lanes. */
  arrange(arranged: Arranged): void {
    this.#arranged = arranged;
    this.#layouts.clear();
  }

  /** Fetch the block of logical order, once. */
  loadLogical(): Promise<void> {
    return (this.#asked ??= this.wire.json<Logical>("logical").then((logical) => {
      this.logical = logical;
    }));
  }

  /** Whether there is anything on any lane. */
  get empty(): boolean {
    return this.index.tracks.every((track) => track.parts.every((part) => part.rows === 0));
  }
}

/** The scene of a head; null where the view ended meanwhile. */
export async function load(head: DataView, model: Model, signal: AbortSignal): Promise<Scene | null> {
  const { index, wire } = await open<Index>(head);
  if (signal.aborted) return null;
  wire.join(model, signal);
  const facts = await wire.json<Facts>("facts");
  return signal.aborted ? null : new Scene(index, wire, new Data(index, facts), measurer());
}

/** How wide a text is, on a canvas that is never seen. */
export function measurer(): Measure {
  const ctx = document.createElement("canvas").getContext("2d");
  return (text, font) => {
    if (!ctx) return text.length * 8;
    ctx.font = font;
    return ctx.measureText(text).width;
  };
}
