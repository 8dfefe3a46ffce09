/** The view: the model's state in, what the learner sees out; each choice goes back into the model. */

import { atEnd, make } from "../base/dom";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { KeysPanel, listOf } from "../base/keys_panel";
import { listenToPresses } from "../base/press";
import { coloured, watchSize } from "../base/surface";
import { paletteOf, watchTheme } from "../base/theme";
import { Trouble } from "../base/trouble";
import { cut } from "../base/visible";
import { open } from "../base/wire";
import { commandOf, HELP, type Command } from "./keys";
import type { Game, Index, Model, State } from "./model";
import { spoken } from "./report";
import { opened } from "./schedule";
import { Bar, type BarAct } from "./shell";
import { Table } from "./table";
import { Walk } from "./walk";
import { counted, happened, listed } from "./words";

/** Narrower than this the threads stand below one another, and their code is shown on demand. */
const NARROW = 620;

export class Scheduler {
  readonly root: HTMLElement;
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #bar: Bar;
  readonly #keys: KeysPanel;
  readonly #trouble: Trouble;
  readonly #question = make("b");
  readonly #able = make("span", { dir: "auto" });
  readonly #body = make("div.play");
  #until = new AbortController();
  #walk: Walk | null = null;
  #table: Table | null = null;
  #code: boolean | null = null;
  #narrow = false;

  constructor(model: Model, el: HTMLElement, readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#bar = new Bar((act) => this.#act(act), signal);
    const toRoot = () => this.root.focus({ preventScroll: true });
    this.#trouble = new Trouble(this.#link, "scheduler", toRoot, signal);
    this.#question.textContent = "Working out what can happen …";
    const status = make("p.question", this.#question, " ", this.#able);
    this.root = make("section", { class: "ubviz ubviz-scheduler", role: "group", tabindex: "-1" },
      make("div.bar", status, this.#bar.element), this.#trouble.element, this.#body,
      this.#live.element);
    this.#keys = new KeysPanel([listOf(HELP)], this.#bar.keys, this.root, signal);
    this.root.append(this.#keys.element);
    this.root.dataset.ubvizState = "loading";
    el.classList.add("ubviz-place");
    el.append(this.root);
    this.#listen();
    this.#bar.show({ undo: false, again: false, runOn: false }, null);
    this.#show();
    void this.#load();
  }

  #listen(): void {
    const { signal, root } = this;
    const link = this.#link;
    link.on("schedule", () => this.#follow());
    link.on("theme", () => this.#show());
    link.on("hints", () => this.#show());
    link.on("_head", () => void this.#load());
    watchTheme(() => this.#show(), signal);
    watchSize(root, (width) => this.#resized(width), signal);
    listenToPresses(root, (event) => {
      const typing = event.target instanceof HTMLInputElement;
      if (event.defaultPrevented || typing) return;
      const command = event.key === "Escape" && this.#keys.open ? "keys" : commandOf(event);
      if (!command) return;
      event.preventDefault();
      this.#act(command);
    }, signal);
    atEnd(signal, () => {
      this.#until.abort();
      root.remove();
    });
  }

  async #load(): Promise<void> {
    this.#until.abort();
    const until = (this.#until = new AbortController());
    this.#walk = this.#table = null;
    this.#trouble.forget();
    this.root.dataset.ubvizState = "loading";
    try {
      const { index, wire } = await open<Index>(this.#link.get("_head"));
      if (until.signal.aborted) return;
      this.root.setAttribute("aria-label", cut(index.label, 400));
      wire.join(this.#link.model as never, until.signal);
      const game = await wire.json<Game>("game");
      if (until.signal.aborted) return;
      this.#begin(game, until.signal);
    } catch (error) {
      if (until.signal.aborted) return;
      this.#walk = this.#table = null;
      this.root.dataset.ubvizState = "error";
      this.#question.textContent = "There is nothing to play here.";
      this.#trouble.meet(error, "");
    }
  }

  #begin(game: Game, until: AbortSignal): void {
    this.#walk = new Walk(game);
    this.#table = new Table(game, {
      choose: (thread) => this.#choose(thread),
      go: (at) => this.#go(at),
      open: (threads) => this.#open(threads),
      read: (text) => this.#read(text),
      act: (act) => this.#act(act),
      say: (words) => this.#live.say(words),
    }, until);
    this.#body.replaceChildren(...this.#table.elements);
    this.#follow();
  }

  // ---- what is done

  #act(command: Command | BarAct): void {
    const walk = this.#walk;
    if (command === "keys") this.#keys.toggle();
    else if (!walk) return;
    else if (typeof command === "object") this.#choose(command.thread);
    else if (command === "undo") this.#go(walk.at - 1);
    else if (command === "again") this.#go(walk.at + 1);
    else if (command === "start again") this.#go(0);
    else if (command === "run on") this.#runOn(walk);
    else {
      this.#code = !this.#showsCode;
      this.#show();
    }
  }

  #choose(thread: number): void {
    const walk = this.#walk;
    if (!walk || thread >= walk.game.threads.length) return;
    const before = walk.node;
    if (walk.choose(thread)) this.#moved(happened(walk.game, before, thread));
    else this.#live.say(`${cut(walk.game.threads[thread], 60)} cannot go on now. ${this.#whoCan(walk)}`);
  }

  #runOn(walk: Walk): void {
    const from = walk.at;
    while (walk.node.able.length === 1 && walk.choose(walk.node.able[0]));
    if (walk.at > from) this.#moved(`${counted(walk.at - from, "choice")}, each the only one`);
  }

  #go(at: number): void {
    const walk = this.#walk!;
    const from = walk.at;
    walk.go(at);
    if (walk.at !== from) this.#moved(walk.at < from ? `Back to ${counted(walk.at, "choice")}` : "Chosen again");
  }

  #open(threads: readonly number[]): void {
    this.#walk!.open(threads);
    this.#moved(`Back to ${counted(threads.length, "choice")}`);
  }

  /** A replay string that was typed or pasted. */
  #read(text: string): void {
    try {
      this.#open(opened(this.#walk!.game, text).threads);
    } catch (error) {
      this.#trouble.meet(error, "");
    }
  }

  #moved(what: string): void {
    const walk = this.#walk!;
    this.#trouble.forget();
    this.#link.set("schedule", walk.schedule);
    this.#show();
    const { end } = walk.node;
    const rest = end === null ? this.#whoCan(walk) : spoken(walk.game.ends[end], walk.at);
    this.#live.say(`${what}. ${rest}`);
    if (end !== null) this.#table!.report.element.scrollIntoView({ block: "nearest" });
  }

  /** Be where the model says; also what the view itself has just set comes back here. */
  #follow(): void {
    const walk = this.#walk;
    if (!walk) return;
    const asked = this.#link.get("schedule");
    try {
      if (asked !== walk.schedule) walk.open(opened(walk.game, asked).threads);
      this.#trouble.forget();
    } catch (error) {
      this.#trouble.meet(error, "");
    }
    this.#show();
  }

  // ---- what is seen

  get #showsCode(): boolean {
    return this.#code ?? !this.#narrow;
  }

  #whoCan({ game, node }: Walk): string {
    const names = node.able.map((thread) => game.threads[thread]);
    if (names.length === 0) return "";
    return names.length === 1 ? `Only ${listed(names, "or")} can.` : `${listed(names, "or")} can.`;
  }

  #show(): void {
    const palette = paletteOf(this.#link.get("theme"));
    coloured(this.root, palette);
    const walk = this.#walk;
    if (!walk || !this.#table) return;
    const { node, at, game } = walk;
    const over = node.end !== null;
    this.#question.textContent = !over ? `Choice ${at + 1}: who goes on?`
      : game.ends[node.end!].verdict === "deadlock" ? "Nobody can go on." : "All have ended.";
    this.#able.textContent = this.#whoCan(walk);
    this.#bar.show({ undo: at > 0, again: at < walk.threads.length, runOn: node.able.length === 1 },
      game.sources.length > 0 ? this.#showsCode : null);
    this.#table.show(walk, palette, { code: this.#showsCode && game.sources.length > 0, hints: this.#link.get("hints") });
    const { dataset } = this.root;
    dataset.ubvizSchedule = walk.schedule;
    dataset.ubvizEnd = node.end === null ? "" : game.ends[node.end].verdict;
    dataset.ubvizState = "painted";
    dataset.ubvizFirst ??= String(performance.now());
  }

  #resized(width: number): void {
    const narrow = width > 0 && width < NARROW;
    if (narrow === this.#narrow) return;
    this.#narrow = narrow;
    this.root.classList.toggle("ubviz-narrow", narrow);
    this.#show();
  }
}
