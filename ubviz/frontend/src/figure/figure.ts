/**
 * What the small views of the course share: values in, one drawing out, worked out here whether a kernel answers or
 * not. A figure says what it shows in words, for those who do not see it.
 */

import { atEnd, make } from "../base/dom";
import { Link } from "../base/link";
import { Live } from "../base/live";
import type { Model, Shared } from "../base/model";
import { listenToPresses } from "../base/press";
import { Problem } from "../base/problem";
import { coloured, watchSize } from "../base/surface";
import { paletteOf, watchTheme, type Palette } from "../base/theme";
import { cut } from "../base/visible";
import { open } from "../base/wire";

export interface State<Values> extends Shared {
  values: Values;
}

interface Index {
  title: string | null;
  first: [key: string, offset: number, length: number][];
}

export abstract class Figure<Values> {
  protected readonly root: HTMLElement;
  protected readonly body = make("div.figure-body");
  readonly #link: Link<State<Values>>;
  readonly #live: Live;
  readonly #problem: Problem;
  readonly #title = make("div.figure-title", { dir: "auto" });
  #ready = false;
  #width = 0;
  #frame = 0;
  #drawn = "";

  constructor(model: Model<State<Values>>, el: HTMLElement, protected readonly signal: AbortSignal, name: string, label: string) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#problem = new Problem(() => this.#link.set("_problem", ""), signal);
    this.root = make("section", { class: `ubviz ubviz-figure ubviz-${name}`, role: "group", "aria-label": label },
      this.#title, this.#problem.element, this.body, this.#live.element);
    this.root.dataset.ubvizState = "loading";
    el.classList.add("ubviz-place");
    el.append(this.root);
    atEnd(signal, () => {
      cancelAnimationFrame(this.#frame);
      this.root.remove();
    });
    listenToPresses(this.root, () => {}, signal);
    for (const trait of ["values", "theme"] as const) this.#link.on(trait, () => this.#request());
    this.#link.on("_problem", () => this.#complain());
    watchTheme(() => this.#request(), signal);
    watchSize(this.root, (width) => {
      this.#width = width;
      this.#request();
    }, signal);
    this.#complain();
    void this.#load();
  }

  /** What can be shown of values, wherever they come from. */
  protected abstract sound(values: unknown): Values;
  /** Draw them into the body; what is shown, in words. */
  protected abstract draw(values: Values, palette: Palette, width: number): string;

  protected get values(): Values {
    return this.sound(this.#link.get("values"));
  }

  protected change(values: Values): void {
    this.#link.set("values", values);
  }

  async #load(): Promise<void> {
    try {
      const { index } = await open<Index>(this.#link.get("_head"));
      if (this.signal.aborted) return;
      this.#title.textContent = index.title ? cut(index.title, 120) : "";
      this.#title.hidden = !index.title;
      this.#ready = true;
      this.#request();
    } catch (error) {
      this.#fail(error);
    }
  }

  #request(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      const palette = paletteOf(this.#link.get("theme"));
      coloured(this.root, palette);
      if (!this.#ready || this.#width < 40) return;
      try {
        const words = this.draw(this.values, palette, this.#width);
        if (this.#drawn && words !== this.#drawn) this.#live.say(words);
        this.#drawn = words;
        this.root.dataset.ubvizState = "painted";
        this.root.dataset.ubvizFirst ??= performance.now().toFixed(0);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #complain(): void {
    this.#problem.show(this.#link.get("_problem"));
  }

  #fail(error: unknown): void {
    this.root.dataset.ubvizState = "failed";
    this.#problem.show(error instanceof Error ? error.message : String(error));
  }
}
