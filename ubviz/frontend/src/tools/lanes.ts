/**
 * Lanes: pinned ones come first, the others among their kind in the order that they are given, hidden ones are not
 * shown, and that some are hidden is said as long as they are.
 */

import { button, icon, listen, make } from "../base/dom";
import { cut } from "../base/visible";
import { arrangedBy, placedLanes, type Arranged, type PlacedLane } from "../timeline/layout";
import type { Lane } from "../timeline/model";
import { counted, Panel, type Shared, type Tool } from "./tool";

const UP = "M4 9.5 8 5.5l4 4";
const DOWN = "M4 6.5l4 4 4-4";

export class Lanes implements Tool {
  readonly name = "Lanes: pin, hide, reorder";
  readonly key = "t";
  readonly word = "lanes";
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
    for (const name of ["pinned", "hidden", "arranged"] as const) view.link.on(name, () => this.#show());
    this.#show();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.stand();
    this.#list.querySelector("button")?.focus({ preventScroll: true });
  }

  stand(): void {
    this.#panel.show();
    this.#show();
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
    this.#show();
  }

  /** Hide the lane of what is selected. */
  hide(): void {
    const lane = this.#selected();
    if (lane) this.#toggle("hidden", lane);
  }

  /** Move the lane of what is selected up or down. */
  shift(by: -1 | 1): void {
    const lane = this.#selected();
    if (lane) this.#move(lane, by);
  }

  #selected(): Lane | null {
    const { view } = this.shared;
    const lane = view.items.primary && view.scene?.index.lanes[view.items.primary.lane];
    if (!lane) view.say("select something on the lane first");
    return lane ?? null;
  }

  #ids(which: keyof Arranged): number[] {
    return [...arrangedBy(this.shared.view.link)[which]];
  }

  /** All lanes as they are placed, hidden ones too. */
  get #placed(): PlacedLane[] {
    const { scene, link } = this.shared.view;
    return scene ? placedLanes(scene.index, arrangedBy(link)) : [];
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

  /** Past the next lane that is shown: of the pinned ones, or of its kind. */
  #move(lane: Lane, by: -1 | 1): void {
    const { view } = this.shared;
    const { lanes } = view.scene!.index;
    const name = cut(lane.name, 60);
    const id = (at: number) => lanes[at]!.id;
    const placed = this.#placed;
    const kind = placed.find(([at]) => id(at) === lane.id)![1];
    const hidden = this.#ids("hidden");
    const kin = placed.filter(([at, of]) => of === kind && (id(at) === lane.id || !hidden.includes(id(at)))).map(([at]) => id(at));
    const other = kin[kin.indexOf(lane.id) + by];
    if (other === undefined) {
      const end = by < 0 ? "first" : "last";
      return view.say(kind ? `${name} is the ${end} of its kind; pinned it goes above all others` : `${name} is the ${end}`);
    }
    if (kind === 0) view.link.set("pinned", moved(this.#ids("pinned"), lane.id, other));
    else {
      // where pinned ones are among their kind is not lost
      const all = placedLanes(view.scene!.index, { ...arrangedBy(view.link), pinned: [] })
        .filter(([, of]) => of === kind).map(([at]) => id(at));
      const rest = this.#ids("arranged").filter((each) => !all.includes(each));
      view.link.set("arranged", [...rest, ...moved(all, lane.id, other)]);
    }
    view.live.say(`${name} is ${by < 0 ? "above" : "below"} ${cut(lanes.find((each) => each.id === other)!.name, 60)}`);
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
    const focus = this.#focused();
    this.#list.replaceChildren(...this.#placed.map(([lane]) => this.#rowOf(lanes[lane]!, pinned, hidden)));
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
      const made = button(`Move ${name} ${word}`, `Move ${word}`, icon(path));
      made.dataset.of = `${word} ${lane.id}`;
      made.onclick = () => this.#move(lane, by);
      row.append(made);
    }
    return row;
  }
}

/** A number at the place of another. */
export function moved(ids: readonly number[], one: number, other: number): number[] {
  const place = ids.indexOf(other);
  const made = ids.filter((id) => id !== one);
  made.splice(place, 0, one);
  return made;
}
