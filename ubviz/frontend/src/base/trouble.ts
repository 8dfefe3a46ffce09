/** What went wrong, as a view says it: its own trouble, else what the model tells. */

import { Problem } from "./problem";
import { visible } from "./visible";

/** The one trait that is needed of a model. */
interface Told {
  get(name: "_problem"): string;
  set(name: "_problem", value: string): void;
  on(name: "_problem", changed: () => void): void;
}

export class Trouble {
  readonly element: HTMLElement;
  readonly #problem: Problem;
  #own = "";

  /** `dismissed`: where the focus goes. */
  constructor(private readonly link: Told, private readonly view: string, dismissed: () => void, signal: AbortSignal) {
    this.#problem = new Problem(() => {
      if (this.#own) this.#problem.show("");
      else link.set("_problem", "");
      dismissed();
    }, signal);
    this.element = this.#problem.element;
    link.on("_problem", () => this.#show());
    this.#show();
  }

  /** Whether something of the view itself went wrong. */
  get met(): boolean {
    return this.#own !== "";
  }

  /** `before`: what is said first; nothing of a sentence that says it all. */
  meet(error: unknown, before = `The ${this.view} met an error: `): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#own = before + visible(message);
    this.#show();
  }

  forget(): void {
    this.#own = "";
    this.#show();
  }

  #show(): void {
    this.#problem.show(this.#own || visible(this.link.get("_problem") ?? "", "\n"));
  }
}
