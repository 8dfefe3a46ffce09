/** Causes and effects, also of what has no arrow of its own: arrows of threads hang on their trace events. */

import type { Data, Ends, Item } from "./data";
import type { Row } from "./model";

export function linksOf(data: Data, item: Item): Ends {
  const own = data.flowsOf([item.table, item.row]);
  if (data.index.lanes[item.lane]?.group !== "threads") return own;
  const near = item.table === "spans" ? data.flowsOfBar(item) : ofStream(data, item);
  return {
    causes: own.causes.length ? own.causes : near.causes,
    effects: own.effects.length ? own.effects : near.effects,
  };
}

/** A thread makes a stream wait, or record: the causes are those of what the stream does then. */
function ofStream(data: Data, item: Item): Ends {
  const row = twin(data, item);
  const found = row && data.item(row);
  if (!found) return { causes: [], effects: [] };
  const { start: ns, lane } = found;
  return { causes: data.flowsOf(row).causes, effects: [{ kind: item.kind!, row, ns, lane }] };
}

/** The span of an event's wait or record: rows have the order in which threads asked for them. */
function twin({ marks, index, facts }: Data, { kind, name, lane, row }: Item): Row | null {
  const word = /^event\.(wait|record)$/.exec(kind ?? "")?.[1];
  const asked: number[] = [];
  const done: number[] = [];
  for (const { spec, chunks } of word ? marks : []) {
    if (index.lanes[spec.lane]?.rank !== index.lanes[lane]?.rank) continue;
    for (const chunk of chunks) {
      for (let i = 0; chunk && i < chunk.rows; i++) {
        const [is, text] = [index.kinds[chunk.kind[i]], facts.names[chunk.text[i] - 1]];
        if (is === kind && text === name) asked.push(chunk.row[i]);
        else if (is === word && `${word} ${text}` === name) done.push(chunk.row[i]);
      }
    }
  }
  const at = asked.sort((a, b) => a - b).indexOf(row);
  return asked.length === done.length && at >= 0 ? ["spans", done.sort((a, b) => a - b)[at]] : null;
}
