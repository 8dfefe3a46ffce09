/** Error bands: where clocks were aligned, each edge of a bar is known so exactly and no more. */

import { make } from "../base/dom";
import { duration } from "../base/format";
import { max, min } from "../base/numbers";
import { cut } from "../base/visible";
import { lower } from "../timeline/columns";
import { middle, rowOfLane } from "../timeline/layout";
import type { Paint } from "./layer";
import { exact, Panel, type Shared, type Tool } from "./tool";

/** A narrower band is not seen. */
const LEAST = 1.5;
/** Edges nearer to one another than this share one band. */
const APART = 1;

export class Bands implements Tool {
  readonly name = "Error bands of clocks";
  readonly key = "u";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #paint = (paint: Paint) => this.#draw(paint);

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, "Error bands", () => this.close());
    this.#panel.head.append(this.#words);
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    const { view, layer } = this.shared;
    if (this.open) return this.close();
    const { bands = [], lanes = [] } = view.scene?.index ?? {};
    if (!bands.length) return view.say("no clock was aligned in this recording");
    const words = bands.map((band) => {
      const names = band.lanes.map((lane) => lanes[lane]!.name).join(", ");
      return `± ${duration(band.error_ns)} (${exact(band.error_ns)}) on ${cut(names, 120)}: ${cut(band.words, 160)}`;
    });
    this.#words.textContent = words.join("; ");
    view.live.say(`error bands: ${words.join("; ")}`);
    this.#panel.show();
    layer.add(this.#paint);
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
  }

  #draw({ ctx, palette, layout, left, right, from, to, x, view }: Paint): void {
    const { data, index } = view.scene!;
    if (view.order !== "wall") return;
    ctx.fillStyle = palette.fails;
    ctx.globalAlpha = 0.28;
    for (const { lanes, error_ns: error } of index.bands) {
      const half = x(from + error) - x(from);
      if (half < LEAST) continue;
      for (const track of data.bars) {
        const row = rowOfLane(layout, track.spec.lane);
        if (!row || track.spec.layer !== "main" || !lanes.includes(track.spec.lane)) continue;
        const y = middle(row, track.spec.sub);
        for (const chunk of track.within(from - error, to + error)) {
          let reach = -Infinity;
          const first = lower(chunk.end, from - error, 0, chunk.rows); // bars of a track follow one another
          for (let i = first; i < chunk.rows && chunk.start[i]! <= to + error; i++) {
            for (const edge of [x(chunk.start[i]!), x(chunk.end[i]!)]) {
              if (edge - reach < APART) continue;
              const [a, b] = [max(edge - half, reach + half, left - 5), min(edge + half, right + 5)];
              if (b > a) ctx.fillRect(a, y - row.half, b - a, 2 * row.half);
              reach = edge;
            }
          }
        }
      }
    }
    ctx.globalAlpha = 1;
  }
}
