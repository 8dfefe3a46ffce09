/** The edges that a capture saw, laid over its replays, in which no Python runs: what released what, kernel to kernel. */

import { make } from "../base/dom";
import { cut } from "../base/visible";
import { middle, rowOfLane } from "../timeline/layout";
import type { Scene } from "../timeline/scene";
import { answer, sentenceOf } from "./answers";
import type { Paint } from "./layer";
import { counted, Panel, type Shared, type Tool } from "./tool";

type GraphEdge = [from: number, to: number, kind: string];

interface Arrow {
  from: { lane: number; sub: number; ns: number };
  to: { lane: number; sub: number; ns: number };
  kind: string;
}

/** More arrows at once than these would be a field of grey. */
const MOST = 300;
const HEAD = 6;

export class GraphEdges implements Tool {
  readonly name = "Edges seen at capture";
  readonly key = "e";
  readonly word = "edges";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  #edges: GraphEdge[] | null = null;
  #arrows: Arrow[] = [];
  #version = -1;

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, "Edges", () => this.close());
    this.#panel.head.append(this.#words);
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    const { view, layer } = this.shared;
    if (this.open) return this.close();
    if (!view.scene?.index.graphs) return view.say("no capture of a graph is in this recording");
    this.#panel.show();
    layer.add(this.#paint);
    void this.#find(view.scene);
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
  }

  painted(base: boolean): void {
    const { scene } = this.shared.view;
    if (base && scene && this.#edges && this.#version !== scene.data.version) this.#place(scene);
  }

  async #find(scene: Scene): Promise<void> {
    try {
      this.#edges = await answer<GraphEdge[]>(scene, "graphs");
      this.#place(scene);
      this.#words.textContent = this.#edges.length
        ? `${counted(this.#edges.length, "edge")} that captures saw, over their replays: ${kindsOf(this.#edges)}`
        : "no replay of a captured graph is in this recording";
    } catch (error) {
      this.#words.textContent = sentenceOf(error);
    }
    this.shared.view.live.say(this.#words.textContent ?? "");
    this.shared.layer.soon();
  }

  /** Where the kernels of the edges are. */
  #place({ data }: Scene): void {
    this.#version = data.version;
    const wanted = new Set((this.#edges ?? []).flatMap(([from, to]) => [from, to]));
    const places = new Map<number, { lane: number; sub: number; start: number; end: number }>();
    for (const { spec, chunks } of data.bars) {
      if (spec.layer !== "main" || data.index.lanes[spec.lane]?.group === "threads") continue;
      for (const chunk of chunks) {
        for (let i = 0; chunk && i < chunk.rows; i++) {
          if (!wanted.has(chunk.row[i]!)) continue;
          places.set(chunk.row[i]!, { lane: spec.lane, sub: spec.sub, start: chunk.start[i]!, end: chunk.end[i]! });
        }
      }
    }
    this.#arrows = (this.#edges ?? []).flatMap(([from, to, kind]) => {
      const [a, b] = [places.get(from), places.get(to)];
      return a && b ? [{ from: { ...a, ns: a.end }, to: { ...b, ns: b.start }, kind }] : [];
    });
  }

  #draw({ ctx, palette, layout, from, to, x, view }: Paint): void {
    if (view.order !== "wall") return;
    const seen = this.#arrows.filter((arrow) => arrow.to.ns >= from && arrow.from.ns <= to).slice(0, MOST);
    ctx.lineWidth = 1.4;
    ctx.strokeStyle = ctx.fillStyle = palette.ink;
    for (const { from: a, to: b, kind } of seen) {
      const [r, s] = [rowOfLane(layout, a.lane), rowOfLane(layout, b.lane)];
      if (!r || !s) continue;
      const [ya, yb] = [middle(r, a.sub), middle(s, b.sub)];
      const down = yb > ya;
      const same = ya === yb;
      const y0 = same ? ya - r.half : ya + (down ? r.half : -r.half);
      const y1 = same ? y0 : yb + (down ? -s.half : s.half);
      const [x0, x1] = [x(a.ns), x(b.ns)];
      const bend = same ? y0 - 16 : (y0 + y1) / 2;
      ctx.setLineDash(kind === "record -> wait" ? [] : kind === "set -> wake" ? [5, 3] : [1.5, 2.5]);
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(x0, bend, x1, bend, x1, y1);
      ctx.stroke();
      ctx.setLineDash([]);
      const back = same || down ? -HEAD : HEAD;
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x1 - HEAD / 2, y1 + back);
      ctx.lineTo(x1 + HEAD / 2, y1 + back);
      ctx.fill();
    }
  }
}

/** "record -> wait 4 (plain), set -> wake 6 (dashed)". */
function kindsOf(edges: readonly GraphEdge[]): string {
  const counts = new Map<string, number>();
  for (const [, , kind] of edges) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const line = new Map([["record -> wait", "plain"], ["set -> wake", "dashed"]]);
  return [...counts].map(([kind, many]) => `${cut(kind, 40)} ${many} (${line.get(kind) ?? "dotted"})`).join(", ");
}

