/** How it ended: at a deadlock who waits for what, at which line, and who could have ended the wait. */

import { listen, make } from "../base/dom";
import type { Palette } from "../base/theme";
import { cut, visible } from "../base/visible";
import { paint, ubatchOf } from "./colours";
import type { End, Game, Node } from "./model";
import { actOf, counted, couldHaveSet } from "./words";

const MOST_FINDINGS = 4;

/** What can be done at the end. */
export interface Ways {
  undo(): void;
  startAgain(): void;
}

export class Report {
  readonly element = make("section.report", { role: "group", "aria-label": "How it ended", tabindex: "-1" });
  readonly #ways: HTMLElement;

  constructor(private readonly game: Game, ways: Ways, signal: AbortSignal) {
    const undo = make("button", { type: "button" }, "Take the last choice back");
    const again = make("button", { type: "button" }, "Start again");
    listen(undo, "click", () => ways.undo(), signal);
    listen(again, "click", () => ways.startAgain(), signal);
    this.#ways = make("div.ways", undo, again);
    this.element.hidden = true;
  }

  show(node: Node, choices: number, schedule: string, palette: Palette): void {
    const end = node.end === null ? null : this.game.ends[node.end];
    this.element.hidden = end === null;
    if (!end) return;
    this.element.dataset.verdict = end.verdict;
    const heading = make("h4", titleOf(end, choices));
    this.element.replaceChildren(heading, ...this.#body(end, node, schedule, palette), this.#ways);
  }

  #body(end: End, node: Node, schedule: string, palette: Palette): HTMLElement[] {
    const { game } = this;
    const parts: HTMLElement[] = [];
    if (end.lines.length > 0) parts.push(make("ul", ...end.lines.map((line) => this.#line(line, node, palette))));
    const found = end.findings.filter((finding) => finding.kind !== end.verdict);
    if (found.length > 0) {
      // states merge: what was found is that of one walk to this end, which need not be this one
      const where = schedule === end.replay ? "Found:" : "Found on the shortest way here:";
      parts.push(make("p", where), make("ul", ...found.slice(0, MOST_FINDINGS).map(findingOf)));
      if (found.length > MOST_FINDINGS) parts.push(make("p", `and ${found.length - MOST_FINDINGS} more`));
    }
    if (end.verdict === "done") {
      parts.push(make("p", game.interleavings === 1 ? "It is the only schedule of this program."
        : `It is one of ${counted(game.interleavings, "schedule")} of this program.`));
    }
    return parts;
  }

  /** A line of the report, and who could have ended the wait. */
  #line(line: string, node: Node, palette: Palette): HTMLElement {
    const { game } = this;
    const thread = threadOf(game, line);
    const made = make("li", make("span.dot", { "aria-hidden": "true" }), make("span", { dir: "auto" }, ...breakable(line)));
    paint(made, palette, thread < 0 ? null : ubatchOf(game.threads[thread], thread));
    const act = thread < 0 ? null : actOf(game, node, thread);
    if (act?.kind === "host_event.wait") {
      made.append(make("small", { dir: "auto" }, couldHaveSet(game, node, thread, act.object)));
    }
    return made;
  }
}

function findingOf({ severity, sentence }: End["findings"][number]): HTMLElement {
  const made = make("li", make("span", { dir: "auto" }, ...breakable(sentence)));
  made.dataset.severity = severity;
  return made;
}

/** A text that may be broken after the slashes of its paths. */
const breakable = (text: string): (string | HTMLElement)[] =>
  visible(text).split(/(?<=\/)/).flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part]));

/** The thread that a line begins with; the longest of the names, since one may begin another. */
function threadOf(game: Game, line: string): number {
  let found = -1;
  game.threads.forEach((name, thread) => {
    if (line.startsWith(`${name} `) && (found < 0 || name.length > game.threads[found].length)) found = thread;
  });
  return found;
}

export function titleOf(end: End, choices: number): string {
  const after = `after ${counted(choices, "choice")}`;
  if (end.verdict === "deadlock") return `Deadlock ${after}: nobody can go on`;
  if (end.verdict === "raised") return `All have ended ${after}, and something was raised`;
  const wrong = end.findings.some((finding) => finding.severity === "error");
  return `All have ended ${after}${wrong ? ", but not well" : ""}`;
}

/** The whole report in a breath, for who does not see it. */
export function spoken(end: End, choices: number): string {
  return [titleOf(end, choices), ...end.lines.map((line) => cut(line, 300))].join(". ");
}
