/** The elements that are there as long as the stepper is. */

import { make } from "../base/dom";

export interface Shell {
  root: HTMLElement;
  title: HTMLElement;
  /** Where the keys go: what has just happened. */
  stage: HTMLElement;
  says: HTMLElement;
  when: HTMLElement;
  /** Code and list beside the panels. */
  columns: HTMLElement;
  code: HTMLElement;
  panels: HTMLElement;
}

export interface Parts {
  transport: HTMLElement;
  problem: HTMLElement;
  list: HTMLElement;
  live: HTMLElement;
}

export function shellOf(parts: Parts): Shell {
  const title = make("div.title", { dir: "auto" });
  const says = make("p.says", { dir: "auto" });
  const when = make("p.when");
  const stage = make("div.step-stage", { tabindex: "0", role: "application", "aria-roledescription": "stepper" },
    when, says);
  const code = make("div.code");
  const panels = make("div.panels");
  const columns = make("div.columns", make("div.beside", code, parts.list), panels);
  const root = make("section", { class: "ubviz ubviz-stepper", role: "group" },
    title, parts.problem, stage, parts.transport, columns, parts.live);
  root.dataset.ubvizState = "loading";
  return { root, title, stage, says, when, columns, code, panels };
}
