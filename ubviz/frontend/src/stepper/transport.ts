/** The controls: steps, play, along a thread or an object, and a jump anywhere. */

import { button, icon, listen, make } from "../base/dom";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import type { Command } from "./keys";
import { dot, named } from "./seen";

const LEFT = "M10 3.5 5.5 8l4.5 4.5";
const RIGHT = "M6 3.5 10.5 8 6 12.5";
const FIRST = "M4 3.5v9M12 3.5 7.5 8l4.5 4.5";
const LAST = "M12 3.5v9M4 3.5 8.5 8 4 12.5";
const PLAY = "M5 3.2v9.6L12.5 8z";
const PAUSE = "M5.5 3.5v9M10.5 3.5v9";

/** Trace events a second. */
const SPEEDS = [0.5, 1, 2, 4, 8, 16];

export interface Place {
  at: number;
  count: number;
  says: string;
  thread: string;
  ubatch: number | null;
  object: string | null;
  /** Which commands lead somewhere. */
  open: ReadonlySet<Command>;
  playing: boolean;
}

export interface TransportHost {
  act(command: Command): void;
  jump(at: number): void;
}

export class Transport {
  readonly element: HTMLElement;
  readonly keys = button("Keys", "Keys (?)", "?");
  readonly #buttons = new Map<Command, HTMLButtonElement>();
  readonly #slider = make("input.slider", { type: "range", min: "0", step: "1", "aria-label": "Trace event" });
  readonly #number = make("input.number", { type: "number", min: "0", step: "1", "aria-label": "Go to trace event" });
  readonly #of = make("span.of");
  readonly #thread = make("span.of-name");
  readonly #object = make("span.of-name");
  readonly #speed = make("select.speed", { "aria-label": "Speed", title: "Trace events a second" });

  constructor(host: TransportHost, signal: AbortSignal) {
    const made = (command: Command, name: string, key: string, path: string) => {
      const element = button(name, `${name} (${key})`, icon(path));
      listen(element, "click", () => host.act(command), signal);
      this.#buttons.set(command, element);
      return element;
    };
    for (const speed of SPEEDS) {
      this.#speed.append(make("option", { value: String(speed) }, `${speed} a second`));
    }
    this.#speed.value = "2";
    this.keys.setAttribute("aria-expanded", "false");
    listen(this.keys, "click", () => host.act("keys"), signal);
    listen(this.#slider, "input", () => host.jump(Number(this.#slider.value)), signal);
    listen(this.#number, "change", () => this.#typed(host), signal);
    listen(this.#number, "keydown", (event) => {
      if (event.key === "Enter") this.#typed(host);
    }, signal);
    this.element = make("div.transport", { role: "group", "aria-label": "Stepper controls" },
      make("div.moves",
        made("first", "First", "Home", FIRST), made("back", "Step back", "←", LEFT),
        made("play", "Play", "Space", PLAY), made("forward", "Step forward", "→", RIGHT),
        made("last", "Last", "End", LAST), this.#speed),
      make("div.moves", { role: "group", "aria-label": "Along this thread" },
        made("previous of thread", "Previous of this thread", "Shift ←", LEFT), this.#thread,
        made("next of thread", "Next of this thread", "Shift →", RIGHT)),
      make("div.moves", { role: "group", "aria-label": "Along this object" },
        made("previous of object", "Previous of this object", "[", LEFT), this.#object,
        made("next of object", "Next of this object", "]", RIGHT)),
      make("div.jump", this.#slider, this.#number, this.#of, this.keys));
  }

  get perSecond(): number {
    return Number(this.#speed.value) || 2;
  }

  show(place: Place, palette: Palette): void {
    const { at, count, says, open, playing } = place;
    this.#slider.max = String(count - 1);
    this.#number.max = String(count - 1);
    if (this.#slider.value !== String(at)) this.#slider.value = String(at);
    if (document.activeElement !== this.#number || this.#number.value === "") this.#number.value = String(at);
    else if (Number(this.#number.value) !== at) this.#number.value = String(at);
    this.#slider.setAttribute("aria-valuetext", `trace event ${at} of ${count}: ${cut(says, 200)}`);
    this.#of.textContent = `of ${count}`;
    this.#thread.replaceChildren(dot(palette.ubatch(place.ubatch)), named(place.thread));
    this.#object.replaceChildren(place.object === null ? "no object" : named(place.object));
    for (const [command, element] of this.#buttons) {
      const can = command === "play" || open.has(command);
      if (element.getAttribute("aria-disabled") !== String(!can)) element.setAttribute("aria-disabled", String(!can));
    }
    this.#playing(playing);
  }

  #playing(on: boolean): void {
    const play = this.#buttons.get("play")!;
    const name = on ? "Pause" : "Play";
    if (play.getAttribute("aria-label") === name) return;
    play.setAttribute("aria-label", name);
    play.title = `${name} (Space)`;
    play.replaceChildren(icon(on ? PAUSE : PLAY));
  }

  /** What was typed, as far as it is a number; within the recording. */
  #typed(host: TransportHost): void {
    const { value } = this.#number;
    if (value.trim() !== "" && Number.isFinite(Number(value))) host.jump(Math.round(Number(value)));
  }
}
