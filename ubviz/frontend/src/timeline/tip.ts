/** The tip beside the pointer: what is there, in four lines at most. */

import type { Data, Item } from "./data";
import { follow } from "./fields";
import { make } from "../base/dom";
import type { Index } from "./model";
import { max, min, round } from "../base/numbers";
import { cut } from "../base/visible";
import { belongsTo, nameOf, timesOf, waitOf } from "./words";

const AWAY = 14;
const EDGE = 4;

export interface TipWords {
  name: string;
  lines: string[];
}

/** Name; where it belongs; when and how long; and until what it waits. */
export function tipWords(item: Item, data: Pick<Data, "flowsOf" | "item">, index: Index): TipWords {
  const lane = index.lanes[item.lane]?.name ?? "";
  const place = [...belongsTo(item), `on ${lane}`].map((part) => cut(part, 48)).join(" · ");
  const lines = [place, timesOf(item, index)];
  if (waitOf(item) !== null) {
    const cause = follow("causes", data.flowsOf([item.table, item.row]).causes);
    const what = cause && data.item(cause.row);
    if (what) lines.push(`until ${cut(nameOf(what), 48)} on ${cut(index.lanes[what.lane]?.name ?? "", 24)}`);
  }
  return { name: cut(nameOf(item), 64), lines };
}

export class Tip {
  readonly element = make("div.tip", { "aria-hidden": "true" });

  constructor(private readonly root: HTMLElement) {
    this.element.hidden = true;
  }

  /** Beside (x, y) of the root: right and below where there is room, and never over the root's edges. */
  show(words: TipWords, x: number, y: number): void {
    const lines = words.lines.map((line) => make("div", { dir: "auto" }, line));
    this.element.replaceChildren(make("strong", { dir: "auto" }, words.name), ...lines);
    this.element.hidden = false;
    const room = [this.root.clientWidth, this.root.clientHeight] as const;
    const size = [this.element.offsetWidth, this.element.offsetHeight] as const;
    const left = x + AWAY + size[0] + EDGE > room[0] ? x - AWAY - size[0] : x + AWAY;
    const top = y + AWAY + size[1] + EDGE > room[1] ? y - AWAY - size[1] : y + AWAY;
    const kept = (at: number, i: 0 | 1) => max(min(at, room[i] - size[i] - EDGE), EDGE);
    this.element.style.transform = `translate(${round(kept(left, 0))}px, ${round(kept(top, 1))}px)`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
