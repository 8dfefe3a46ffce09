/** The panel that lists the keys. */

import { button, listen, make } from "../base/dom";
import type { Timeline } from "../timeline/timeline";

type Line = [keys: string[], words: string];

/** In the order in which one learns them. */
const MOVES: Line[] = [
  [["←", "→"], "previous, next on its lane"], [["W", "S"], "zoom in, out"],
  [["↑", "↓"], "nearest on the lane above, below"], [["A", "D"], "pan left, right"],
  [["[", "]"], "along an arrow to its cause, effect"], [["Home"], "back to the step"],
  [["Enter"], "into the details"], [["Shift", "Home"], "everything"],
  [["F"], "frame the selection"], [["O"], "by the clock, or in order"],
  [["Esc"], "close what is open, clear the selection"], [["?"], "these keys"],
];

const TOOLS: Line[] = [
  [["/"], "search"], [[",", "."], "previous, next match"],
  [["R"], "area round the selection: count, sum, mean"], [["Shift", "R"], "area as far as the selection"],
  [["M"], "ruler; again at another item: measure"], [["H"], "one hop: direct causes or effects"],
  [["L"], "list of what is shown"], [["V"], "overview of the recording"],
  [["T"], "lanes: pin, hide, reorder"], [["X"], "hide the lane of the selection"],
  [["C"], "critical path"],
  [["P"], "past: what must come before it"], [["N"], "future: what must come after it"],
];

const POINTER = "Drag to pan. Scroll to zoom once the timeline has the focus, or with Ctrl."
  + " Click to select, with Ctrl or Shift to add. Double click to frame. Drag with Shift for an area.";

export class Keys {
  readonly element = make("div.keys", { role: "dialog", "aria-label": "Keys", tabindex: "-1" });
  #before: Element | null = null;

  constructor(private readonly view: Timeline) {
    const close = button("Close", "Close (Esc)", "Close");
    listen(close, "click", () => this.toggle(), view.signal);
    this.element.append(listOf(MOVES), make("h3", "Tools"), listOf(TOOLS), make("p", POINTER), close);
    this.element.hidden = true;
    view.shell.stage.after(this.element);
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  /** Open it, or close it and lead the focus back to where it came from. */
  toggle(): void {
    const { toolbar, shell: { stage } } = this.view;
    this.element.hidden = this.open;
    toolbar.keys.setAttribute("aria-expanded", String(this.open));
    if (this.open) this.#before = document.activeElement;
    const to = this.open ? this.element : this.#before instanceof HTMLElement ? this.#before : stage;
    to.focus({ preventScroll: true });
  }
}

function listOf(lines: readonly Line[]): HTMLElement {
  const list = make("dl");
  for (const [keys, words] of lines) {
    list.append(make("dt", ...keys.map((key) => make("kbd", key))), make("dd", words));
  }
  return list;
}
