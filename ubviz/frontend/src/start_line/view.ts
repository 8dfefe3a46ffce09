/** Two sliders choose a recorded run, buttons step through it; how it ends is said from the start. */

import { atEnd, button, icon, listen, make } from "../base/dom";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { listenToPresses } from "../base/press";
import { Problem } from "../base/problem";
import { coloured } from "../base/surface";
import { paletteOf, watchTheme } from "../base/theme";
import { visible } from "../base/visible";
import { open } from "../base/wire";
import type { Index, Model, State } from "./model";
import { barrier, ring, threads } from "./picture";
import { partiesWords, within, type Run } from "./run";

const STEPS: [name: string, path: string, to: (at: number, last: number) => number][] = [
  ["First step", "M4 3v10M12 3l-5 5 5 5", () => 0],
  ["Step back", "M10 3l-5 5 5 5", (at) => at - 1],
  ["Step forward", "M6 3l5 5-5 5", (at) => at + 1],
  ["Last step", "M12 3v10M4 3l5 5-5 5", (_, last) => last],
];
/** The keys that step as well: the arrows, Home and End. */
const KEYS = ["Home", "ArrowLeft", "ArrowRight", "End"];

export class StartLine {
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #problem: Problem;
  readonly #sliders = make("div.sliders");
  readonly #inputs = new Map<"n" | "parties", { input: HTMLInputElement; output: HTMLElement }>();
  readonly #report = make("p.report", { role: "status" });
  readonly #buttons: HTMLButtonElement[];
  readonly #says = make("p.says");
  readonly #count = make("span.count");
  readonly #heading = make("div.heading");
  readonly #slots = make("div.slots");
  readonly #ring = make("div.ring");
  readonly #threads = make("ul.threads");
  readonly #root: HTMLElement;
  #index: Index | null = null;
  #trouble = "";

  constructor(model: Model, el: HTMLElement, readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#problem = new Problem(() => this.#dismiss(), signal);
    this.#buttons = STEPS.map(([name, path, to]) => {
      const made = button(name, name, icon(path));
      listen(made, "click", () => this.#step(to), signal);
      return made;
    });
    this.#root = make("section", { class: "ubviz ubviz-start-line", role: "group", "aria-label": "Start line" },
      this.#problem.element, this.#sliders, this.#report,
      make("div.steps", ...this.#buttons, this.#count), this.#says,
      make("div.stage", make("div.left", this.#heading, this.#slots, this.#threads), this.#ring),
      this.#live.element);
    this.#slider("n", "Microbatches");
    this.#slider("parties", "Parties of the barrier");
    el.classList.add("ubviz-place");
    el.append(this.#root);
    atEnd(signal, () => this.#root.remove());
    listenToPresses(this.#root, (event) => this.#pressed(event), signal);
    for (const name of ["n", "parties", "at", "theme"] as const) this.#link.on(name, () => this.#draw());
    this.#link.on("_problem", () => this.#complain());
    this.#link.on("_head", () => void this.#load());
    watchTheme(() => this.#draw(), signal);
    this.#complain();
    void this.#load();
  }

  #slider(name: "n" | "parties", label: string): void {
    const input = make("input", { type: "range", step: "1", "aria-label": label });
    const output = make("output", { "aria-hidden": "true" }); // the slider says it itself
    listen(input, "input", () => {
      const value = Number(input.value); // before anything is drawn: drawing puts the slider where the model is
      this.#link.set("at", 0);
      this.#link.set(name, value);
    }, this.signal);
    this.#inputs.set(name, { input, output });
    this.#sliders.append(make("label", make("span", label), output, input));
  }

  async #load(): Promise<void> {
    try {
      const { index } = await open<Index>(this.#link.get("_head"));
      if (this.signal.aborted) return;
      this.#index = index;
      for (const [name, values] of [["n", index.sizes], ["parties", index.parties]] as const) {
        const { input } = this.#inputs.get(name)!;
        [input.min, input.max] = [String(values[0]), String(values[values.length - 1])];
      }
      this.#draw();
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error);
      this.#complain();
    }
  }

  #run(): Run | undefined {
    return this.#index?.runs[`${this.#link.get("n")}/${this.#link.get("parties")}`];
  }

  #step(to: (at: number, last: number) => number): void {
    const run = this.#run();
    if (!run) return;
    const last = run.steps.length - 1;
    this.#link.set("at", Math.max(0, Math.min(to(within(run, this.#link.get("at")), last), last)));
    this.#live.say(this.#says.textContent ?? "");
  }

  #pressed(event: KeyboardEvent): void {
    const key = KEYS.indexOf(event.key);
    if (key < 0 || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    this.#step(STEPS[key]![2]);
  }

  #draw(): void {
    const palette = paletteOf(this.#link.get("theme"));
    coloured(this.#root, palette);
    const run = this.#run();
    if (!run) return;
    const [n, parties] = [this.#link.get("n"), this.#link.get("parties")];
    for (const [name, { input, output }] of this.#inputs) {
      const value = this.#link.get(name);
      if (Number(input.value) !== value) input.value = String(value);
      output.textContent = name === "n" ? String(value) : `${value} (${partiesWords(n, value)})`;
      input.setAttribute("aria-valuetext", output.textContent);
    }
    const at = within(run, this.#link.get("at"));
    const step = run.steps[at]!;
    const last = run.steps.length - 1;
    this.#write(this.#report, run.report);
    this.#report.classList.toggle("ubviz-wrong", run.hangs);
    this.#write(this.#says, step.says);
    this.#write(this.#count, `step ${at} of ${last}`);
    this.#buttons.forEach((made, i) => made.setAttribute("aria-disabled", String(i < 2 ? at === 0 : at === last)));
    this.#write(this.#heading, step.opened ? "Barrier: it has opened" : "Barrier: closed");
    this.#slots.classList.toggle("ubviz-opened", step.opened);
    this.#slots.replaceChildren(...barrier(step, parties, palette));
    this.#ring.replaceChildren(ring(step, palette));
    this.#threads.replaceChildren(...threads(step, palette));
    Object.assign(this.#root.dataset, { ubvizN: n, ubvizParties: parties, ubvizAt: at, ubvizState: "painted" });
    this.#root.dataset.ubvizFirst ??= performance.now().toFixed(0);
  }

  #write(element: HTMLElement, text: string): void {
    if (element.textContent !== text) element.textContent = text;
  }

  #complain(): void {
    this.#problem.show(visible(this.#trouble || String(this.#link.get("_problem") ?? ""), "\n"));
  }

  #dismiss(): void {
    this.#trouble = "";
    this.#link.set("_problem", "");
    this.#complain();
  }
}
