/** Lanes: pinned ones come first, hidden ones are not shown, and that some are hidden is said as long as they are. */

import { button, icon, listen, make } from "../base/dom";
import { cut } from "../base/visible";
import type { Lane } from "../timeline/model";
import { counted, Panel, type Shared, type Tool } from "./tool";

const UP = "M4 9.5 8 5.5l4 4";
const DOWN = "M4 6.5l4 4 4-4";

export class Lanes implements Tool {
  readonly name = "Lanes: pin, hide, reorder";
  readonly key = "t";
  readonly #panel: Panel;
  readonly #words = make("span");
  readonly #all = button("Show all lanes", "Show all lanes", "Show all");
  readonly #list = make("ul.lanes");
  /** Said where the panel is closed. */
  readonly #note = make("p.hidden-note");

  constructor(private readonly shared: Shared) {
    const { view, signal, dock } = shared;
    this.#panel = new Panel(shared, "Lanes", () => this.close());
    this.#panel.head.append(this.#words, this.#all);
    this.#panel.body.append(this.#list);
    const more = make("button", { type: "button" }, "Show all");
    dock.append(this.#note);
    this.#note.append(make("span"), more);
    this.#note.hidden = true;
    for (const each of [this.#all, more]) listen(each, "click", () => view.link.set("hidden", []), signal);
    for (const name of ["pinned", "hidden"] as const) view.link.on(name, () => this.#show());
    this.#show();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.#panel.show();
    this.#show();
    this.#list.querySelector("button")?.focus({ preventScroll: true });
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.#show();
  }

  /** Hide the lane of what is selected. */
  hide(): void {
    const { view } = this.shared;
    const lane = view.items.primary && view.scene?.index.lanes[view.items.primary.lane];
    if (lane) this.#toggle("hidden", lane);
    else view.say("select something on the lane first");
  }

  #ids(which: "pinned" | "hidden"): number[] {
    return [...(this.shared.view.link.get(which) ?? [])];
  }

  #toggle(which: "pinned" | "hidden", lane: Lane): void {
    const { view } = this.shared;
    const ids = this.#ids(which);
    const is = ids.includes(lane.id);
    const shown = view.scene!.index.lanes.length - this.#ids("hidden").length;
    if (which === "hidden" && !is && shown <= 1) return view.say("the last lane stays");
    view.link.set(which, is ? ids.filter((id) => id !== lane.id) : [...ids, lane.id]);
    const words = which === "pinned" ? (is ? "unpinned" : "pinned") : is ? "shown" : "hidden";
    view.live.say(`${cut(lane.name, 60)} is ${words}`);
  }

  #move(lane: Lane, by: -1 | 1): void {
    const ids = this.#ids("pinned");
    const at = ids.indexOf(lane.id);
    const other = ids[at + by];
    if (other === undefined) return;
    [ids[at], ids[at + by]] = [other, lane.id];
    this.shared.view.link.set("pinned", ids);
    this.shared.view.live.say(`${cut(lane.name, 60)} is pinned at place ${at + by + 1}`);
  }

  #show(): void {
    const { scene } = this.shared.view;
    if (!scene) return;
    const { lanes } = scene.index;
    const [pinned, hidden] = [this.#ids("pinned"), this.#ids("hidden")];
    const gone = lanes.filter((lane) => hidden.includes(lane.id));
    const words = gone.length ? `${counted(gone.length, "lane is", "lanes are")} hidden: `
      + cut(gone.map((lane) => lane.name).join(", "), 160) : "all lanes are shown";
    this.#words.textContent = words;
    this.#note.firstElementChild!.textContent = words;
    this.#note.hidden = this.open || gone.length === 0;
    this.#all.hidden = gone.length === 0;
    if (!this.open) return this.#list.replaceChildren();
    const first = pinned.flatMap((id) => lanes.find((lane) => lane.id === id) ?? []);
    const focus = this.#focused();
    this.#list.replaceChildren(...[...first, ...lanes.filter((lane) => !first.includes(lane))]
      .map((lane) => this.#rowOf(lane, pinned, hidden)));
    if (focus) this.#list.querySelector<HTMLElement>(`[data-of="${focus}"]`)?.focus({ preventScroll: true });
  }

  #focused(): string | undefined {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.#list.contains(active) ? active.dataset.of : undefined;
  }

  #rowOf(lane: Lane, pinned: readonly number[], hidden: readonly number[]): HTMLElement {
    const name = cut(lane.name, 60);
    const toggle = (which: "pinned" | "hidden", word: string) => {
      const is = (which === "pinned" ? pinned : hidden).includes(lane.id);
      const made = button(`${word} ${name}`, `${word} ${name}`, word);
      made.setAttribute("aria-pressed", String(is));
      made.dataset.of = `${which} ${lane.id}`;
      made.onclick = () => this.#toggle(which, lane);
      return made;
    };
    const subs = lane.subs > 1 ? make("small", ` ${lane.subs} sub-lanes`) : "";
    const row = make("li", make("span", { dir: "auto" }, name, subs), toggle("pinned", "Pin"), toggle("hidden", "Hide"));
    for (const [by, word, path] of [[-1, "up", UP], [1, "down", DOWN]] as const) {
      if (!pinned.includes(lane.id)) continue;
      const made = button(`Move ${name} ${word}`, `Move ${word}`, icon(path));
      made.dataset.of = `${word} ${lane.id}`;
      made.onclick = () => this.#move(lane, by);
      row.append(made);
    }
    return row;
  }
}
