/** The elements of a view and where they stand; what is in them comes from elsewhere. */

import { make } from "../base/dom";
import { duration } from "../base/format";
import type { Index } from "./model";
import { cut } from "../base/visible";

export interface Shell {
  root: HTMLElement;
  title: HTMLElement;
  stage: HTMLElement;
  base: HTMLCanvasElement;
  front: HTMLCanvasElement;
  /** Said in the stage: why it is empty, or for whom it waits. */
  note: HTMLElement;
  hint: HTMLElement;
}

export interface Parts {
  toolbar: HTMLElement;
  problem: HTMLElement;
  details: HTMLElement;
  legend: HTMLElement;
  numbers: HTMLElement;
  live: HTMLElement;
}

export function shellOf(parts: Parts): Shell {
  const id = `ubviz-${Math.random().toString(36).slice(2)}`;
  const title = make("div.title", { dir: "auto" });
  const hint = make("div.unseen", { id });
  const base = make("canvas.base", { "aria-hidden": "true" });
  const front = make("canvas.overlay", { "aria-hidden": "true" });
  const note = make("div.note");
  note.hidden = true;
  const stage = make("div.stage", { tabindex: "0", role: "application", "aria-roledescription": "timeline",
    "aria-describedby": id }, base, front, note);
  const body = make("div.body", stage);
  const root = make("section", { class: "ubviz ubviz-timeline", role: "group" },
    make("div.bar", title, parts.toolbar), parts.problem, body, parts.legend,
    parts.numbers, parts.details, hint, parts.live);
  root.dataset.ubvizState = "loading";
  root.dataset.ubvizSeq = "0";
  return { root, title, stage, base, front, note, hint };
}

/** What a recording is called, for those who see it and for those who do not. */
export function named({ root, stage, title, hint }: Shell, index: Index): void {
  const label = cut(index.label, 400);
  root.setAttribute("aria-label", label);
  stage.setAttribute("aria-label", label);
  title.textContent = index.title ? cut(index.title, 120) : "";
  const lanes = index.lanes.length === 1 ? "1 lane" : `${index.lanes.length} lanes`;
  hint.textContent = `${lanes}, ${duration(index.end_ns - index.begin_ns)} in all. `
    + "The arrow keys go from item to item, a question mark shows all keys.";
}
