/** A small game for tests: main sets a flag and joins; ubatch 1 clears the flag and waits for it. */

import type { Act, Game, Node } from "./model";

const act = (kind: string, object: string): Act => ({ kind, object, words: `${kind} ${object}`, at: null, caller: null });
const SET = 0, JOIN = 1, CLEAR = 2, WAIT = 3;

function node(acts: number[], moves: [thread: number, to: number][], flag: number, end: number | null = null): Node {
  return { acts, able: moves.map(([thread]) => thread), next: moves.map(([, to]) => to), flags: [flag], barriers: [],
    turn: [], good: true, bad: true, end };
}

/** Setting the flag first loses it: node 4 is a deadlock, node 6 the good end. */
export function small(): Game {
  return {
    threads: ["main", "ubatch 1"], host_events: ["flag[1]"], barriers: [], places: [], sources: [],
    acts: [act("host_event.set", "flag[1]"), act("thread.join", "ubatch 1"), act("host_event.clear", "flag[1]"),
      act("host_event.wait", "flag[1]")],
    nodes: [
      node([SET, CLEAR], [[0, 1], [1, 2]], 0),
      node([JOIN, CLEAR], [[1, 4]], 1),
      node([SET, WAIT], [[0, 3]], 0),
      node([JOIN, WAIT], [[1, 5]], 1),
      node([JOIN, WAIT], [], 0, 0),
      node([JOIN, -1], [[0, 6]], 1),
      node([-1, -1], [], 1, 1),
    ],
    ends: [
      { verdict: "deadlock", lines: ["main joins ubatch 1", "ubatch 1 waits for flag[1]"], findings: [], replay: "0.1" },
      { verdict: "done", lines: [], findings: [], replay: "1.0.1.0" },
    ],
    start: 0, prefix: "", interleavings: 2,
  };
}
