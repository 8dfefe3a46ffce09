/**
 * The view: one trace event after the other, forward and back.
 *
 * Traits say where one is; every change only asks for a redraw, and the next frame shows the state there. A jump
 * needs the part of the recording that it leads into, and nothing else.
 */

import { atEnd, listen, make } from "../base/dom";
import { moment } from "../base/format";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { listenToPresses } from "../base/press";
import { Problem } from "../base/problem";
import { coloured, watchSize } from "../base/surface";
import { paletteOf, watchTheme } from "../base/theme";
import { cut, visible } from "../base/visible";
import { open, type Wire } from "../base/wire";
import { commandOf, type Command } from "./keys";
import { EventList, firstShown, SHOWN, type Entry } from "./list";
import type { Index, Model, NavBlock, PartBlock, Source, State } from "./model";
import { Nav } from "./nav";
import { PANELS } from "./panels/all";
import { Part } from "./part";
import { who, type Seen } from "./seen";
import { Help, shellOf, type Shell } from "./shell";
import { Transport } from "./transport";

/** Narrower than this code and panels stand below one another. */
const NARROW = 820;
/** Narrower than this sentences take two lines, and lists leave out the time. */
const TIGHT = 520;

interface Scene {
  index: Index;
  wire: Wire;
  nav: Nav;
  sources: readonly Source[] | null;
  parts: Map<number, Part>;
  asked: Set<number>;
}

export class Stepper {
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #problem: Problem;
  readonly #transport: Transport;
  readonly #help: Help;
  readonly #list: EventList;
  readonly #shell: Shell;
  #scene: Scene | null = null;
  #frame = 0;
  #timer = 0;
  #until = new AbortController();
  #trouble = "";

  constructor(model: Model, el: HTMLElement, private readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#problem = new Problem(() => this.#dismiss(), signal);
    this.#transport = new Transport({ act: (command) => this.#act(command), jump: (at) => this.#jump(at) }, signal);
    this.#help = new Help(() => this.#act("keys"), signal);
    this.#list = new EventList((at) => this.#jump(at), signal);
    this.#shell = shellOf({
      transport: this.#transport.element, problem: this.#problem.element, keys: this.#help.element,
      list: this.#list.element, live: this.#live.element,
    });
    el.classList.add("ubviz-place");
    el.append(this.#shell.root);
    this.#listen();
    atEnd(signal, () => this.#end());
    this.#complain();
    void this.#load();
  }

  #listen(): void {
    const link = this.#link;
    link.on("at", () => this.#arrived());
    link.on("cursor", () => this.#toCursor());
    link.on("selection", () => this.#toSelection());
    link.on("theme", () => this.#request());
    link.on("_problem", () => this.#complain());
    link.on("_head", () => void this.#load());
    listenToPresses(this.#shell.root, (event) => {
      const command = commandOf(event, within(event.target));
      if (!command || (command === "close" && !this.#help.open)) return;
      event.preventDefault();
      this.#act(command);
    }, this.signal);
    listen(this.#shell.root, "pointerdown", (event) => this.#focused(event), this.signal);
    watchTheme(() => this.#request(), this.signal);
    watchSize(this.#shell.root, (width) => {
      this.#shell.root.classList.toggle("ubviz-narrow", width < NARROW);
      this.#shell.root.classList.toggle("ubviz-tight", width < TIGHT);
    }, this.signal);
  }

  /** A click beside all controls gives the keys to the stepper. */
  #focused(event: PointerEvent): void {
    const target = event.target as Element;
    if (!target.closest("button, input, select, pre, a")) this.#shell.stage.focus({ preventScroll: true });
  }

  // ---- where one is

  get #at(): number {
    const at = this.#link.get("at");
    const last = (this.#scene?.index.count ?? 1) - 1;
    return Number.isInteger(at) ? Math.min(Math.max(at, 0), last) : 0;
  }

  #act(command: Command): void {
    if (command === "keys" || command === "close") {
      return this.#help.toggle(this.#transport.keys, this.#shell.stage);
    }
    if (command === "play") return this.#timer ? this.#pause() : this.#play();
    const to = this.#target(command);
    if (to !== null) this.#jump(to);
    else this.#live.say(NO[command] ?? "");
  }

  /** Where a command leads; null where it leads nowhere. */
  #target(command: Command): number | null {
    const scene = this.#scene;
    if (!scene) return null;
    const at = this.#at;
    const last = scene.index.count - 1;
    switch (command) {
      case "back": return scene.nav.step(at, -1);
      case "forward": return scene.nav.step(at, 1);
      case "first": return at > 0 ? 0 : null;
      case "last": return at < last ? last : null;
      case "previous of thread": return scene.nav.alongThread(at, -1);
      case "next of thread": return scene.nav.alongThread(at, 1);
      case "previous of object": return scene.nav.alongObject(at, -1);
      case "next of object": return scene.nav.alongObject(at, 1);
      default: return null;
    }
  }

  /** Go to a trace event: the cursor and the selection go along. */
  #jump(to: number): void {
    const scene = this.#scene;
    if (!scene) return;
    this.#pause();
    this.#go(scene, to);
  }

  #go({ index, nav }: Scene, to: number): void {
    const at = Math.min(Math.max(to, 0), index.count - 1);
    this.#link.set("at", at);
    this.#link.set("cursor", nav.t[at]!);
    this.#link.set("selection", [["events", at]]);
    this.#request(); // a field may hold what was typed and led nowhere
  }

  #arrived(): void {
    this.#request();
  }

  /** Another view, or Python, has set a time: the last trace event up to it. */
  #toCursor(): void {
    const scene = this.#scene;
    const cursor = this.#link.get("cursor");
    if (!scene || typeof cursor !== "number" || cursor === scene.nav.t[this.#at]) return;
    const at = scene.nav.rowAt(cursor);
    if (at === this.#at) return;
    this.#link.set("at", at);
    this.#link.set("selection", [["events", at]]);
  }

  #toSelection(): void {
    const scene = this.#scene;
    const rows = this.#link.get("selection");
    const at = scene && Array.isArray(rows) ? scene.nav.eventOf(rows[rows.length - 1]) : null;
    if (!scene || at === null || at === this.#at) return;
    this.#link.set("at", at);
    this.#link.set("cursor", scene.nav.t[at]!);
  }

  // ---- playing

  #play(): void {
    const scene = this.#scene;
    if (!scene) return;
    if (scene.nav.step(this.#at, 1) === null) this.#go(scene, 0);
    const next = () => {
      this.#timer = 0;
      const to = scene.nav.step(this.#at, 1);
      if (this.#scene !== scene || to === null) return this.#pause();
      // the next part may not have come: wait for it where one is
      if (this.#part(scene, to)) this.#go(scene, to);
      if (scene.nav.step(this.#at, 1) !== null) this.#timer = window.setTimeout(next, 1000 / this.#transport.perSecond);
      this.#request();
    };
    this.#timer = window.setTimeout(next, 1000 / this.#transport.perSecond);
    this.#request();
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#request();
  }

  // ---- what comes from the kernel

  async #load(): Promise<void> {
    this.#until.abort();
    const { signal } = (this.#until = new AbortController());
    this.#scene = null;
    this.#trouble = "";
    this.#pause();
    this.#shell.root.dataset.ubvizState = "loading";
    this.#complain();
    const head = this.#link.get("_head");
    if (!head || head.byteLength < 4) return;
    try {
      const { index, wire } = await open<Index>(head);
      wire.join(this.#link.model, this.signal);
      if (signal.aborted) return;
      this.#named(index);
      const nav = new Nav(await wire.json<NavBlock>("nav"));
      if (signal.aborted) return;
      const scene: Scene = { index, wire, nav, sources: null, parts: new Map(), asked: new Set() };
      this.#scene = scene;
      this.#frames(index);
      this.#toCursor();
      this.#request();
      if (!index.panels.includes("code")) return;
      scene.sources = await wire.json<Source[]>("sources");
      this.#request();
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  /** The part of a trace event; null where it has still to come. */
  #part(scene: Scene, at: number): Part | null {
    const number = Math.floor(at / scene.index.part);
    const found = scene.parts.get(number);
    if (found) return found;
    if (!scene.asked.has(number)) {
      scene.asked.add(number);
      scene.wire.json<PartBlock>(`part:${number}`).then(
        (block) => {
          scene.parts.set(number, new Part(number * scene.index.part, block));
          this.#request();
        },
        (error) => {
          scene.asked.delete(number);
          if (this.#scene === scene) this.#fail(error);
        },
      );
    }
    return null;
  }

  // ---- what is seen

  #named(index: Index): void {
    const { root, title } = this.#shell;
    root.setAttribute("aria-label", cut(index.label, 400));
    title.textContent = index.title ? cut(index.title, 120) : "";
    title.hidden = !index.title;
  }

  /** A frame for each panel, filled anew with each step. */
  readonly #bodies = new Map<string, HTMLElement>();

  #frames(index: Index): void {
    const { code, panels } = this.#shell;
    this.#bodies.clear();
    code.replaceChildren();
    const stacks = [make("div.stack"), make("div.stack")];
    const heights = [0, 0];
    panels.replaceChildren();
    for (const name of index.panels.filter((name) => Object.hasOwn(PANELS, name))) {
      const body = make("div.panel-body");
      const { heading } = PANELS[name]!;
      const panel = make("section.panel", { "aria-label": heading }, make("div.heading", heading), body);
      panel.dataset.panel = name;
      this.#bodies.set(name, body);
      if (name === "code") code.append(panel);
      else if (WIDE.has(name)) panels.append(panel);
      else {
        const stack = heights[0]! <= heights[1]! ? 0 : 1;
        heights[stack]! += heightOf(name, index);
        stacks[stack]!.append(panel);
      }
    }
    panels.append(...stacks.filter((stack) => stack.childElementCount > 0));
    panels.hidden = panels.childElementCount === 0;
    code.hidden = code.childElementCount === 0;
  }

  #request(): void {
    if (!this.signal.aborted) this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    this.#frame = 0;
    const palette = paletteOf(this.#link.get("theme"));
    coloured(this.#shell.root, palette);
    const scene = this.#scene;
    if (!scene) return;
    const at = this.#at;
    const part = this.#part(scene, at);
    if (!part) return;
    try {
      this.#show(scene, part, at);
    } catch (error) {
      this.#fail(error);
    }
  }

  #show(scene: Scene, part: Part, at: number): void {
    const { index, nav, sources } = scene;
    const palette = paletteOf(this.#link.get("theme"));
    const thread = index.threads[nav.thread(at)];
    const acting = thread?.name ?? "";
    const seen: Seen = {
      index, part, at, acting, palette, sources, tree: part.after(at), changed: part.changed(at),
    };
    const says = part.says(at);
    const { root, stage } = this.#shell;
    this.#shell.says.textContent = cut(says, 400);
    this.#shell.when.replaceChildren(who(seen, acting), ` at ${moment(nav.t[at]! - index.origin_ns, 100)}`);
    const words = `trace event ${at} of ${index.count}: ${cut(says, 400)}`;
    if (stage.getAttribute("aria-label") !== words) {
      if (root.dataset.ubvizFirst !== undefined) this.#live.say(words);
      stage.setAttribute("aria-label", words);
    }
    for (const [name, body] of this.#bodies) body.replaceChildren(...PANELS[name]!.show(seen));
    this.#transport.show({
      at, count: index.count, says, thread: acting, ubatch: thread?.ubatch ?? null, object: nav.object(at),
      open: new Set(COMMANDS.filter((command) => this.#target(command) !== null)), playing: this.#timer !== 0,
    }, palette);
    this.#list.show(this.#entries(scene, at), at, index.origin_ns, palette);
    root.dataset.ubvizAt = String(at);
    root.dataset.ubvizState = this.#trouble ? "error" : "painted";
    root.dataset.ubvizFirst ??= String(performance.now());
  }

  /** The trace events round one, as far as they have come. */
  #entries(scene: Scene, at: number): Entry[] {
    const { index, nav } = scene;
    const first = firstShown(at, index.count);
    const found: Entry[] = [];
    for (let row = first; row < Math.min(first + SHOWN, index.count); row++) {
      const thread = index.threads[nav.thread(row)];
      const says = this.#part(scene, row)?.says(row) ?? "…";
      found.push({ at: row, t_ns: nav.t[row]!, says, ubatch: thread?.ubatch ?? null });
    }
    return found;
  }

  // ---- what went wrong

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#trouble = `The stepper met an error: ${visible(message)}`;
    this.#shell.root.dataset.ubvizState = "error";
    this.#pause();
    this.#complain();
  }

  #complain(): void {
    this.#problem.show(this.#trouble || visible(this.#link.get("_problem") ?? "", "\n"));
  }

  #dismiss(): void {
    if (this.#trouble) this.#problem.show("");
    else this.#link.set("_problem", "");
    this.#shell.stage.focus({ preventScroll: true });
  }

  #end(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#until.abort();
    this.#shell.root.remove();
  }
}

const COMMANDS: Command[] = ["back", "forward", "first", "last", "previous of thread", "next of thread",
  "previous of object", "next of object"];

const NO: Partial<Record<Command, string>> = {
  back: "this is the first trace event", first: "this is the first trace event",
  forward: "this is the last trace event", last: "this is the last trace event",
  "previous of thread": "this thread has none before", "next of thread": "this thread has none after",
  "previous of object": "this object has none before", "next of object": "this object has none after",
};

/** Panels as wide as all others together. */
const WIDE: ReadonlySet<string> = new Set(["streams"]);

/** About how high a panel is, in lines: with it the two stacks end nearly together. */
function heightOf(name: string, { keys, path, threads }: Index): number {
  const rows = Object.hasOwn(keys, name) ? keys[name]!.length : 1;
  const more: Record<string, number> = {
    ring: 7, barrier: 2 + rows, context: 1 + threads.length, calls: 2 + path.length, votes: 1 + 2 * rows,
  };
  return 2 + (more[name] ?? Math.min(rows, 12));
}

/** What the key was pressed in. */
function within(target: EventTarget | null): "field" | "button" | "else" {
  if (!(target instanceof HTMLElement)) return "else";
  if (target instanceof HTMLSelectElement) return "field";
  if (target instanceof HTMLInputElement) return target.type === "range" ? "else" : "field";
  return target instanceof HTMLButtonElement ? "button" : "else";
}
