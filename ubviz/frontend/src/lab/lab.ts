/**
 * The view: the model's values in, lanes, numbers and a curve out. Everything is worked out here, whether a kernel
 * answers or not; the values are what is shared.
 */

import { atEnd, make } from "../base/dom";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { listenToPresses } from "../base/press";
import { coloured, density, sized, watchSize } from "../base/surface";
import { measureBy } from "../base/text";
import { paletteOf, watchTheme } from "../base/theme";
import { Trouble } from "../base/trouble";
import { cut } from "../base/visible";
import { open, type Wire } from "../base/wire";
import { CHART_HEIGHT, chartWords, evenWords, inSentence, paintChart } from "./chart";
import { Curves } from "./curve";
import { times, type Factors } from "./flow";
import type { Index, Model, Slider, State, Value, Values } from "./model";
import { beginOf, makespanOf, numbersOf } from "./numbers";
import { Panel } from "./panel";
import { Legend } from "./legend";
import { gutterOf, longestOf, paint } from "./picture";
import { planOf, type Plan, type PlanData } from "./plan";
import { axisEnd, layoutOf, type Section } from "./rows";
import { defaultsOf, factorsOf, notesOf, plansOf, soundValues } from "./values";
import { figuresOf, said, valueWords, type Figure, type Result } from "./words";

/** Narrower than this the controls stand above the picture. */
const NARROW = 820;

interface Ready {
  index: Index;
  wire: Wire;
  panel: Panel;
  curves: Curves;
}

export class Lab {
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #trouble: Trouble;
  readonly #plans = new Map<string, Plan | "coming">();
  readonly #title = make("div.lab-title", { dir: "auto" });
  readonly #figures = make("dl.lab-figures");
  readonly #lanes = make("canvas.lab-lanes", { role: "img" });
  readonly #chart = make("canvas.lab-chart", { role: "img" });
  readonly #chartTitle = make("div.lab-caption", { dir: "auto" });
  readonly #notes = make("div.lab-notes");
  readonly #legend = new Legend();
  readonly #desk = make("div.lab-desk");
  readonly #root: HTMLElement;
  #ready: Ready | null = null;
  #width = 0;
  #frame = 0;
  /** When what is to be drawn was asked for. */
  #asked = 0;
  #drawn: { values: Values; words: string } | null = null;

  constructor(model: Model, el: HTMLElement, readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#trouble = new Trouble(this.#link, "lab", () => this.#ready?.panel.focus(), signal);
    this.#desk.append(make("div.lab-run", this.#figures, this.#lanes, this.#legend.element, this.#notes),
      make("div.lab-curve", this.#chartTitle, this.#chart));
    this.#root = make("section", { class: "ubviz ubviz-lab", role: "group", "aria-label": "What if" },
      this.#title, this.#trouble.element, this.#desk, this.#live.element);
    this.#root.dataset.ubvizState = "loading";
    el.classList.add("ubviz-place");
    el.append(this.#root);
    atEnd(signal, () => {
      cancelAnimationFrame(this.#frame);
      this.#root.remove();
    });
    listenToPresses(this.#root, () => {}, signal);
    for (const name of ["values", "curve", "theme"] as const) this.#link.on(name, () => this.#request());
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
      this.#ready?.panel.element.remove();
      this.#plans.clear();
      const panel = new Panel(index, {
        change: (name, value) => this.#change(name, value),
        curve: (name) => this.#link.set("curve", name),
        reset: () => this.#reset(),
      }, this.signal);
      this.#ready = { index, wire, panel, curves: new Curves(index) };
      this.#desk.firstElementChild!.after(panel.element);
      this.#title.textContent = index.title ? cut(index.title, 120) : "";
      this.#title.hidden = !index.title;
      this.#root.setAttribute("aria-label", index.title ? cut(index.title, 400) : "What if: a lab with sliders");
      this.#request();
    } catch (error) {
      this.#fail(error);
    }
  }

  // ---- what is asked for

  #change(name: string, value: Value): void {
    this.#link.set("values", { ...this.#values(), [name]: value });
    if (this.#ready!.index.sliders.some((slider) => slider.name === name)) this.#link.set("curve", name);
  }

  #reset(): void {
    this.#link.set("values", defaultsOf(this.#ready!.index));
    this.#live.say("All controls are as they were.");
  }

  #values(): Values {
    return soundValues(this.#ready!.index, this.#link.get("values"));
  }

  #slider(): Slider {
    const { sliders } = this.#ready!.index;
    return sliders.find(({ name }) => name === this.#link.get("curve")) ?? sliders[0]!;
  }

  #request(): void {
    this.#asked ||= performance.now();
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      try {
        this.#draw();
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  /** A plan, if it has come; else it is asked for. */
  #plan(name: string): Plan | null {
    const known = this.#plans.get(name);
    if (known) return known === "coming" ? null : known;
    this.#plans.set(name, "coming");
    this.#ready!.wire.json<PlanData>(`plan:${name}`).then((data) => {
      this.#plans.set(name, planOf(data));
      this.#request();
    }, (error: unknown) => {
      this.#plans.delete(name);
      this.#fail(error, ""); // a simulator of one's own that failed: the sentence says so
    });
    return null;
  }

  // ---- drawing

  #draw(): void {
    const palette = paletteOf(this.#link.get("theme"));
    coloured(this.#root, palette);
    if (!this.#ready || this.#width < 40) return;
    const { index, panel } = this.#ready;
    const values = this.#values();
    panel.show(values, this.#slider().name);
    this.#root.classList.toggle("ubviz-narrow", this.#width < NARROW);
    const [name, other] = plansOf(index, values);
    const plan = this.#plan(name);
    const unsplit = other === null ? null : this.#plan(other);
    if (!plan || (other !== null && !unsplit)) {
      this.#root.dataset.ubvizState = "waiting";
      return;
    }
    const result = this.#work(values, plan, unsplit);
    this.#show(values, result);
    const ms = performance.now() - this.#asked;
    performance.measure("ubviz lab redraw", { start: this.#asked, end: performance.now() });
    this.#asked = 0;
    this.#root.dataset.ubvizMs = ms.toFixed(1);
    this.#root.dataset.ubvizState = "painted";
    this.#root.dataset.ubvizFirst ??= performance.now().toFixed(0);
    this.#curve(values, plan, unsplit, result);
  }

  #work(values: Values, plan: Plan, unsplit: Plan | null): Result & { sections: Section[] } {
    const { index } = this.#ready!;
    const [above, below] = index.names;
    const section = (title: string, of: Plan, factors: Factors, threads: boolean): Section => {
      const time = times(of, factors);
      return { title, plan: of, time, begin: beginOf(of, time), numbers: numbersOf(of, factors, time), threads };
    };
    const now = section(below, plan, factorsOf(index, values, plan), true);
    const own = index.kind === "measured" || !unsplit;
    const first = own
      ? section(above, plan, factorsOf(index, defaultsOf(index), plan), false)
      : section(above, unsplit!, factorsOf(index, values, unsplit!), false);
    return {
      numbers: now.numbers,
      unsplit: !unsplit ? null : own ? makespanOf(unsplit, times(unsplit, factorsOf(index, values, unsplit))) : first.numbers.makespan_ns,
      measured: own ? first.numbers : null,
      sections: [first, now],
    };
  }

  #show(values: Values, result: Result & { sections: Section[] }): void {
    const { index } = this.#ready!;
    const figures = figuresOf(index, result);
    this.#write(figures);
    const notes = notesOf(index, values);
    this.#notes.hidden = notes.length === 0;
    this.#notes.textContent = notes.join(" ");
    const words = said(figures);
    const [above, below] = index.names;
    this.#lanes.setAttribute("aria-label", `Lanes of two runs on one axis of time, ${above} above ${below}. ${words} ${notes.join(" ")}`.trim());
    this.#paint(result.sections);
    if (this.#drawn && JSON.stringify(this.#drawn.values) !== JSON.stringify(values)) this.#live.say(words);
    this.#drawn = { values, words };
  }

  #write(figures: readonly Figure[]): void {
    while (this.#figures.children.length > figures.length) this.#figures.lastChild!.remove();
    figures.forEach(({ label, value, beside }, i) => {
      let item = this.#figures.children[i] as HTMLElement | undefined;
      if (!item) this.#figures.append((item = make("div", make("dt"), make("dd"), make("dd.lab-beside"))));
      [label, value, beside].forEach((text, at) => {
        const part = item!.children[at]!;
        if (part.textContent !== text) part.textContent = text;
      });
    });
  }

  #paint(sections: Section[]): void {
    const palette = paletteOf(this.#link.get("theme"));
    const width = this.#room();
    const layout = layoutOf(sections);
    const dpr = density(width, layout.height);
    sized(this.#lanes, width, layout.height, dpr);
    const ctx = this.#lanes.getContext("2d", { alpha: false })!;
    const measure = measureBy(ctx);
    const left = gutterOf(measure, layout);
    const short = paint({ ctx, measure, palette, width, dpr, left, right: width - 12, end: axisEnd(longestOf(sections)) }, layout);
    this.#legend.show(sections, short, palette);
  }

  /** How wide pictures may be. */
  #room(): number {
    const narrow = this.#width < NARROW;
    return Math.max(Math.floor(this.#width - (narrow ? 28 : 28 + PANEL + GAP)), 120);
  }

  /** The curve: what there is of it now, the rest in the frames to come. */
  #curve(values: Values, plan: Plan, unsplit: Plan | null, result: Result): void {
    const { curves } = this.#ready!;
    const slider = this.#slider();
    const curve = curves.of(slider, values);
    if (!curve.done) {
      curves.more(curve, values, plan, unsplit);
      if (!curve.done) this.#frame ||= requestAnimationFrame(() => {
        this.#frame = 0;
        if (this.#asked) this.#draw();
        else this.#curve(values, plan, unsplit, result);
      });
    }
    const width = this.#room();
    const dpr = density(width, CHART_HEIGHT);
    sized(this.#chart, width, CHART_HEIGHT, dpr);
    const ctx = this.#chart.getContext("2d", { alpha: false })!;
    const here = { value: Number(values[slider.name]), makespan: result.numbers.makespan_ns, unsplit: result.unsplit };
    paintChart(ctx, measureBy(ctx), paletteOf(this.#link.get("theme")), dpr, width, curve, here);
    const title = `Makespan against ${inSentence(slider.label)}: ${valueWords(slider, values[slider.name]!)}. ${evenWords(curve)}`.trim();
    if (this.#chartTitle.textContent !== title) this.#chartTitle.textContent = title;
    this.#chart.setAttribute("aria-label", chartWords(curve));
    this.#root.dataset.ubvizCurve = curve.done ? "done" : "coming";
  }

  #fail(error: unknown, before?: string): void {
    if (this.signal.aborted) return;
    this.#root.dataset.ubvizState = "error";
    this.#trouble.meet(error, before);
  }
}

/** As in the style sheet: the controls' width, and what is between them and the pictures. */
const PANEL = 250;
const GAP = 22;

