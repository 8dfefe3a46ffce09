/** The past or the future of what is selected: all that must come before it, or after it; the rest steps back. */

import { button, listen, make } from "../base/dom";
import { max, min } from "../base/numbers";
import { cut } from "../base/visible";
import type { Data, Item } from "../timeline/data";
import { middle, rowOfLane } from "../timeline/layout";
import type { Row } from "../timeline/model";
import type { Scene } from "../timeline/scene";
import { nameOf } from "../timeline/words";
import { answer, sentenceOf } from "./answers";
import { coneOf, Order, type Cone, type OrderBlock, type Way } from "./cones";
import type { Paint } from "./layer";
import { runsOf, type Run } from "./runs";
import { counted, Panel, type Shared } from "./tool";

/** What is not in the cone steps back by this much. */
const DIM = 0.8;
/** So many rows a selection may have before it is slow to tell Python. */
const MOST_SELECTED = 2000;

interface Shown {
  item: Item;
  cone: Cone;
  runs: Run[];
  version: number;
}

const orders = new WeakMap<Scene, Promise<Order>>();

export class ConeTool {
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #ways = { past: this.#way("past"), future: this.#way("future") };
  readonly #hop = button("One hop", "Only direct causes or effects (H)", "One hop");
  readonly #paint = (paint: Paint) => this.#draw(paint);
  #of: Way = "past";
  #one = false;
  /** It was opened with nothing selected: what is selected next is shown. */
  #waits = false;
  #shown: Shown | null = null;
  #asked = 0;
  /** The selection that this tool has set: the cone stays what it is. */
  #own: unknown = null;

  constructor(private readonly shared: Shared) {
    const { view, signal } = shared;
    this.#panel = new Panel(shared, "Past and future", () => this.close());
    const select = button("Select these", "Select all in it, for Python", "Select these");
    this.#panel.head.append(this.#ways.past, this.#ways.future, this.#hop, this.#words, select);
    listen(this.#hop, "click", () => this.hop(), signal);
    listen(select, "click", () => this.#select(), signal);
    view.link.on("selection", () => {
      if (this.open && view.link.get("selection") !== this.#own) this.#follow();
    });
  }

  get open(): boolean {
    return this.#panel.open;
  }

  isShowing(way: Way): boolean {
    return this.open && this.#of === way;
  }

  /** Show one of them; the same once more closes it. */
  show(way: Way): void {
    if (this.isShowing(way)) return this.close();
    this.#of = way;
    this.#begin();
  }

  /** Show one of them; while nothing is selected, say so and wait. */
  stand(way: Way): void {
    if (this.isShowing(way)) return;
    this.#of = way;
    this.#waits = true;
    this.#open();
  }

  /** Direct causes or effects only, or all again. */
  hop(): void {
    this.#one = this.open ? !this.#one : true;
    this.#begin();
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.#shown = null;
    this.#one = this.#waits = false;
    this.shared.layer.remove(this.#paint);
  }

  painted(base: boolean): void {
    const { scene } = this.shared.view;
    const { data } = scene ?? {};
    if (base && this.#waits) this.#follow(); // what was selected may have come
    if (base && data && this.#shown && this.#shown.version !== data.version) {
      this.#shown.runs = runsOf(data, this.#shown.cone);
      this.#shown.version = data.version;
    }
  }

  #way(way: Way): HTMLButtonElement {
    const name = way === "past" ? "Past" : "Future";
    const made = button(name, `${name} (${way === "past" ? "P" : "N"})`, name);
    made.onclick = () => this.show(way);
    return made;
  }

  #begin(): void {
    const { view } = this.shared;
    if (view.items.primary) this.#open();
    else view.say("select something first");
  }

  #open(): void {
    this.#panel.show();
    this.shared.layer.add(this.#paint);
    this.#follow();
  }

  #follow(): void {
    for (const way of ["past", "future"] as const) {
      this.#ways[way].setAttribute("aria-pressed", String(this.#of === way));
    }
    this.#hop.setAttribute("aria-pressed", String(this.#one));
    const { items: { primary }, scene } = this.shared.view;
    if (!primary || !scene) {
      if (this.#waits) this.#words.textContent = `select something: its ${this.#of} is shown`;
      else this.close();
      return;
    }
    this.#waits = false;
    void this.#find(scene, primary);
  }

  async #find(scene: Scene, item: Item): Promise<void> {
    const { view, layer } = this.shared;
    const asked = ++this.#asked;
    const [way, hops] = [this.#of, this.#one ? 1 : Infinity];
    let words: string;
    try {
      const cone = await coneFor(scene, item, way, hops);
      if (asked !== this.#asked || !this.open) return;
      const { version } = scene.data;
      this.#shown = cone && { item, cone, runs: runsOf(scene.data, cone), version };
      words = cone ? this.#sentence(item, cone) : `${cut(nameOf(item), 60)} has no place in the order of causes`;
    } catch (error) {
      if (asked !== this.#asked) return;
      this.#shown = null;
      words = sentenceOf(error);
    }
    this.#words.textContent = words;
    view.live.say(words);
    layer.soon();
  }

  #sentence(item: Item, { events, spans }: Cone): string {
    const what = this.#one ? (this.#of === "past" ? "direct causes" : "direct effects") : this.#of;
    const many = `${counted(ones(events), "trace event")} and ${counted(ones(spans), "span")}`;
    return `${what} of ${cut(nameOf(item), 60)}: ${many}`;
  }

  #select(): void {
    const { view } = this.shared;
    if (!this.#shown) return;
    const { events, spans } = this.#shown.cone;
    const rows: Row[] = [];
    for (const [table, found] of [["events", events], ["spans", spans]] as const) {
      found.forEach((is, row) => is && rows.push([table, row]));
    }
    if (rows.length > MOST_SELECTED) return view.say(`more than ${counted(MOST_SELECTED, "row")}: too many to select`);
    this.#own = rows;
    view.link.set("selection", rows);
  }

  #draw({ ctx, palette, layout, left, right, x, height, view }: Paint): void {
    if (!this.#shown) return;
    const top = layout.rulerY + 10;
    ctx.fillStyle = palette.background;
    ctx.globalAlpha = DIM;
    ctx.fillRect(left - 5, top, right - left + 10, height - top);
    ctx.globalAlpha = 1;
    const { logical } = view.scene!;
    if (view.order === "logical") {
      const { axis, picture } = view;
      const inside = (column: number) => this.#shown!.cone.events[logical!.row[column]!] === 1;
      const [from, to] = [max(Math.floor(axis!.range[0]), 0), min(Math.ceil(axis!.range[1]), logical!.row.length)];
      for (let column = from; column < to; column++) {
        const own = this.#shown.item.table === "events" && this.#shown.item.row === logical!.row[column];
        if (!inside(column) && !own) continue;
        const [a, b] = [axis!.x(column), axis!.x(column + 1)];
        for (const lane of new Set([logical!.lane[column]!, logical!.thread[column]!])) {
          const row = rowOfLane(picture!.layout, lane);
          if (row) ctx.clearRect(a, row.top - 12, b - a, row.bottom - row.top + 24);
        }
      }
      return;
    }
    const clear = (lane: number, sub: number, start: number, end: number) => {
      const row = rowOfLane(layout, lane);
      const [a, b] = [max(x(start), left - 5), min(x(end), right + 5)];
      if (!row || b < left - 5 || a > right + 5) return;
      const y = middle(row, sub);
      const above = row.group === "threads" && row !== layout.rows[0] ? 19 : 7;
      const one = row.subs === 1;
      const [y0, y1] = [y - row.half - (one ? above : 1), y + row.half + (one ? 7 : 1)];
      ctx.clearRect(a - 1, y0, max(b - a, 1) + 2, y1 - y0);
    };
    for (const { lane, sub, start, end } of this.#shown.runs) clear(lane, sub, start, end);
    const { item } = this.#shown;
    clear(item.lane, item.kind === null ? item.sub : 0, item.start, item.end);
  }
}

const ones = (rows: Uint8Array): number => rows.reduce((sum, is) => sum + is, 0);

/** The cone of an item; a thread's bar has those of the trace events at its ends. Null where there is none. */
async function coneFor(scene: Scene, item: Item, way: Way, hops: number): Promise<Cone | null> {
  const rows = [[item.table, item.row] as Row, ...endsOf(scene.data, item, way)];
  if (!scene.index.answers) {
    const one = hops === 1 ? ":1" : "";
    for (const [table, row] of rows) {
      const found = await answer<{ events: number[]; spans: number[] }>(scene, `cone:${way}:${table}:${row}${one}`);
      if (found.events.length + found.spans.length) return coneOf(found, scene.index.rows);
    }
    return null;
  }
  if (!orders.has(scene)) orders.set(scene, answer<OrderBlock>(scene, "order").then((block) => new Order(block)));
  const order = await orders.get(scene)!;
  const node = rows.map(([table, row]) => order.node(table, row)).find((found) => found >= 0) ?? -1;
  return node < 0 ? null : order.cone(node, way, hops);
}

/** The trace event with which a thread's bar begins (for its past) or ends (for its future). */
function endsOf(data: Data, { lane, start, end, kind }: Item, way: Way): Row[] {
  const [track] = data.lane(lane, "events");
  if (!track || kind !== null) return [];
  const places = way === "past" ? [track.first(start), track.last(start, true)] : [track.last(end), track.first(end, true)];
  return places.flatMap((place) => (place ? [["events", place.chunk.row[place.i]!] as Row] : []));
}
