/** Notes at moments: written here or in Python, numbered in the picture, saved with the recording and in a page. */

import { button, icon, listen, make } from "../base/dom";
import { moment } from "../base/format";
import { revealed } from "../base/range";
import { visible } from "../base/visible";
import type { Note } from "../timeline/model";
import type { Paint } from "./layer";
import { counted, Panel, type Shared, type Tool } from "./tool";

const CROSS = "M4.5 4.5l7 7M11.5 4.5l-7 7";
const RADIUS = 8;

export class Notes implements Tool {
  readonly name = "Notes";
  readonly key = "b";
  readonly word = "notes";
  readonly #panel: Panel;
  readonly #field = make("input", { type: "text", placeholder: "a note", autocomplete: "off", maxlength: "1000" });
  readonly #add = make("button", { type: "button" }, "Add");
  readonly #where = make("span.soft");
  readonly #list = make("ol.notes");
  readonly #paint = (paint: Paint) => this.#draw(paint);

  constructor(private readonly shared: Shared) {
    const { view, signal } = shared;
    this.#panel = new Panel(shared, this.name, () => this.close());
    this.#panel.head.append(this.#field, this.#add, this.#where);
    this.#panel.body.append(this.#list);
    listen(this.#add, "click", () => this.#write(), signal);
    listen(this.#field, "keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      this.#write();
    }, signal);
    view.link.on("notes", () => this.#show());
    for (const name of ["cursor", "selection"] as const) view.link.on(name, () => this.#place());
    this.#show();
  }

  get open(): boolean {
    return this.#panel.open;
  }

  use(): void {
    if (this.open) return this.close();
    this.stand();
    this.#field.focus({ preventScroll: true });
  }

  stand(): void {
    this.#panel.show();
    this.#place();
  }

  close(): void {
    this.#panel.hide(this.shared.view.shell.stage);
  }

  painted(base: boolean): void {
    if (base) this.#place();
  }

  get #notes(): readonly Note[] {
    return soundNotes(this.shared.view.link.get("notes"));
  }

  /** The moment that a note is about: where the selection begins, else the cursor, else the middle of what is seen. */
  get #moment(): number {
    const { items: { primary }, link, range: [a, b] } = this.shared.view;
    return Math.round(primary?.start ?? link.get("cursor") ?? (a + b) / 2);
  }

  #at(ns: number): string {
    return moment(ns - this.shared.view.scene!.index.origin_ns, 100);
  }

  #place(): void {
    if (!this.open) return;
    const words = `at ${this.#at(this.#moment)}`;
    this.#where.textContent = words;
    this.#field.setAttribute("aria-label", `Note ${words}`);
  }

  #write(): void {
    const { view } = this.shared;
    const text = this.#field.value.trim();
    if (!text) return view.say("write what the note says");
    const notes = [...this.#notes, [this.#moment, text] as const].sort(([a], [b]) => a - b);
    this.#field.value = "";
    view.link.set("notes", notes);
    view.live.say(`a note ${this.#where.textContent}; ${counted(notes.length, "note")}`);
  }

  #show(): void {
    const { view, layer } = this.shared;
    const notes = this.#notes;
    if (notes.length) layer.add(this.#paint);
    else layer.remove(this.#paint);
    layer.soon();
    if (!view.scene) return;
    const inside = this.#list.contains(document.activeElement);
    this.#list.replaceChildren(...notes.map((note, i) => this.#rowOf(note, i)));
    if (inside) this.#field.focus({ preventScroll: true });
  }

  #rowOf([ns, text]: Note, i: number): HTMLElement {
    const { view } = this.shared;
    const go = make("button.note-text", { type: "button", dir: "auto" }, make("b", this.#at(ns)), ` ${visible(text)}`);
    go.onclick = () => {
      view.link.set("cursor", ns);
      if (view.axis) view.enter(revealed(view.range, ns, ns));
    };
    const away = button(`Remove note ${i + 1}`, "Remove", icon(CROSS));
    away.onclick = () => view.link.set("notes", this.#notes.filter((_, other) => other !== i));
    return make("li", make("span.soft", String(i + 1)), go, away);
  }

  #draw({ ctx, palette, layout, left, right, height, x }: Paint): void {
    ctx.font = "600 10px Inter, system-ui, sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    const y = layout.rulerY + 19;
    for (const { at, label } of groupsOf(this.#notes.map(([ns]) => Math.round(x(ns))))) {
      if (at < left - RADIUS || at > right + RADIUS) continue;
      ctx.fillStyle = palette.soft;
      for (let dot = y; dot < height; dot += 5) ctx.fillRect(at, dot, 1, 2);
      ctx.fillStyle = palette.ink;
      const half = Math.max(RADIUS, ctx.measureText(label).width / 2 + 5);
      ctx.beginPath();
      ctx.roundRect(at + 0.5 - half, y - RADIUS, 2 * half, 2 * RADIUS, RADIUS);
      ctx.fill();
      ctx.fillStyle = palette.background;
      ctx.fillText(label, at + 0.5, y + 0.5);
    }
  }
}

/** Notes that would lie over one another are one sign: at the first of them, "2–4". */
export function groupsOf(places: readonly number[]): { at: number; label: string }[] {
  const found: { at: number; first: number; last: number }[] = [];
  places.forEach((at, i) => {
    const before = found[found.length - 1];
    if (before && at - before.at < 2 * RADIUS + 2) before.last = i + 1;
    else found.push({ at, first: i + 1, last: i + 1 });
  });
  return found.map(({ at, first, last }) => ({ at, label: first === last ? `${first}` : `${first}\u2013${last}` }));
}

/** What a model holds, as far as it is notes. */
export function soundNotes(value: unknown): Note[] {
  if (!Array.isArray(value)) return [];
  return value.filter((note): note is Note =>
    Array.isArray(note) && note.length === 2 && Number.isFinite(note[0]) && typeof note[1] === "string");
}
