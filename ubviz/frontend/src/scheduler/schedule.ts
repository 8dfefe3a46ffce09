/** Replay strings: thread numbers, runs of one thread as 3x5, joined by dots; as Python writes and reads them. */

import type { Game } from "./model";

/** A run of so many choices is a mistake: it would be walked for minutes. */
const MOST = 100_000;

export function written(threads: readonly number[], prefix: string): string {
  const runs: [thread: number, count: number][] = [];
  for (const thread of threads) {
    const last = runs[runs.length - 1];
    if (last && last[0] === thread) last[1] += 1;
    else runs.push([thread, 1]);
  }
  return prefix + runs.map(([thread, count]) => (count > 1 ? `${thread}x${count}` : thread)).join(".");
}

/** The thread numbers of a replay string; an Error with a sentence where it is none. */
export function read(steps: string): number[] {
  const threads: number[] = [];
  (steps === "" ? [] : steps.split(".")).forEach((part, i) => {
    const [, thread, count = "1"] = /^(\d{1,6})(?:x(\d{1,9}))?$/.exec(part) ?? [];
    if (thread === undefined) {
      throw new Error(`Part ${i + 1} of the replay string, “${part}”, is no thread number like 2 or 2x14.`);
    }
    if (threads.length + Number(count) > MOST) throw new Error(`The replay string makes more than ${MOST} choices.`);
    for (let n = 0; n < Number(count); n++) threads.push(Number(thread));
  });
  return threads;
}

/** The states that a list of choices goes through, the first one included. */
export function walked(game: Game, threads: readonly number[]): number[] {
  const states = [game.start];
  threads.forEach((thread, i) => {
    const { able, next } = game.nodes[states[i]];
    const to = next[able.indexOf(thread)];
    if (to === undefined) {
      const who = game.threads[thread] ?? `thread ${thread}`;
      throw new Error(`Choice ${i + 1} of the replay string lets ${who} go on, which cannot: it is of another program.`);
    }
    states.push(to);
  });
  return states;
}

/** The choices that a replay string of this program makes, and the states that they go through. */
export function opened(game: Game, text: string): { threads: number[]; states: number[] } {
  const { prefix } = game;
  const [, before, steps] = /^([a-z]+:)?(.*)$/s.exec(text.trim())!;
  if (steps !== "" && (before ?? "") !== prefix) {
    throw new Error(prefix ? `A replay string of this program begins with “${prefix}”.`
      : `A replay string of this program does not begin with “${before}”.`);
  }
  const threads = read(steps);
  return { threads, states: walked(game, threads) };
}
