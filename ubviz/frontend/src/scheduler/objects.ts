/** What the threads share: host events as lights, barriers with their seats, and whose turn it is. */

import { make } from "../base/dom";
import type { Palette } from "../base/theme";
import { cut } from "../base/visible";
import { isMicrobatch, ownerOf, paint, ubatchOf } from "./colours";
import type { Game, Node } from "./model";
import { actOf, listed, sleepers } from "./words";

/** More seats than that are only counted. */
const MOST_SEATS = 12;

export class Objects {
  readonly element = make("ul.objects", { "aria-label": "What the threads share" });

  constructor(private readonly game: Game) {}

  show(node: Node, palette: Palette): void {
    const { game } = this;
    const lights = game.host_events.map((name, i) => this.#light(node, palette, name, node.flags[i]));
    const barriers = game.barriers.map((_, i) => this.#barrier(node, palette, i));
    const turn = game.threads.some(isMicrobatch) ? [this.#turn(node)] : [];
    this.element.replaceChildren(...lights, ...barriers, ...turn);
    this.element.hidden = this.element.childElementCount === 0;
  }

  #light(node: Node, palette: Palette, name: string, flag: number): HTMLElement {
    const asleep = sleepers(this.game, node, name).map((thread) => this.game.threads[thread]);
    const says = flag < 0 ? "not made yet" : flag === 1 ? "up" : "down";
    const light = make("span.light", { "aria-hidden": "true" });
    light.dataset.up = String(flag === 1);
    const made = make("li.object", light, make("b", { dir: "auto" }, cut(name, 60)), make("span", says),
      ...(asleep.length > 0 ? [make("span.asleep", { dir: "auto" }, `${listed(asleep, "and")} asleep`)] : []));
    paint(made, palette, ownerOf(name));
    return made;
  }

  #barrier(node: Node, palette: Palette, number: number): HTMLElement {
    const { game } = this;
    const { name, parties } = game.barriers[number];
    const [n, opened, broken] = node.barriers[number];
    const here = game.threads.map((_, thread) => thread).filter((thread) => {
      const act = actOf(game, node, thread);
      return act?.kind === "barrier.release" && act.object === name && !node.able.includes(thread);
    });
    const seats = make("span.seats", { "aria-hidden": "true" });
    for (let i = 0; i < parties && parties <= MOST_SEATS; i++) {
      const seat = make("i.seat");
      seat.dataset.taken = String(i < n);
      const thread = here[i];
      paint(seat, palette, thread === undefined ? null : ubatchOf(game.threads[thread], thread));
      seats.append(seat);
    }
    const says = broken ? "broken" : n < 0 ? "not made yet" : n === 0 && opened > 0 ? "has opened"
      : `${n} of ${parties} there`;
    return make("li.object", seats, make("b", { dir: "auto" }, cut(name, 60)), make("span", says));
  }

  #turn(node: Node): HTMLElement {
    const names = node.turn.map((thread) => this.game.threads[thread]);
    const made = make("li.object", make("b", "turn"), make("span", { dir: "auto" },
      names.length > 1 ? `${listed(names, "and")}: ${names.length} awake at once` : listed(names, "and")));
    if (names.length > 1) made.classList.add("ubviz-wrong");
    return made;
  }
}
