/** The area: a stretch of time on some lanes, and what lies in it by name. Shift and drag, or R round the selection. */

import { make } from "../base/dom";
import { duration } from "../base/format";
import { abs, max, min } from "../base/numbers";
import { cut } from "../base/visible";
import { timeAt } from "./times";
import type { DragUser, Point } from "./drag";
import type { Paint } from "./layer";
import { sumsOf, type Sum } from "./sums";
import { counted, exact, Panel, type Shared, type Tool } from "./tool";

/** More names than these are counted, not listed. */
const MOST_LISTED = 200;

/** As the model has it: from, to, and the numbers of lanes (none: all). */
export type Area = [from: number, to: number, lanes: number[]];

export class AreaTool implements Tool, DragUser {
  readonly name = "Area: count, sum, mean";
  readonly key = "r";
  readonly word = "area";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  #drawn: Area | null = null;
  #known = "";
  #own = false;

  constructor(private readonly shared: Shared) {
    this.#panel = new Panel(shared, "Area", () => this.close());
    this.#panel.head.append(this.#words);
    shared.view.link.on("area", () => this.#own || shared.standing.quietly(() => this.#follow()));
    this.#follow();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  get area(): Area | null {
    return soundArea(this.shared.view.link.get("area"));
  }

  /** Round the selection, else what is seen; once more closes it. */
  use(): void {
    const { view } = this.shared;
    const { selected } = view.items;
    const [from, to] = selected.length
      ? [min(...selected.map((item) => item.start)), max(...selected.map((item) => item.end))] : view.range;
    if (to <= from) return view.say("a moment is no area: select something that lasts, or nothing");
    const area = this.area;
    if (area && area[0] === from && area[1] === to) return this.close();
    this.#set([from, to, []]);
  }

  /** So that it reaches the selection too. */
  widen(): void {
    const { area, shared: { view } } = this;
    const { primary } = view.items;
    if (!area || !primary) return this.use();
    this.#set([min(area[0], primary.start), max(area[1], primary.end), area[2]]);
  }

  close(): void {
    this.shared.view.link.set("area", null);
    this.#follow();
  }

  painted(base: boolean): void {
    if (base) this.#show();
  }

  // ---- with the pointer

  takes(event: PointerEvent): boolean {
    return event.shiftKey && !event.ctrlKey && !event.metaKey;
  }

  click({ x, y }: Point): void {
    this.shared.view.gestures.click(x, y, true);
  }

  move(from: Point, to: Point): void {
    this.#drawn = this.#between(from, to);
    this.shared.layer.add(this.#paint);
    this.shared.layer.soon();
  }

  end(from: Point, to: Point): void {
    const area = this.#between(from, to);
    this.#drawn = null;
    if (area) this.#set(area);
    this.#follow();
  }

  /** The lanes that the pointer has passed; from the ruler, or where it passed all, all of them. */
  #between(from: Point, to: Point): Area | null {
    const { view } = this.shared;
    const [a, b] = [timeAt(view, from.x), timeAt(view, to.x)];
    if (a === null || b === null || a === b || !view.picture || !view.scene) return null;
    const { rows } = view.picture.layout;
    const [top, bottom] = [min(from.y, to.y), max(from.y, to.y)];
    const passed = rows.filter((row) => row.bottom >= top && row.top <= bottom);
    const all = passed.length === rows.length || passed.length === 0;
    const ids = passed.map((row) => view.scene!.index.lanes[row.lane]!.id);
    return [min(a, b), max(a, b), all ? [] : ids];
  }

  // ---- what is shown

  #set(area: Area): void {
    this.#own = true;
    this.shared.view.link.set("area", area);
    this.#own = false;
    this.#follow();
  }

  #follow(): void {
    const { layer, view } = this.shared;
    view.shell.root.dataset.ubvizArea = JSON.stringify(this.area);
    if (this.area) {
      this.#panel.show();
      layer.add(this.#paint);
      this.#show(true);
    } else {
      this.#panel.hide(view.shell.stage);
      layer.remove(this.#paint);
    }
    layer.soon();
  }

  #isIn(area: Area): (lane: number) => boolean {
    const { lanes } = this.shared.view.scene!.index;
    const chosen = new Set(area[2]);
    return (lane) => chosen.size === 0 || chosen.has(lanes[lane]!.id);
  }

  #show(said = false): void {
    const { area, shared: { view } } = this;
    const { scene } = view;
    if (!area || !scene) return;
    const key = JSON.stringify([area, scene.data.version]);
    if (key === this.#known) return;
    this.#known = key;
    const [from, to] = area;
    const is = this.#isIn(area);
    const sums = sumsOf(scene.data, from, to, is);
    const count = sums.reduce((sum, each) => sum + each.count, 0);
    const lanes = scene.index.lanes.filter((_, lane) => is(lane)).length;
    const words = `${duration(to - from)} (${exact(to - from)}) on ${counted(lanes, "lane")}: `
      + `${counted(count, "span")} that ${count === 1 ? "touches" : "touch"} it`;
    this.#words.textContent = words;
    this.#panel.body.replaceChildren(...(sums.length ? [tableOf(sums)] : []));
    if (said) view.live.say(`area of ${words}`);
  }

  #draw({ ctx, palette, layout, left, right, x, view }: Paint): void {
    const area = this.#drawn ?? this.area;
    if (!area || !view.scene) return;
    const [a, b] = [max(x(area[0]), left - 4), min(x(area[1]), right + 4)];
    if (b < a) return;
    const is = this.#isIn(area);
    ctx.fillStyle = palette.focus;
    ctx.globalAlpha = 0.16;
    for (const row of layout.rows) {
      if (is(row.lane)) ctx.fillRect(a, row.top - 4, max(b - a, 1), row.bottom - row.top + 8);
    }
    ctx.globalAlpha = 1;
    const top = layout.rulerY + 10;
    const bottom = (layout.rows[layout.rows.length - 1]?.bottom ?? top) + 6;
    for (const edge of [x(area[0]), x(area[1])]) ctx.fillRect(edge - 0.5, top, 1, bottom - top);
  }
}

/** What Python may set is looked at before it is used. */
export function soundArea(value: unknown): Area | null {
  const [from, to, lanes] = Array.isArray(value) ? value : [];
  if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) return null;
  return [from, to, Array.isArray(lanes) ? lanes.filter(Number.isInteger) : []];
}

const HEADS = ["count", "sum", "inside", "mean", "min", "max"];

function tableOf(sums: readonly Sum[]): HTMLElement {
  const head = make("tr", make("th", { scope: "col" }, "name"), ...HEADS.map((word) => make("th", { scope: "col" }, word)));
  const rows = sums.slice(0, MOST_LISTED).map((each) => {
    const name = make("th", { scope: "row", dir: "auto", title: each.sort }, cut(each.name, 60), make("small", each.sort));
    const times = [each.sum, each.inside, each.sum / each.count, each.min, each.max];
    return make("tr", name, make("td", each.count.toLocaleString("en-US")),
      ...times.map((ns) => make("td", { title: exact(ns) }, duration(abs(ns)))));
  });
  const table = make("table", make("thead", head), make("tbody", ...rows));
  const scroll = make("div.table", { tabindex: "0", role: "group", "aria-label": "What lies in the area" }, table);
  const more = sums.length - rows.length;
  if (more > 0) scroll.append(make("p.soft", `and ${counted(more, "name")} more`));
  return scroll;
}
