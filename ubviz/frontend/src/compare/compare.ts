/** The view: what is selected and shown in, lanes and a table out, each of which leads to the other. */

import { atEnd, make } from "../base/dom";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { listenToPresses } from "../base/press";
import { framed, moved, revealed, sound, within, zoomed, type Range } from "../base/range";
import { LEAST_NS, Scale } from "../base/scale";
import { coloured, density, sized, watchSize } from "../base/surface";
import { measureBy } from "../base/text";
import { paletteOf, watchTheme } from "../base/theme";
import { Trouble } from "../base/trouble";
import { cut } from "../base/visible";
import { open } from "../base/wire";
import { listenToPointer } from "../timeline/pointer";
import { dataOf, keyOf, numberOf, type Data } from "./data";
import { gutterOf, paint, paintHeads } from "./draw";
import { hit } from "./hit";
import { along, commandOf, type Command } from "./keys";
import { layoutOf, type Layout } from "./layout";
import { Legend } from "./legend";
import type { Index, Model, SideData, State, TableData } from "./model";
import { Table } from "./table";
import { paintTie } from "./tie";
import { figureWords, figuresOf, operationWords } from "./words";

/** Narrower than this the table has fewer columns. */
const NARROW = 620;
const HINT = "Point at an operation to see its partner; click to select it. Arrow keys walk along operations, "
  + "Enter leads to the table, W S A D zoom and move, F frames, 0 shows all.";

export class Compare {
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #trouble: Trouble;
  readonly #table: Table;
  readonly #legend = new Legend();
  readonly #title = make("div.compare-title", { dir: "auto" });
  readonly #figures = make("dl.compare-figures");
  readonly #notices = make("div.compare-notes", { dir: "auto" });
  readonly #canvas = make("canvas.compare-lanes", { "aria-hidden": "true" });
  readonly #stage = make("div.compare-stage", {
    tabindex: "0", role: "application", "aria-roledescription": "two recordings on one axis of time",
  }, this.#canvas);
  readonly #said = make("div.compare-said", { dir: "auto" });
  readonly #root: HTMLElement;
  #data: Data | null = null;
  #layout: Layout | null = null;
  #scale: Scale | null = null;
  #hovered: number | null = null;
  #width = 0;
  #frame = 0;

  constructor(model: Model, el: HTMLElement, readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#trouble = new Trouble(this.#link, "comparison", () => this.#stage.focus({ preventScroll: true }), signal);
    this.#table = new Table({
      choose: (number) => this.#choose(number, "table"),
      point: (number) => this.#point(number),
      leave: () => this.#stage.focus(),
      turned: () => {
        this.#hovered = null; // what is under the pointer is another row now
        this.#request();
      },
    }, signal);
    this.#root = make("section", { class: "ubviz ubviz-compare", role: "group", "aria-label": "Two recordings compared" },
      this.#title, this.#trouble.element, this.#figures, this.#notices, this.#stage, this.#said, this.#legend.element,
      this.#table.element, this.#live.element);
    this.#root.dataset.ubvizState = "loading";
    el.classList.add("ubviz-place");
    el.append(this.#root);
    atEnd(signal, () => {
      cancelAnimationFrame(this.#frame);
      this.#root.remove();
    });
    listenToPresses(this.#root, (event) => {
      if (event.target !== this.#stage) return;
      const command = commandOf(event);
      if (!command || !this.#data) return;
      event.preventDefault();
      this.#do(command);
    }, signal);
    this.#listen();
    for (const name of ["view_range", "theme"] as const) this.#link.on(name, () => this.#request());
    this.#link.on("selection", () => {
      const selected = this.#selected();
      if (selected !== null) this.#table.reveal(selected);
      this.#request();
    });
    this.#link.on("_head", () => void this.#load());
    watchTheme(() => this.#request(), signal);
    watchSize(this.#root, (width) => {
      this.#width = width;
      this.#request();
    }, signal);
    void this.#load();
  }

  async #load(): Promise<void> {
    this.#trouble.forget();
    try {
      const { index, wire } = await open<Index>(this.#link.get("_head"));
      if (this.signal.aborted) return;
      wire.join(this.#link.model, this.signal);
      const [table, a, b] = await Promise.all([
        wire.json<TableData>("operations"), wire.json<SideData>("side:0"), wire.json<SideData>("side:1"),
      ]);
      if (this.signal.aborted) return;
      this.#data = dataOf(index, table, [a, b]);
      this.#layout = layoutOf(this.#data);
      this.#table.load(this.#data);
      this.#title.textContent = index.title ? cut(index.title, 120) : "";
      this.#title.hidden = !index.title;
      this.#root.setAttribute("aria-label", cut(index.title ?? index.label, 600));
      this.#notices.textContent = index.notices.map((notice) => cut(notice, 300)).join(" ");
      this.#notices.hidden = index.notices.length === 0;
      const figures = figuresOf(index);
      this.#figures.replaceChildren(...figures.map(({ label, both, beside }) =>
        make("div", make("dt", label), make("dd", both), make("dd.compare-beside", beside))));
      this.#stage.setAttribute("aria-label", `${cut(index.label, 600)} ${figureWords(figures)}`);
      this.#request();
    } catch (error) {
      this.#fail(error);
    }
  }

  // ---- what is asked for

  #listen(): void {
    let owed = 0; // pixels that were less than a nanosecond
    listenToPointer(this.#stage, {
      hover: (x, y) => this.#point(this.#at(x, y)),
      leave: () => this.#point(null),
      click: (x, y) => this.#choose(this.#at(x, y), "lanes"),
      frame: (x, y) => {
        const number = this.#at(x, y);
        if (number !== null) this.#frameOf(number);
      },
      pan: (dx) => {
        const scale = this.#scale;
        if (!scale) return;
        owed += dx;
        const by = Math.round(-owed / scale.k);
        if (by === 0) return;
        owed += by * scale.k;
        this.#go(moved(this.#range(), by));
      },
      zoom: (factor, x) => {
        const scale = this.#scale;
        if (scale) this.#go(zoomed(this.#range(), factor, scale.ns(Math.max(x, scale.left)), LEAST_NS));
      },
    }, this.signal);
  }

  #at(x: number, y: number): number | null {
    return this.#layout && this.#scale && hit(this.#layout, this.#scale, x, y);
  }

  #do(command: Command): void {
    const range = this.#range();
    const [length, middle] = [range[1] - range[0], (range[0] + range[1]) / 2];
    const way = { before: -1, "row above": -1, after: 1, "row below": 1 }[command as string] as 1 | -1 | undefined;
    if (way) {
      const numbers = command.startsWith("row") ? this.#table.numbers : this.#data!.operations.map((_, i) => i);
      return this.#choose(along(numbers, this.#selected(), way), "keys");
    }
    if (command === "zoom in" || command === "zoom out") {
      this.#go(zoomed(range, command === "zoom in" ? 1.5 : 1 / 1.5, middle, LEAST_NS));
    } else if (command === "pan left" || command === "pan right") {
      this.#go(moved(range, Math.round(length * (command === "pan left" ? -0.2 : 0.2))));
    } else if (command === "all") this.#link.set("view_range", null);
    else if (command === "nothing") this.#choose(null, "keys");
    else {
      const number = this.#selected() ?? this.#table.numbers[0] ?? null;
      if (number === null) return;
      if (command === "frame") return this.#frameOf(number);
      if (this.#selected() === null) this.#choose(number, "keys");
      this.#table.reveal(number, true);
    }
  }

  #selected(): number | null {
    return this.#data && numberOf(this.#data.operations, this.#link.get("selection"));
  }

  #choose(number: number | null, from: "lanes" | "keys" | "table"): void {
    const { operations, index } = this.#data!;
    this.#link.set("selection", number === null ? null : keyOf(operations[number]!));
    if (number === null) return this.#live.say("Nothing is selected.");
    if (from !== "lanes") this.#go(revealed(this.#range(), ...this.#extentOf(number)));
    this.#live.say(operationWords(operations[number]!, index.names));
    this.#request();
  }

  #point(number: number | null): void {
    if (number === this.#hovered) return;
    this.#hovered = number;
    this.#request();
  }

  /** From the first of both parts to the last. */
  #extentOf(number: number): [number, number] {
    const parts = this.#data!.operations[number]!.parts.filter((part) => part !== null);
    return [Math.min(...parts.map(({ start }) => start)), Math.max(...parts.map(({ end }) => end))];
  }

  #frameOf(number: number): void {
    this.#go(framed(this.#range(), ...this.#extentOf(number), 1000));
  }

  #all(): Range {
    const [low, high] = this.#data!.extent;
    return [low, high + (high - low) * 0.02];
  }

  #range(): Range {
    return sound(this.#link.get("view_range"), this.#all());
  }

  #go(range: Range): void {
    const old = this.#range();
    const to = within(range, old, this.#all());
    if (to[0] === old[0] && to[1] === old[1]) return;
    const whole = to[0] === this.#all()[0] && to[1] === this.#all()[1];
    this.#link.set("view_range", whole ? null : [Math.round(to[0]), Math.max(Math.round(to[1]), Math.round(to[0]) + 1)]);
  }

  #request(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      try {
        this.#draw();
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  // ---- drawing

  #draw(): void {
    const palette = paletteOf(this.#link.get("theme"));
    coloured(this.#root, palette);
    if (!this.#data || !this.#layout || this.#width < 40) return;
    const begun = performance.now();
    this.#root.classList.toggle("ubviz-narrow", this.#width < NARROW);
    const width = Math.max(this.#width - 28, 120);
    const { height } = this.#layout;
    const dpr = density(width, height);
    sized(this.#canvas, width, height, dpr);
    const ctx = this.#canvas.getContext("2d", { alpha: false })!;
    const measure = measureBy(ctx);
    const scale = (this.#scale = new Scale(this.#range(), gutterOf(measure, this.#layout), width - 6));
    const selected = this.#selected();
    const lit = this.#hovered ?? selected;
    const sheet = { ctx, measure, palette, scale, width, dpr, shortened: new Map<string, string>() };
    paint(sheet, this.#data, this.#layout, lit);
    if (lit !== null) paintTie(sheet, this.#data, this.#layout, lit);
    paintHeads(sheet, this.#data, this.#layout);
    const words = lit === null ? HINT : operationWords(this.#data.operations[lit]!, this.#data.index.names);
    if (this.#said.textContent !== words) this.#said.textContent = words;
    this.#said.toggleAttribute("data-ubviz-hint", lit === null);
    this.#stage.style.cursor = this.#hovered === null ? "" : "pointer";
    this.#legend.show(this.#data, sheet.shortened, palette);
    this.#table.show(palette, selected, this.#hovered);
    this.#root.dataset.ubvizMs = (performance.now() - begun).toFixed(1);
    this.#root.dataset.ubvizLit = lit === null ? "" : String(lit);
    this.#root.dataset.ubvizState = "painted";
    this.#root.dataset.ubvizFirst ??= performance.now().toFixed(0);
  }

  #fail(error: unknown): void {
    if (this.signal.aborted) return;
    this.#root.dataset.ubvizState = "error";
    this.#trouble.meet(error);
  }
}
