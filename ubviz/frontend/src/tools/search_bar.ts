/** The search: a field, how many were found, previous and next; what is found is underlined in the picture. */

import { button, icon, listen, make } from "../base/dom";
import { ceil, floor, max, min } from "../base/numbers";
import type { Item } from "../timeline/data";
import { middle, rowOfLane, type Layout } from "../timeline/layout";
import type { Paint } from "./layer";
import { Matches } from "./matches";
import { counted, goTo, Panel, type Shared, type Tool } from "./tool";

const UP = "M4 9.5 8 5.5l4 4";
const DOWN = "M4 6.5l4 4 4-4";
/** While one writes the search waits so long. */
const SETTLED_MS = 120;
const THICK = 3;
/** Lines nearer to one another than this are one. */
const APART = 3;

export class Search implements Tool {
  readonly name = "Search";
  readonly key = "/";
  readonly word = "search";
  readonly #panel: Panel;
  readonly #field = make("input", { type: "search", "aria-label": "Search", placeholder: "name, lane, microbatch …",
    autocomplete: "off", spellcheck: "false", maxlength: "200" });
  readonly #count = make("span.soft");
  readonly #paint = (paint: Paint) => this.#underline(paint);
  #matches: Matches | null = null;
  #version = -1;
  #timer = 0;

  constructor(private readonly shared: Shared) {
    const { view, signal } = shared;
    this.#panel = new Panel(shared, this.name, () => this.close());
    const previous = button("Previous match", "Previous match (,)", icon(UP));
    const next = button("Next match", "Next match (.)", icon(DOWN));
    this.#panel.head.append(this.#field, previous, next, this.#count);
    listen(previous, "click", () => this.step(-1), signal);
    listen(next, "click", () => this.step(1), signal);
    listen(this.#field, "input", () => this.#soon(), signal);
    listen(this.#field, "keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.#now();
      this.step(event.shiftKey ? -1 : 1);
    }, signal);
    view.link.on("query", () => shared.standing.quietly(() => this.#follow()));
    view.link.on("selection", () => this.#say());
    this.#follow();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    this.stand();
    this.#field.focus({ preventScroll: true });
    this.#field.select();
  }

  stand(): void {
    this.#panel.show();
    this.shared.layer.add(this.#paint);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#panel.hide(this.shared.view.shell.stage);
    this.shared.layer.remove(this.#paint);
    this.shared.view.link.set("query", "");
  }

  /** More of the recording has come. */
  painted(base: boolean): void {
    if (base && this.#matches && this.#version !== this.shared.view.scene?.data.version) this.#search();
  }

  /** To the next match, from what is selected or from what is seen. */
  step(direction: -1 | 1): void {
    const { view } = this.shared;
    if (!this.open) return this.use();
    const [a, b] = view.range;
    const item = this.#matches?.next(view.items.primary ?? (direction > 0 ? a : b), direction) ?? null;
    if (item) goTo(view, item);
    else view.say(this.#field.value.trim() ? "nothing found" : "write what to search for");
    this.#say(item);
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#now(), SETTLED_MS);
  }

  #now(): void {
    clearTimeout(this.#timer);
    this.shared.view.link.set("query", this.#field.value);
    if (this.#matches?.words.join(" ") !== this.#field.value.trim().toLowerCase()) this.#search();
  }

  /** Python, or another view of this model, has set what is searched for. */
  #follow(): void {
    const query = String(this.shared.view.link.get("query") ?? "");
    if (document.activeElement !== this.#field) this.#field.value = query;
    if (query && !this.open) this.stand();
    if (this.open) this.#search();
  }

  #search(): void {
    const { scene, live } = this.shared.view;
    this.#matches = scene && new Matches(scene.data, this.#field.value);
    this.#version = scene?.data.version ?? -1;
    this.#say();
    if (this.#matches?.words.length) live.say(`${counted(this.#matches.count, "match", "matches")}`);
    this.shared.layer.soon();
  }

  #say(item: Item | null = this.shared.view.items.primary): void {
    const { words = [], count = 0 } = this.#matches ?? {};
    const place = item && this.#matches ? this.#matches.placeOf(item) : -1;
    this.#count.textContent = !words.length ? "" : count === 0 ? "nothing found"
      : place >= 0 ? `${(place + 1).toLocaleString("en-US")} of ${count.toLocaleString("en-US")}`
      : counted(count, "match", "matches");
  }

  /** A line under each that was found; where they are many one for all that touch. */
  #underline({ ctx, layout, palette, left, right, x, from, to, view }: Paint): void {
    ctx.fillStyle = palette.focus;
    if (view.order === "logical") return this.#underColumns(ctx, layout);
    const pixel = (to - from) / max(x(to) - x(from), 1);
    const timeOf = (at: number) => from + (at - x(from)) * pixel;
    for (const { track, chunk, at } of this.#matches?.found ?? []) {
      const row = rowOfLane(layout, track.spec.lane);
      if (!row) continue;
      const y = track.spec.layer === "main" ? middle(row, track.spec.sub) + row.half : row.bottom;
      const end = "end" in chunk ? chunk.end : chunk.start;
      let [begin, reach] = [-Infinity, -Infinity];
      for (let n = firstIn(chunk.start, at, from, end); n < at.length; n++) {
        const i = at[n]!;
        if (chunk.start[i]! > to) break;
        const [a, b] = [max(x(chunk.start[i]!), left), min(x(end[i]!), right)];
        if (a > reach + APART) {
          if (reach > begin) ctx.fillRect(begin, y + 1, reach - begin, THICK);
          begin = a;
        }
        reach = max(reach, b, a + THICK);
        // what lies under the line is passed over at once
        n = nextFrom(chunk.start, at, timeOf(reach), end, n + 1) - 1;
      }
      if (reach > begin) ctx.fillRect(begin, y + 1, reach - begin, THICK);
    }
  }

  /** In order a trace event that was found has its column. */
  #underColumns(ctx: CanvasRenderingContext2D, layout: Layout): void {
    const { axis, scene } = this.shared.view;
    const { logical } = scene ?? {};
    if (!axis || !logical) return;
    const [from, to] = [max(floor(axis.range[0]), 0), min(ceil(axis.range[1]), logical.row.length)];
    const seen = new Map(logical.row.slice(from, to).map((row, i) => [row, from + i]));
    for (const { track, chunk, at } of this.#matches?.found ?? []) {
      for (let n = 0; track.spec.layer === "events" && n < at.length; n++) {
        const column = seen.get(chunk.row[at[n]!]!);
        const row = column === undefined ? null : rowOfLane(layout, logical.lane[column]!);
        if (row) ctx.fillRect(axis.x(column! + 0.1), row.bottom + 1, axis.x(column! + 0.9) - axis.x(column! + 0.1), THICK);
      }
    }
  }
}

/** The same as `firstIn`, not before `least`: most often it is near, so that it is looked for in growing steps. */
function nextFrom(start: Float64Array, at: Uint32Array, from: number, end: Float64Array, least: number): number {
  let [low, by] = [least, 1];
  while (low + by < at.length && max(start[at[low + by]!]!, end[at[low + by]!]!) < from) {
    low += by;
    by *= 2;
  }
  return firstIn(start, at, from, end, low, min(low + by, at.length));
}

/** The first of some rows that may still be seen: bars of a track follow one another. */
function firstIn(
  start: Float64Array, at: Uint32Array, from: number, end: Float64Array, least = 0, most = at.length,
): number {
  let [low, high] = [least, most];
  while (low < high) {
    const half = (low + high) >> 1;
    if (max(start[at[half]!]!, end[at[half]!]!) < from) low = half + 1;
    else high = half;
  }
  return low;
}
