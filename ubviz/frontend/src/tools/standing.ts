/**
 * Which tools stand open, in the order in which they were last used; the trait `tool` names the last of them.
 *
 * A tool that only shows its own trait (what Python searches for, measures, marks) is not named by that.
 */

import type { Link } from "../base/link";
import type { State } from "../timeline/model";
import type { Tool } from "./tool";

/** What can stand open; what has no name of its own is not told. */
export type Stands = Pick<Tool, "word" | "open" | "close"> & Partial<Pick<Tool, "use" | "stand">>;

/**
 * While a view tells what its user did: the tools closed by it. The other views of its model hear of it at once, and close
 * these and no others; where Python names another tool, the one that it named before is closed.
 */
let told: readonly string[] | null = null;

export class Standing {
  #tools: readonly Stands[] = [];
  #open: Stands[] = [];
  #used: Stands[] = [];
  #named = "";
  #quiet = false;
  /** Nothing is told: not all tools are there yet, or what the model names is being opened. */
  #silent = true;

  constructor(private readonly link: Link<State>) {}

  /** All tools are there now: open the one that the model names. */
  begin(tools: readonly Stands[]): void {
    this.#tools = tools;
    this.#open = tools.filter((tool) => tool.open);
    this.link.on("tool", () => this.#follow());
    this.#silent = false;
    this.#follow();
  }

  /** The one that was used last. */
  get last(): Stands | undefined {
    return [...this.#open.filter((tool) => !this.#used.includes(tool)), ...this.#used].pop();
  }

  /** What a key or the menu does. */
  use(tool: Tool): void {
    this.#moveLast(tool);
    tool.use();
    this.#look([]);
  }

  /** What opens meanwhile only shows what its own trait holds. */
  quietly(act: () => void): void {
    const before = this.#quiet;
    this.#quiet = true;
    try {
      act();
    } finally {
      this.#quiet = before;
    }
  }

  /** A panel was opened or closed. */
  readonly changed = (): void => {
    this.#look(this.#open.flatMap(({ open, word }) => (open || !word ? [] : word)));
  };

  #look(closed: readonly string[]): void {
    const open = this.#tools.filter((tool) => tool.open);
    const come = this.#quiet ? [] : open.filter((tool) => !this.#open.includes(tool) && !this.#used.includes(tool));
    this.#open = open;
    this.#used = [...this.#used, ...come].filter((tool) => tool.open);
    this.#tell(closed);
  }

  #moveLast(tool: Stands): void {
    this.#used = [...this.#used.filter((other) => other !== tool), tool];
  }

  #tell(closed: readonly string[]): void {
    if (this.#silent || told) return;
    this.#named = this.#used.filter((tool) => tool.word).pop()?.word ?? "";
    told = closed;
    try {
      this.link.set("tool", this.#named);
    } finally {
      told = null;
    }
  }

  /** Python, or another view of this model, has named a tool, or none. */
  #follow(): void {
    const name = this.link.get("tool") ?? "";
    if (name === this.#named) return;
    const named = (words: readonly string[]) => this.#tools.filter(({ word }) => word && words.includes(word));
    const gone = told ? named(told) : name ? named([this.#named]) : [...this.#used];
    this.#named = name;
    this.#silent = true;
    for (const tool of gone) if (tool.open) tool.close();
    for (const tool of named([name])) {
      if (tool.stand) tool.stand();
      else if (!tool.open) tool.use?.();
      this.#moveLast(tool);
    }
    this.#silent = false;
    this.#look([]);
  }
}
