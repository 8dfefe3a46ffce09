/** All that is played on: the end's report, what is shared, the threads, and the way so far. */

import { make } from "../base/dom";
import type { Palette } from "../base/theme";
import { Cards } from "./cards";
import { Chips } from "./chips";
import type { Game, Node } from "./model";
import { Objects } from "./objects";
import { ReplayString } from "./replay";
import { Report } from "./report";
import type { BarAct } from "./shell";
import { Tried } from "./tried";
import type { Walk } from "./walk";

/** What a click on the table asks for. */
export interface Player {
  choose(thread: number): void;
  go(at: number): void;
  open(threads: readonly number[]): void;
  read(text: string): void;
  act(act: BarAct): void;
  say(words: string): void;
}

export class Table {
  readonly report: Report;
  readonly elements: HTMLElement[];
  readonly #objects: Objects;
  readonly #cards: Cards;
  readonly #chips: Chips;
  readonly #replay: ReplayString;
  readonly #tried: Tried;
  readonly #hint = make("p.hint");

  constructor(game: Game, player: Player, signal: AbortSignal) {
    const ways = { undo: () => player.act("undo"), startAgain: () => player.act("start again") };
    this.report = new Report(game, ways, signal);
    this.#objects = new Objects(game);
    this.#cards = new Cards(game, (thread) => player.choose(thread), signal);
    this.#chips = new Chips(game, (at) => player.go(at), signal);
    this.#replay = new ReplayString((text) => player.read(text), (copied) => {
      player.say(copied ? "Copied" : "Selected: copy it with Ctrl C");
    }, signal);
    this.#tried = new Tried(game, (threads) => player.open(threads));
    this.elements = [this.#hint, this.report.element, this.#objects.element, this.#cards.element, this.#chips.element,
      this.#replay.element, this.#tried.element];
  }

  show(walk: Walk, palette: Palette, { code, hints }: { code: boolean; hints: boolean }): void {
    const { node } = walk;
    this.#hint.textContent = hints ? hintOf(node) : "";
    this.#hint.hidden = this.#hint.textContent === "";
    this.report.show(node, walk.at, walk.schedule, palette);
    this.#objects.show(node, palette);
    this.#cards.show(node, palette, code);
    this.#chips.show(walk, palette);
    this.#replay.show(walk.at > 0 ? walk.schedule : "");
    this.#tried.show(walk, palette);
  }
}

function hintOf({ good, bad, end }: Node): string {
  if (end !== null) return "";
  if (!good) return "Hint: from here it can no longer end well.";
  return bad ? "Hint: from here it can end well, or not." : "Hint: from here it ends well whatever you choose.";
}
