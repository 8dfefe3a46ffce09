/** What was chosen so far, as chips: a click on one goes back there. */

import { listen, make } from "../base/dom";
import { oneStop } from "../base/one_stop";
import type { Palette } from "../base/theme";
import { paint, ubatchOf } from "./colours";
import type { Game } from "./model";
import type { Walk } from "./walk";
import { chipWords, happened } from "./words";

export class Chips {
  readonly element = make("ol.chips", { "aria-label": "Choices" });
  readonly #chips: HTMLButtonElement[] = [];

  constructor(private readonly game: Game, private readonly go: (at: number) => void, private readonly signal: AbortSignal) {
    oneStop(this.element, signal);
  }

  show(walk: Walk, palette: Palette): void {
    const { threads, at } = walk;
    while (this.#chips.length > threads.length + 1) this.#chips.pop()!.parentElement!.remove();
    while (this.#chips.length < threads.length + 1) this.#add();
    this.#chips.forEach((chip, i) => {
      chip.tabIndex = i === at ? 0 : -1;
      chip.dataset.ahead = String(i > at);
      if (i === at) chip.setAttribute("aria-current", "step");
      else chip.removeAttribute("aria-current");
      if (i > 0) this.#write(chip, walk, i, palette);
    });
    this.#bringIntoView(this.#chips[at]);
  }

  #add(): void {
    const at = this.#chips.length;
    const chip = make("button.chip", { type: "button" });
    if (at === 0) {
      chip.append("start");
      chip.setAttribute("aria-label", "Before the first choice");
    }
    listen(chip, "click", () => this.go(at), this.signal);
    this.#chips.push(chip);
    this.element.append(make("li", chip));
  }

  #write(chip: HTMLButtonElement, walk: Walk, i: number, palette: Palette): void {
    const thread = walk.threads[i - 1];
    const before = walk.state(i - 1);
    const says = `Choice ${i}: ${happened(this.game, before, thread)}`;
    paint(chip, palette, ubatchOf(this.game.threads[thread], thread));
    if (chip.title === says) return;
    chip.title = says;
    chip.setAttribute("aria-label", says);
    chip.replaceChildren(make("b", String(thread)), ` ${chipWords(this.game, before, thread)}`);
  }

  /** Within its own box: the page stays where it is. */
  #bringIntoView(chip: HTMLElement): void {
    const { element } = this;
    const [top, bottom] = [chip.offsetTop, chip.offsetTop + chip.offsetHeight]; // from the top of the box
    if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight + 2;
    if (top < element.scrollTop) element.scrollTop = top - 2;
  }
}
