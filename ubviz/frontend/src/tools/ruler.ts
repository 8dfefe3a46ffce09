/** The ruler: an exact distance from edge to edge, what lies between, and why it is a gap. Drag, or M at two items. */

import { make } from "../base/dom";
import { duration } from "../base/format";
import { abs, max, min } from "../base/numbers";
import { cut } from "../base/visible";
import type { Item } from "../timeline/data";
import { rowOfLane } from "../timeline/layout";
import type { Scene } from "../timeline/scene";
import { follow } from "../timeline/fields";
import { nameOf, waitOf } from "../timeline/words";
import { gapsIn, sentenceOf, type Gap } from "./answers";
import type { DragUser, Point } from "./drag";
import type { Paint } from "./layer";
import { edgeNear, laneAt, timeAt, type Edge } from "./times";
import { counted, exact, Panel, type Shared, type Tool } from "./tool";

/** So near an edge, in pixels, it is meant. */
const REACH = 9;
/** More causes than these are counted, not listed. */
const MOST = 4;
const HINT = "Drag from edge to edge, or click into a gap. By keys: select, M, select another, M.";

export class Ruler implements Tool, DragUser {
  readonly name = "Ruler: measure a gap";
  readonly key = "m";
  readonly word = "ruler";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #causes = make("ul.causes-list");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  /** From where the next measure goes, by keys. */
  #anchor: Item | null = null;
  #drawn: [Edge, Edge] | null = null;
  #ends: [Edge, Edge] | null = null;
  #hovered: Edge | null = null;
  #asked = 0;

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, "Ruler", () => this.close());
    this.#panel.head.append(this.#words);
    this.#panel.body.append(this.#causes);
    shared.view.link.on("measure", () => shared.standing.quietly(() => this.#follow()));
    this.#follow();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  /** First the item from which is measured, then the one to which. */
  use(): void {
    const { view } = this.shared;
    const { primary } = view.items;
    this.stand();
    if (!primary) return view.live.say(`Ruler. ${HINT}`);
    if (this.#anchor && !isSame(this.#anchor, primary)) {
      const ends = between(this.#anchor, primary);
      this.#anchor = null;
      return this.#set(ends);
    }
    this.#anchor = primary;
    this.#ends = null;
    view.live.say(`measured from ${cut(nameOf(primary), 60)}: select another and press M`);
    this.#say();
  }

  close(): void {
    const { layer, view } = this.shared;
    this.#panel.hide(view.shell.stage);
    this.#anchor = this.#drawn = this.#ends = this.#hovered = null;
    view.link.set("measure", null);
    view.shell.root.dataset.ubvizMeasure = "null";
    view.shell.stage.classList.remove("ubviz-measuring");
    layer.remove(this.#paint);
  }

  // ---- with the pointer

  takes(event: PointerEvent): boolean {
    return this.open && this.shared.view.order === "wall" && !event.shiftKey && !event.ctrlKey && !event.metaKey;
  }

  hover(at: Point | null): void {
    if (!this.open || this.shared.view.order !== "wall") return;
    const edge = at && this.#edgeAt(at);
    this.#hovered = edge?.item ? edge : null;
    this.shared.layer.soon();
  }

  move(from: Point, to: Point): void {
    const ends = [this.#edgeAt(from), this.#edgeAt(to)];
    this.#drawn = ends[0] && ends[1] ? [ends[0], ends[1]] : null;
    this.shared.layer.soon();
  }

  end(from: Point, to: Point): void {
    this.move(from, to);
    const ends = this.#drawn;
    this.#drawn = this.#hovered = null;
    if (ends && ends[0].ns !== ends[1].ns) this.#set(ends);
    else this.shared.layer.soon();
  }

  /** A click into a gap measures all of it; one on a bar the bar. */
  click(at: Point): void {
    const { view } = this.shared;
    const [ns, lane] = [timeAt(view, at.x), laneAt(view, at.y)];
    const ends = ns !== null && lane !== null && view.scene ? stretchAt(view.scene, lane, ns) : null;
    if (ends) this.#set(ends);
    else view.say("there is nothing to measure from edge to edge");
  }

  #edgeAt({ x, y }: Point): Edge | null {
    const { view } = this.shared;
    const [ns, beside] = [timeAt(view, x), timeAt(view, x + REACH)];
    if (ns === null || beside === null) return null;
    const reach = abs(beside - ns);
    const edge = edgeNear(view, ns, laneAt(view, y), reach);
    return edge.item ? edge : edgeNear(view, ns, null, reach / 2);
  }

  // ---- what is shown

  #set(ends: [Edge, Edge]): void {
    this.#ends = ends[0].ns <= ends[1].ns ? ends : [ends[1], ends[0]];
    this.shared.view.link.set("measure", [this.#ends[0].ns, this.#ends[1].ns]);
    this.#follow();
  }

  stand(): void {
    this.#panel.show();
    this.shared.view.shell.stage.classList.add("ubviz-measuring");
    this.shared.layer.add(this.#paint);
    this.#say();
  }

  #follow(): void {
    const measured = soundMeasure(this.shared.view.link.get("measure"));
    this.shared.view.shell.root.dataset.ubvizMeasure = JSON.stringify(measured);
    if (!measured) {
      this.#ends = null;
      if (this.open) this.#say();
      return;
    }
    const [a, b] = measured;
    if (this.#ends?.[0].ns !== a || this.#ends[1].ns !== b) {
      this.#ends = [edgeNear(this.shared.view, a, null, 0), edgeNear(this.shared.view, b, null, 0)];
    }
    this.stand();
    void this.#explain(a, b);
  }

  #say(): void {
    const { scene } = this.shared.view;
    if (this.#ends && scene) {
      const [a, b] = this.#ends;
      const length = b.ns - a.ns;
      this.#words.replaceChildren(make("b", duration(length)), ` = ${exact(length)}, from ${edgeWords(a, scene)} to `
        + edgeWords(b, scene));
    } else {
      this.#words.textContent = this.#anchor ? `from ${cut(nameOf(this.#anchor), 60)}: select another and press M` : HINT;
      this.#causes.replaceChildren();
    }
    this.shared.layer.soon();
  }

  /** Why it is a gap: what streams were idle for in it, and what a thread waited for. */
  async #explain(a: number, b: number): Promise<void> {
    const { view } = this.shared;
    const { scene } = view;
    const asked = ++this.#asked;
    if (!scene || !this.#ends) return;
    const lanes = this.#ends.flatMap(({ item }) => item ?? []).map((item) => item.lane);
    this.#causes.replaceChildren();
    let sentences: string[];
    try {
      const gaps = await gapsIn(scene, a, b);
      sentences = [...waitsIn(scene, lanes, a, b), ...gapWords(gaps, lanes, a, b)];
    } catch (error) {
      sentences = [...waitsIn(scene, lanes, a, b), sentenceOf(error)];
    }
    if (asked !== this.#asked || !this.open) return;
    const shown = sentences.slice(0, MOST);
    if (sentences.length > MOST) shown.push(`and ${counted(sentences.length - MOST, "more")}`.replace("mores", "more"));
    this.#causes.replaceChildren(...shown.map((words) => make("li", { dir: "auto" }, cut(words, 300))));
    view.live.say(`${this.#words.textContent}. ${shown.join(". ")}`);
  }

  #draw({ ctx, palette, layout, left, right, x, height }: Paint): void {
    const top = layout.rulerY + 10;
    if (this.#hovered) {
      ctx.fillStyle = palette.focus;
      ctx.fillRect(x(this.#hovered.ns) - 0.5, top, 1, height - top);
    }
    const ends = this.#drawn ?? this.#ends;
    if (!ends) return;
    const [a, b] = [min(x(ends[0].ns), x(ends[1].ns)), max(x(ends[0].ns), x(ends[1].ns))];
    if (b < left || a > right) return;
    const row = ends.map(({ item }) => item && rowOfLane(layout, item.lane)).find((found) => found);
    const y = row ? row.y : top + 8;
    ctx.fillStyle = palette.focus;
    ctx.globalAlpha = 0.14;
    ctx.fillRect(a, top, max(b - a, 1), height - top);
    ctx.globalAlpha = 1;
    for (const at of [a, b]) ctx.fillRect(at - 0.5, top, 1, height - top);
    ctx.fillRect(a, y - 0.75, max(b - a, 1), 1.5);
    const words = duration(abs(ends[1].ns - ends[0].ns));
    ctx.font = "600 11px system-ui, sans-serif";
    const wide = ctx.measureText(words).width + 12;
    const middle = min(max((max(a, left) + min(b, right)) / 2, left + wide / 2), right - wide / 2);
    ctx.beginPath();
    ctx.roundRect(middle - wide / 2, y - 9, wide, 18, 9);
    ctx.fill();
    ctx.fillStyle = palette.on(palette.focus);
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(words, middle, y + 0.5);
  }
}

// ---- pure

const isSame = (a: Item, b: Item) => a.table === b.table && a.row === b.row && a.start === b.start;

/** What Python may set is looked at before it is used. */
export function soundMeasure(value: unknown): [number, number] | null {
  const [a, b] = Array.isArray(value) ? value : [];
  return Number.isFinite(a) && Number.isFinite(b) && b >= a ? [a, b] : null;
}

/** From the end of the earlier to the begin of the later; where they overlap, from begin to begin. */
export function between(a: Item, b: Item): [Edge, Edge] {
  const [first, second] = a.start <= b.start ? [a, b] : [b, a];
  const apart = first.end <= second.start;
  return [
    { ns: apart ? first.end : first.start, item: first, side: apart && first.end > first.start ? "end" : "begin" },
    { ns: second.start, item: second, side: "begin" },
  ];
}

/** The bar at a moment, or the gap between two bars, of a lane. */
export function stretchAt({ data }: Scene, lane: number, ns: number): [Edge, Edge] | null {
  const tracks = data.bars.filter((track) => track.spec.lane === lane && track.spec.layer === "main");
  let [before, after]: (Item | null)[] = [null, null];
  for (const track of tracks) {
    const last = track.last(ns);
    const next = track.first(ns, true);
    const found = last && data.itemAt(track, last);
    const following = next && data.itemAt(track, next);
    if (found && found.end > ns) {
      return [{ ns: found.start, item: found, side: "begin" }, { ns: found.end, item: found, side: "end" }];
    }
    if (found && (!before || found.end > before.end)) before = found;
    if (following && (!after || following.start < after.start)) after = following;
  }
  if (!before || !after) return null;
  return [{ ns: before.end, item: before, side: "end" }, { ns: after.start, item: after, side: "begin" }];
}

function edgeWords({ ns, item, side }: Edge, { index }: Scene): string {
  if (!item) return `${duration(ns - index.origin_ns)} on the ruler`;
  const lane = cut(index.lanes[item.lane]?.name ?? "", 40);
  const name = cut(nameOf(item), 60);
  return item.kind !== null ? `${name} on ${lane}` : `the ${side} of ${name} on ${lane}`;
}

/** The causes of idle stretches: those of the lanes that were measured, else of all; what covers most first. */
export function gapWords(gaps: readonly Gap[], lanes: readonly number[], a: number, b: number): string[] {
  const own = gaps.filter(([lane]) => lanes.includes(lane));
  const covered = ([, start, end]: Gap) => min(end, b) - max(start, a);
  return (own.length ? own : gaps).slice().sort((x, y) => covered(y) - covered(x)).map(([, , , , sentence]) => sentence);
}

/** What threads waited for in a stretch. */
function waitsIn({ data, index }: Scene, lanes: readonly number[], a: number, b: number): string[] {
  const found: string[] = [];
  for (const track of data.bars) {
    const { lane, layer } = track.spec;
    if (!lanes.includes(lane) || layer !== "main" || index.lanes[lane]?.group !== "threads") continue;
    const place = track.last((a + b) / 2);
    const item = place && data.itemAt(track, place);
    if (!item || item.end <= a || waitOf(item) === null) continue;
    const cause = follow("causes", data.flowsOfBar(item).causes);
    const what = cause && data.item(cause.row);
    const until = what ? `, until ${nameOf(what)} on ${index.lanes[what.lane]?.name ?? ""}` : "";
    found.push(`${index.lanes[lane]!.name} ${nameOf(item)}${until}`);
  }
  return [...new Set(found)];
}
