/** Which keys the timeline and its tools have, as its panel lists them. */

import { make } from "../base/dom";
import { KeysPanel, listOf, type Line } from "../base/keys_panel";
import type { Timeline } from "../timeline/timeline";

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
  [["B"], "write a note"], [["C"], "critical path"], [["K", "J"], "move the lane of the selection up, down"],
  [["P"], "past: what must come before it"], [["N"], "future: what must come after it"],
];

const POINTER = "Drag to pan. Scroll to zoom once the timeline has the focus, or with Ctrl."
  + " Click to select, with Ctrl or Shift to add. Double click to frame. Drag with Shift for an area.";

export function keysOf(view: Timeline): KeysPanel {
  const { signal, toolbar, shell: { stage } } = view;
  const parts = [listOf(MOVES), make("h3", "Tools"), listOf(TOOLS), make("p", POINTER)];
  const panel = new KeysPanel(parts, toolbar.keys, stage, signal);
  stage.after(panel.element);
  return panel;
}
