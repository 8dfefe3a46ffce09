/**
 * The view: one trace event after the other, forward and back.
 *
 * Traits say where one is; every change only asks for a redraw, and the next frame shows the state there. A jump
 * needs the part of the recording that it leads into, and nothing else.
 */

import { atEnd, listen } from "../base/dom";
import { moment } from "../base/format";
import { KeysPanel, listOf } from "../base/keys_panel";
import { Link } from "../base/link";
import { Live } from "../base/live";
import { listenToPresses } from "../base/press";
import { coloured, watchSize } from "../base/surface";
import { paletteOf, watchTheme } from "../base/theme";
import { Trouble } from "../base/trouble";
import { cut } from "../base/visible";
import { open } from "../base/wire";
import { Frames } from "./frames";
import { commandOf, HELP, type Command } from "./keys";
import { EventList, firstShown, type Entry } from "./list";
import type { Index, Model, State } from "./model";
import type { Part } from "./part";
import { Scene } from "./scene";
import { who, type Seen } from "./seen";
import { shellOf, type Shell } from "./shell";
import { Transport } from "./transport";

/** Narrower than this code and panels stand below one another. */
const NARROW = 820;
/** Narrower than this sentences take two lines, and lists leave out the time. */
const TIGHT = 520;

export class Stepper {
  readonly #link: Link<State>;
  readonly #live: Live;
  readonly #trouble: Trouble;
  readonly #transport: Transport;
  readonly #keys: KeysPanel;
  readonly #list: EventList;
  readonly #shell: Shell;
  readonly #frames: Frames;
  #scene: Scene | null = null;
  #frame = 0;
  #timer = 0;
  #until = new AbortController();

  constructor(model: Model, el: HTMLElement, private readonly signal: AbortSignal) {
    this.#link = new Link(model, signal);
    this.#live = new Live(signal);
    this.#trouble = new Trouble(this.#link, "stepper", () => this.#shell.stage.focus({ preventScroll: true }), signal);
    this.#transport = new Transport({ act: (command) => this.#act(command), jump: (at) => this.#jump(at) }, signal);
    this.#list = new EventList((at) => this.#jump(at));
    this.#shell = shellOf({
      transport: this.#transport.element, problem: this.#trouble.element, list: this.#list.element, live: this.#live.element,
    });
    const { columns, code, panels, stage } = this.#shell;
    this.#keys = new KeysPanel([listOf(HELP)], this.#transport.keys, stage, signal);
    columns.append(this.#keys.element);
    this.#frames = new Frames(code, panels);
    el.classList.add("ubviz-place");
    el.append(this.#shell.root);
    this.#listen();
    atEnd(signal, () => this.#end());
    void this.#load();
  }

  #listen(): void {
    const link = this.#link;
    link.on("at", () => this.#request());
    link.on("cursor", () => this.#toCursor());
    link.on("selection", () => this.#toSelection());
    link.on("theme", () => this.#request());
    link.on("_head", () => void this.#load());
    listenToPresses(this.#shell.root, (event) => {
      const command = commandOf(event, within(event.target));
      if (!command || (command === "close" && !this.#keys.open)) return;
      event.preventDefault();
      this.#act(command);
    }, this.signal);
    listen(this.#shell.root, "pointerdown", (event) => this.#focused(event), this.signal);
    watchTheme(() => this.#request(), this.signal);
    watchSize(this.#shell.root, (width) => {
      this.#shell.root.classList.toggle("ubviz-narrow", width < NARROW);
      this.#shell.root.classList.toggle("ubviz-tight", width < TIGHT);
      this.#request(); // there is room for more rows, or for fewer
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
    if (command === "keys" || command === "close") return this.#keys.toggle();
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
      if (scene.part(to)) this.#go(scene, to);
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
    this.#trouble.forget();
    this.#pause();
    this.#shell.root.dataset.ubvizState = "loading";
    const head = this.#link.get("_head");
    if (!head || head.byteLength < 4) return;
    try {
      const { index, wire } = await open<Index>(head);
      wire.join(this.#link.model, this.signal);
      if (signal.aborted) return;
      this.#named(index);
      const failed = (error: unknown) => void (this.#scene === scene && this.#fail(error));
      const scene: Scene = await Scene.of(index, wire, () => this.#request(), failed);
      if (signal.aborted) return;
      this.#scene = scene;
      this.#frames.make(index);
      this.#toCursor();
      this.#request();
      if (!index.panels.includes("code")) return;
      await scene.loadSources();
      this.#request();
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  // ---- what is seen

  #named(index: Index): void {
    const { root, title } = this.#shell;
    root.setAttribute("aria-label", cut(index.label, 400));
    title.textContent = index.title ? cut(index.title, 120) : "";
    title.hidden = !index.title;
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
    const part = scene.part(at);
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
    this.#frames.show(seen);
    this.#transport.show({
      at, count: index.count, says, thread: acting, ubatch: thread?.ubatch ?? null, object: nav.object(at),
      open: new Set(COMMANDS.filter((command) => this.#target(command) !== null)), playing: this.#timer !== 0,
    }, palette);
    this.#list.fit(this.#bottom(), (rows) =>
      this.#list.show(this.#entries(scene, at, rows), at, index.origin_ns, palette));
    root.dataset.ubvizAt = String(at);
    root.dataset.ubvizState = this.#trouble.met ? "error" : "painted";
    root.dataset.ubvizFirst ??= String(performance.now());
  }

  /** How far down the list may reach: as far as the panels beside it; null where there are none beside it. */
  #bottom(): number | null {
    const { root, panels } = this.#shell;
    if (panels.hidden || root.classList.contains("ubviz-narrow")) return null;
    return panels.getBoundingClientRect().bottom;
  }

  /** So many trace events round one, as far as they have come. */
  #entries(scene: Scene, at: number, rows: number): Entry[] {
    const { index, nav } = scene;
    const first = firstShown(at, index.count, rows);
    const found: Entry[] = [];
    for (let row = first; row < Math.min(first + rows, index.count); row++) {
      const thread = index.threads[nav.thread(row)];
      const says = scene.part(row)?.says(row) ?? "…";
      found.push({ at: row, t_ns: nav.t[row]!, says, ubatch: thread?.ubatch ?? null });
    }
    return found;
  }

  #fail(error: unknown): void {
    this.#shell.root.dataset.ubvizState = "error";
    this.#pause();
    this.#trouble.meet(error);
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

/** What the key was pressed in. */
function within(target: EventTarget | null): "field" | "button" | "else" {
  if (!(target instanceof HTMLElement)) return "else";
  if (target instanceof HTMLSelectElement) return "field";
  if (target instanceof HTMLInputElement) return target.type === "range" ? "else" : "field";
  return target instanceof HTMLButtonElement ? "button" : "else";
}
