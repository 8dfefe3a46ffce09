/**
 * The view: the model's state in, one picture out.
 *
 * Every change only asks for a redraw; the next frame draws. The base canvas is drawn when range, size,
 * theme, order or data change, the canvas in front of it also for hover, selection and cursor.
 */

import { choose, perform } from "./actions";
import { toolsFor, type Tools } from "./added";
import { whole, type Axis } from "./axis";
import type { Item } from "./data";
import { Details } from "./detail";
import { atEnd, listen } from "../base/dom";
import type { Picture } from "./draw";
import { gesturesOf } from "./gestures";
import { listenToKeys } from "./keyboard";
import { Legend, Numbers } from "./legend";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { Trouble } from "../base/trouble";
import { arrangedBy, type Layout } from "./layout";
import type { Model, Order, Row, State } from "./model";
import { Painter } from "./painter";
import { listenToPointer } from "./pointer";
import { sound, stepAt, type Range } from "../base/range";
import { load, type Scene } from "./scene";
import { columnWords, rangeWords } from "./moves";
import { Items, rowOf, sameRow, soundRows } from "./selection";
import { named, shellOf, type Shell } from "./shell";
import { coloured, watchSize } from "../base/surface";
import { paletteOf, watchTheme, type Palette } from "../base/theme";
import { Tip } from "./tip";
import { Toolbar, type Act } from "./toolbar";
import { Waiting } from "./waiting";
import { sentence } from "./words";

const LEAST_WIDTH = 40;
/** While parts are coming a picture is drawn so often at most: each takes time from their coming. */
const BETWEEN_MS = 300;
/** Narrower than this all stands below one another. */
const NARROW = 700;

export class Timeline {
  readonly link: Link<State>;
  readonly live: Live;
  readonly items = new Items();
  readonly gestures = gesturesOf(this);
  readonly details: Details;
  readonly toolbar: Toolbar;
  readonly shell: Shell;
  readonly tip: Tip;
  scene: Scene | null = null;
  /** What has come after the first picture; they may have been asked for before (`wanted`). */
  tools: Tools | null = null;
  wanted: "keys" | null = null;
  /** What the clock goes back to after order: the stretch of time last asked for. */
  clock: Range | null = null;
  /** The bar under the pointer of this view. */
  hovered: Item | null = null;
  readonly #painter: Painter;
  readonly #trouble: Trouble;
  readonly #waiting: Waiting;
  readonly #legend = new Legend();
  readonly numbers = new Numbers();
  #until = new AbortController();
  #width = 0;
  #frame = 0;
  #stale = true;
  #paints = 0;
  /** Parts in view have not come when it was drawn last. */
  #missing = true;
  #soon = 0;
  #layout: Layout | null = null;
  #broken = false;

  constructor(model: Model, el: HTMLElement, readonly signal: AbortSignal) {
    this.link = new Link(model, signal);
    this.live = new Live(signal);
    this.toolbar = new Toolbar((act) => this.act(act), signal);
    this.#trouble = new Trouble(this.link, "timeline", () => this.shell.stage.focus({ preventScroll: true }), signal);
    this.details = new Details({
      select: (select) => this.act({ select }),
      close: () => this.closeDetails(),
    }, signal);
    this.shell = shellOf({
      toolbar: this.toolbar.element, problem: this.#trouble.element, details: this.details.element,
      legend: this.#legend.element, numbers: this.numbers.element,
      live: this.live.element,
    });
    this.#painter = new Painter(this.shell);
    this.#waiting = new Waiting(this.shell.note, signal);
    this.tip = new Tip(this.shell.root);
    this.shell.root.append(this.tip.element);
    el.classList.add("ubviz-place");
    el.append(this.shell.root);
    this.#listen();
    atEnd(signal, () => this.#end());
    this.request(true);
    void this.#load();
  }

  #listen(): void {
    const { link, signal, shell: { stage } } = this;
    listenToPointer(stage, this.gestures, signal);
    listenToKeys(this);
    listen(stage, "focus", () => this.request(), signal);
    listen(stage, "blur", () => this.request(), signal);
    const on = (names: (keyof State)[], changed: () => void) => names.forEach((name) => link.on(name, changed));
    on(["view_range", "theme"], () => this.request(true));
    on(["order"], () => this.enter());
    on(["cursor", "hovered"], () => this.request());
    on(["selection"], () => this.follow());
    on(["pinned", "hidden", "arranged"], () => this.#arrange());
    link.on("_head", () => void this.#load());
    watchTheme(() => this.request(true), signal);
    watchSize(stage, (width) => this.#resized(width), signal);
  }

  get palette(): Palette {
    return paletteOf(this.link.get("theme"));
  }

  get order(): Order {
    return this.link.get("order") === "logical" && this.scene?.index.logical ? "logical" : "wall";
  }

  get range(): Range {
    return sound(this.link.get("view_range"), this.scene?.index.home ?? [0, 1]);
  }

  get axis(): Axis | null {
    const { scene, order, range } = this;
    const width = this.#width;
    return scene && width >= LEAST_WIDTH ? this.#painter.axis(scene, { order, range, width }) : null;
  }

  /** What was drawn last. */
  get picture(): Picture | null {
    return this.#painter.picture;
  }

  /** What keys and buttons do. */
  act(act: Act | { select: Row }): void {
    perform(this, act);
  }

  /** Select an item (or these rows, of which it is the last). */
  choose(item: Item, rows?: Row[]): void {
    choose(this, item, rows);
  }

  /** Ask for a redraw with the next frame; `base` where more than the front has changed. */
  request(base = false): void {
    this.#stale ||= base;
    if (!this.signal.aborted) this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  /** Say why nothing happens, to those who see the picture too. */
  say(words: string): void {
    this.live.say(words);
    this.#waiting.brief(words);
  }

  /** Show other positions of the axis; said, unless the selection that moved it is said already. */
  goTo(range: Range, said = true): void {
    if (this.order === "wall") return this.goToTime(range, said);
    const time = this.scene && this.#painter.goToColumns(this.scene, range);
    if (!time) return;
    this.link.set("view_range", time);
    if (said) this.live.say(columnWords(range));
    this.tip.hide();
    this.request(true);
  }

  /** Show a stretch of time, in either order; in logical order as much of it as can be read. */
  enter(range: Range = this.range): void {
    this.#painter.entering = true;
    this.clock = range;
    this.goToTime(range);
    this.request(true);
  }

  /** Show all of a stretch of time, in either order. */
  goToTime(range: Range, said = true): void {
    const now = whole(range);
    const words = rangeWords(this.range, now, this.scene?.index.origin_ns ?? 0);
    this.link.set("view_range", now);
    if (words && said) this.live.say(words);
    this.tip.hide();
  }

  /** The selection has changed, or (`quiet`) more of it has come. */
  follow(quiet = false): void {
    const { scene } = this;
    if (!scene) return;
    const rows = soundRows(this.link.get("selection"));
    this.items.select(rows, scene.data);
    const { primary } = this.items;
    this.#waiting.brief("");
    if (rows.length === 0) this.closeDetails();
    else if (primary) this.openDetails();
    if (!quiet) {
      const words = primary ? sentence(primary, scene.index) : "nothing selected";
      this.live.say(rows.length > 1 ? `${rows.length} selected, the last: ${words}` : words);
    }
    this.request();
  }

  openDetails(): void {
    const { scene, details, items: { primary, selected } } = this;
    if (scene && primary) details.show(primary, selected.length, scene, this.palette);
  }

  /** Whoever was in the details is led back to the stage. */
  closeDetails(): void {
    const inside = this.details.element.contains(document.activeElement);
    this.details.hide();
    if (inside) this.shell.stage.focus({ preventScroll: true });
  }

  #resized(width: number): void {
    this.#width = width;
    this.shell.root.classList.toggle("ubviz-narrow", width < NARROW);
    this.request(true);
  }

  async #load(): Promise<void> {
    this.#until.abort();
    const { signal } = (this.#until = new AbortController());
    this.scene = this.hovered = this.clock = null;
    this.#broken = false;
    this.#trouble.forget();
    this.#painter.forget();
    this.items.forget();
    this.closeDetails();
    this.shell.root.dataset.ubvizState = "loading";
    const head = this.link.get("_head");
    if (!head || head.byteLength < 4) return;
    try {
      const scene = await load(head, this.link.model, signal);
      if (!scene) return;
      this.scene = scene;
      this.#arrange();
      named(this.shell, scene.index);
      this.#missing = true;
      this.#came(scene);
      await scene.data.load(scene.wire, this.range, () => this.#came(scene), signal);
      if (!signal.aborted && this.details.open) this.openDetails(); // all flows are known now
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  #arrange(): void {
    const { link, scene } = this;
    scene?.arrange(arrangedBy(link));
    this.request(true);
  }

  /** Something has come: drawn at once where nothing is missing any more, else a little later with more. */
  #came({ data }: Scene): void {
    if (this.#missing && data.complete(this.range)) this.request(true);
    else {
      this.#soon ||= window.setTimeout(() => {
        this.#soon = 0;
        this.request(true);
      }, BETWEEN_MS);
    }
  }

  /** Rows that were selected before their columns came. */
  #catchUp({ data }: Scene): void {
    const rows = soundRows(this.link.get("selection"));
    const found = this.items.selected.length;
    if (found < rows.length && this.items.select(rows, data).length > found) this.follow(true);
  }

  #paint(): void {
    this.#frame = 0;
    coloured(this.shell.root, this.palette);
    const { scene } = this;
    if (!scene || this.#broken || this.#width < LEAST_WIDTH) return;
    try {
      const base = this.#stale;
      if (base) this.#paintBase(scene);
      this.#paintFront(scene);
      this.tools?.painted(base);
    } catch (error) {
      this.#broken = true;
      this.#fail(error);
    }
  }

  #paintBase(scene: Scene): void {
    const started = performance.now();
    const { order, range, palette } = this;
    const width = this.#width;
    const shown = { order, range, palette, width };
    if (order === "logical") this.#painter.enter(scene, shown, this.items.primary);
    const { seen, layout, scale, dpr } = this.#painter.base(scene, shown);
    this.#stale = false;
    clearTimeout(this.#soon);
    this.#soon = 0;
    this.#legend.show(seen, palette, dpr, `${order} ${width}`);
    this.#showStep(scene);
    const missing = !scene.data.complete(range) || (order === "logical" && !scene.logical);
    this.#missing = missing;
    if (missing) this.#ask(scene);
    else this.#waiting.end(scene.empty ? "This recording has nothing to draw." : "");
    const { dataset } = this.shell.root;
    dataset.ubvizRange = range.join(",");
    dataset.ubvizPlot = `${scale.left},${scale.right}`;
    if (layout !== this.#layout) {
      this.#layout = layout;
      dataset.ubvizLanes = JSON.stringify(layout.rows.map(({ lane, top, bottom }) => [lane, top, bottom]));
    }
    dataset.ubvizOrder = order;
    dataset.ubvizPaintMs = (performance.now() - started).toFixed(1);
    dataset.ubvizSeq = String(++this.#paints);
    dataset.ubvizState = this.#trouble.met ? "error" : missing ? "loading" : "painted";
    if (!missing && !dataset.ubvizFirst) {
      dataset.ubvizFirst = String(performance.now());
      (globalThis.requestIdleCallback ?? setTimeout)(() => this.signal.aborted || this.#painter.rehearse());
      void this.#add(scene);
    }
    this.#catchUp(scene);
  }

  async #add({ wire }: Scene): Promise<void> {
    if (!(this.tools = await toolsFor(this, wire))) return;
    this.shell.root.dataset.ubvizTools = "";
    if (this.wanted) this.tools.keys();
    this.tools.painted(true);
  }

  #paintFront(scene: Scene): void {
    const { link, shell: { root, stage } } = this;
    this.#painter.front(scene, {
      selection: this.items.selected,
      hovered: this.#hoveredItem(scene),
      cursor: link.get("cursor") ?? null,
      focus: stage.matches(":focus"),
    });
    root.dataset.ubvizHovered = JSON.stringify(link.get("hovered") ?? null);
    root.dataset.ubvizSelection = JSON.stringify(link.get("selection") ?? []);
  }

  #hoveredItem({ data }: Scene): Item | null {
    const [row] = soundRows([this.link.get("hovered")]);
    if (!row) return null;
    return this.hovered && sameRow(rowOf(this.hovered), row) ? this.hovered : data.item(row);
  }

  /** Which step is in the middle: the toolbar and the line of numbers are about it. */
  #showStep(scene: Scene): void {
    const at = stepAt(scene.index.steps, this.range);
    this.toolbar.show(scene.index, at, this.order);
    this.numbers.about(scene.wire, at === null ? "" : String(scene.index.steps[at]![0]));
  }

  /** While blocks are missing, what is there stays drawn; those in view are asked for first. */
  #ask(scene: Scene): void {
    const { signal } = this.#until;
    this.#waiting.begin();
    const failed = (error: unknown) => signal.aborted || this.#fail(error);
    scene.data.load(scene.wire, this.range, () => this.#came(scene), signal).catch(failed);
    if (this.order !== "logical") return;
    scene.loadLogical().then(() => signal.aborted || this.request(true), failed);
  }

  #fail(error: unknown): void {
    this.shell.root.dataset.ubvizState = "error";
    this.#waiting.end();
    this.#trouble.meet(error);
  }

  #end(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#soon);
    this.#until.abort();
    this.details.hide();
    this.shell.root.remove();
  }
}
