/** A small recording for tests of the tools, all of it there. */

import { Data } from "../timeline/data";
import { flows, marks, recording, spans } from "../timeline/samples";
import type { Wire } from "../base/wire";

/** A thread that waits for its turn, a stream with two sub-rows and a wait, a record, and an arrow. */
export async function sample(): Promise<Data> {
  const { index, facts, blocks } = recording(
    [
      [1, 0, "main", [spans("bars:0:0", [
        [0, 100, "awake", 0, "awake", 50], [100, 300, "waiting", 0, "waits for its turn", 51],
        [300, 400, "awake", 0, "awake", 50],
      ])]],
      [1, 0, "events", [marks("marks:1:0", [
        [20, "host_event.set", 0], [300, "barrier.arrive", 1], [300, "host_event.set", 2],
      ])]],
      [2, 0, "main", [
        spans("bars:2:0", [[100, 200, "compute", 0, "attention", 1, true], [210, 250, "compute", 0, "attention", 2]]),
        spans("bars:2:1", [[600, 700, "compute", 1, "experts", 5, true]]),
      ]],
      [2, 1, "main", [spans("bars:3:0", [[220, 260, "copy", null, "linear", 3, true]])]],
      [2, 0, "waits", [spans("bars:4:0", [[260, 500, "waiting", 0, "compute_done[0]", 4]])]],
      [2, 0, "points", [marks("marks:5:0", [[205, "record", 10], [500, "wait", 4]], "compute_done[0]")]],
    ],
    [flows("flows:0:0", [[205, 500, "record -> wait", 2, 2, 10, 4]])],
  );
  const data = new Data(index, facts);
  const wire: Wire = {
    get: async (key) => blocks.get(key)!, json: async () => ({}) as never, join: () => undefined, pending: () => 0,
  };
  await data.load(wire, [0, 1000], () => undefined, new AbortController().signal);
  return data;
}
