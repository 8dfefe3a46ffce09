/** Where one is: what was chosen, what was taken back and may be taken again, and all that was tried before. */

import type { Game, Node } from "./model";
import { walked, written } from "./schedule";

/** More than can be looked through. */
const MOST_TRIED = 40;

export class Walk {
  /** All choices, those taken back included; the first `at` of them are made. */
  threads: number[] = [];
  at = 0;
  /** Each schedule that was tried, as far as it was; none is the beginning of another one. */
  readonly tried: number[][] = [];
  #states: number[];

  constructor(readonly game: Game) {
    this.#states = [game.start];
  }

  get made(): number[] {
    return this.threads.slice(0, this.at);
  }

  get schedule(): string {
    return written(this.made, this.game.prefix);
  }

  get node(): Node {
    return this.state(this.at);
  }

  /** The state after so many choices. */
  state(at: number): Node {
    return this.game.nodes[this.#states[at]];
  }

  /** Let a thread go on; false if it cannot. What was taken back stays ahead where it is chosen again. */
  choose(thread: number): boolean {
    if (!this.node.able.includes(thread)) return false;
    if (this.threads[this.at] !== thread) this.threads = [...this.made, thread];
    this.#to(this.threads, this.at + 1);
    return true;
  }

  /** Go to where so many of the choices are made. */
  go(at: number): void {
    this.#to(this.threads, Math.min(Math.max(at, 0), this.threads.length));
  }

  /** Make these choices; what lies ahead stays there if they are its beginning. */
  open(threads: readonly number[]): void {
    const ahead = threads.every((thread, i) => thread === this.threads[i]);
    this.#to(ahead ? this.threads : [...threads], threads.length);
  }

  #to(threads: number[], at: number): void {
    this.#states = walked(this.game, threads);
    [this.threads, this.at] = [threads, at];
    this.#remember(threads);
  }

  #remember(threads: readonly number[]): void {
    const begins = (a: readonly number[], b: readonly number[]) => a.every((thread, i) => thread === b[i]);
    if (threads.length === 0 || this.tried.some((known) => begins(threads, known))) return;
    const shorter = this.tried.findIndex((known) => begins(known, threads));
    if (shorter >= 0) this.tried.splice(shorter, 1, [...threads]);
    else this.tried.push([...threads]);
    if (this.tried.length > MOST_TRIED) this.tried.shift();
  }
}
