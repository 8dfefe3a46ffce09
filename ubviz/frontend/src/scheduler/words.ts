/** What a thread is about to do, why it cannot, and what it has done, in plain words. */

import { visible } from "../base/visible";
import { ENDED, NOT_STARTED, type Act, type Game, type Node } from "./model";
import { whoDoes } from "./wiring";

export type Standing = "able" | "waits" | "ended" | "absent";

/** How a thread stands: in a word, what it does next, and what is known of that. */
export interface Stand {
  standing: Standing;
  doing: string;
  why: string;
}

/** "main", "main or ubatch 0", "main, ubatch 0 or ubatch 1". */
export function listed(names: readonly string[], joint: "and" | "or"): string {
  const shown = names.map((name) => visible(name));
  const last = shown.pop();
  return shown.length === 0 ? last ?? "nobody" : `${shown.join(", ")} ${joint} ${last}`;
}

export const counted = (n: number, what: string) => `${written(n)} ${what}${n === 1 ? "" : "s"}`;

/** A whole number; one of which a page does not know the last digits by its size: "about 1.5 × 10^18". */
function written(n: number): string {
  if (n <= Number.MAX_SAFE_INTEGER) return n.toLocaleString("en-US");
  const [digits, power] = n.toExponential(1).split("e+");
  return `about ${digits} × 10^${power}`;
}

export function actOf(game: Game, node: Node, thread: number): Act | null {
  return game.acts[node.acts[thread]] ?? null;
}

export function standOf(game: Game, node: Node, thread: number): Stand {
  const act = actOf(game, node, thread);
  if (node.acts[thread] === NOT_STARTED) return { standing: "absent", doing: "has not been started", why: "" };
  if (node.acts[thread] === ENDED || !act) return { standing: "ended", doing: "has ended", why: "" };
  const able = node.able.includes(thread);
  const [doing, why] = able ? next(game, node, act) : stuck(game, node, thread, act);
  return { standing: able ? "able" : "waits", doing, why };
}

/** Whether the host event of this name is up; undefined where there is none. */
function isUp(game: Game, node: Node, name: string): boolean | undefined {
  const flag = node.flags[game.host_events.indexOf(name)];
  return flag === undefined || flag < 0 ? undefined : flag === 1;
}

/** The threads that sleep on a host event now, and need a set of it to go on. */
export function sleepers(game: Game, node: Node, name: string): number[] {
  return game.threads.map((_, thread) => thread).filter((thread) => {
    const act = actOf(game, node, thread);
    return act?.kind === "host_event.wait" && act.object === name && !node.able.includes(thread);
  });
}

function barrierOf(game: Game, node: Node, name: string): { n: number; parties: number } | null {
  const at = game.barriers.findIndex((barrier) => barrier.name === name);
  return at < 0 ? null : { n: Math.max(node.barriers[at][0], 0), parties: game.barriers[at].parties };
}

type Next = (game: Game, node: Node, act: Act, name: string) => [doing: string, why: string];

const NEXT: Record<string, Next> = {
  "host_event.set": (game, node, act, name) => {
    const asleep = sleepers(game, node, act.object).map((thread) => game.threads[thread]);
    if (asleep.length > 0) return [`set ${name}`, `wakes ${listed(asleep, "and")}`];
    const up = isUp(game, node, act.object);
    return [`set ${name}`, up ? "it is up already: one more set changes nothing" : "nobody sleeps on it: the flag stays up"];
  },
  "host_event.clear": (game, node, act, name) => [`clear ${name}`,
    isUp(game, node, act.object) ? "it is up: the flag goes down" : "it is down already: nothing changes"],
  "host_event.wait": (game, node, act, name) => ["go on", isUp(game, node, act.object)
    ? `${name} is up: the wait is over` : `a set of ${name} has woken it`],
  "host_event.look": (game, node, act, name) => [`look at ${name}`,
    isUp(game, node, act.object) ? "it is up: the wait is over" : "it is down: falls asleep"],
  "host_event.is_set": (game, node, act, name) => [`ask whether ${name} is up`,
    isUp(game, node, act.object) ? "it is up" : "it is down"],
  "barrier.arrive": (game, node, act, name) => {
    const barrier = barrierOf(game, node, act.object);
    if (!barrier) return [`arrive at ${name}`, ""];
    const last = barrier.n + 1 === barrier.parties;
    return [`arrive at ${name}`, last ? `the last of ${barrier.parties}: it opens` : `${barrier.n} of ${barrier.parties} are there`];
  },
  "barrier.release": (_game, _node, _act, name) => [`pass ${name}`, "it has opened"],
  "barrier.abort": (_game, _node, _act, name) => [`abort ${name}`, "whoever waits there is told"],
  "barrier.reset": (_game, _node, _act, name) => [`reset ${name}`, ""],
  "thread.join": (_game, _node, _act, name) => [`join ${name}`, "it has ended"],
};

function next(game: Game, node: Node, act: Act): [string, string] {
  const name = visible(act.object);
  return NEXT[act.kind]?.(game, node, act, name) ?? [visible(act.words), ""];
}

function stuck(game: Game, node: Node, thread: number, act: Act): [string, string] {
  const name = visible(act.object);
  if (act.kind === "host_event.wait") {
    return [`waits for ${name}`, `${isUp(game, node, act.object) ? "asleep" : "it is down"}; ${couldSet(game, node, thread, act.object)}`];
  }
  if (act.kind === "barrier.release") {
    const barrier = barrierOf(game, node, act.object);
    return [`waits at ${name}`, barrier ? `${barrier.n} of ${barrier.parties} are there` : ""];
  }
  if (act.kind === "thread.join") return [`waits for ${name} to end`, "it has not ended"];
  return [`waits: ${visible(act.words)}`, ""];
}

/** Who sets a host event in this program, and how each of them stands: "ubatch 1 sets it, and has ended". */
export function couldSet(game: Game, node: Node, waiter: number, object: string): string {
  const others = whoDoes(game, "host_event.set", object).filter((thread) => thread !== waiter);
  if (others.length === 0) return "nobody else ever sets it";
  const gone = others.filter((thread) => node.acts[thread] === ENDED).map((thread) => game.threads[thread]);
  const names = listed(others.map((thread) => game.threads[thread]), "and");
  const verb = others.length === 1 ? "sets it" : "set it";
  if (gone.length === 0) return `${names} ${verb}`;
  if (gone.length === others.length) return `${names} ${verb}, and ${gone.length === 1 ? "has" : "have"} ended`;
  return `${names} ${verb}; ${listed(gone, "and")} ${gone.length === 1 ? "has" : "have"} ended`;
}

/** The same after the end: "main and ubatch 1 could have set it, but main waits and ubatch 1 has ended". */
export function couldHaveSet(game: Game, node: Node, waiter: number, object: string): string {
  const others = whoDoes(game, "host_event.set", object).filter((thread) => thread !== waiter);
  if (others.length === 0) return "nobody else ever sets it";
  const names = (threads: readonly number[]) => listed(threads.map((thread) => game.threads[thread]), "and");
  const groups = [
    { threads: others.filter((thread) => node.acts[thread] !== ENDED), one: "waits", more: "wait" },
    { threads: others.filter((thread) => node.acts[thread] === ENDED), one: "has ended", more: "have ended" },
  ].filter(({ threads }) => threads.length > 0);
  const how = groups.map(({ threads, one, more }) => {
    const verb = threads.length === 1 ? one : more;
    return groups.length === 1 ? verb : `${names(threads)} ${verb}`;
  });
  return `${names(others)} could have set it, but ${how.join(" and ")}`;
}

const DID: Record<string, [chip: string, did: string]> = {
  "host_event.set": ["set", "set"], "host_event.clear": ["clear", "cleared"], "host_event.wait": ["wake", "woke from"],
  "host_event.look": ["look", "looked at"], "host_event.is_set": ["ask", "looked at"],
  "barrier.arrive": ["arrive", "arrived at"], "barrier.release": ["pass", "passed"],
  "barrier.abort": ["abort", "aborted"], "barrier.reset": ["reset", "reset"], "thread.join": ["join", "joined"],
};

/** A choice as a sentence: "ubatch 0 set cpu_event[1]". */
export function happened(game: Game, before: Node, thread: number): string {
  const act = actOf(game, before, thread);
  const who = visible(game.threads[thread]);
  if (!act) return `${who} went on`;
  const did = DID[act.kind]?.[1];
  return did ? `${who} ${did} ${visible(act.object)}` : `${who}: ${visible(act.words)}`;
}

/** The same in a word or two, for a chip: "set [1]". */
export function chipWords(game: Game, before: Node, thread: number): string {
  const act = actOf(game, before, thread);
  if (!act) return "go on";
  const verb = DID[act.kind]?.[0] ?? act.kind.slice(act.kind.indexOf(".") + 1);
  const number = /\[\d+\]$/.exec(act.object)?.[0] ?? (act.kind === "thread.join" ? /\d+$/.exec(act.object)?.[0] : null);
  return number ? `${verb} ${number}` : visible(verb);
}
