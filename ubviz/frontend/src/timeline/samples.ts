/** Small recordings for tests, packed as the kernel packs them. */

import type { ColumnSpec, Facts, Index, Lane, Part, Track, TrackLayer } from "./model";

export const STYLES = [
  "awake",
  "device",
  "waiting",
  "compute",
  "comm",
  "copy",
  "other",
  "transfer",
  "operation",
];
export const KINDS = ["host_event.set", "barrier.arrive", "record", "wait", "event.wait"];
export const FLOW_KINDS = ["set -> wake", "record -> wait", "launch -> kernel"];
export const NAMES = [
  "", "awake", "waits for its turn", "attention", "experts", "linear", "compute_done[0]", "wait compute_done[0]",
];

const SIZES = { u1: 1, u2: 2, u4: 4, f8: 8 };
type Width = keyof typeof SIZES;

/** Columns as bytes, the widest first; a single number is a column that never changes. */
export function packed(
  key: string,
  start: number,
  end: number,
  columns: Record<string, number[] | number>,
  widths: Record<string, Width> = {},
): { part: Part; bytes: ArrayBuffer } {
  const rows = Math.max(
    ...Object.values(columns).map((values) => (Array.isArray(values) ? values.length : 1)),
  );
  const specs: ColumnSpec[] = [];
  for (const [name, values] of Object.entries(columns)) {
    specs.push(Array.isArray(values) ? [name, widths[name] ?? "f8", 0] : [name, "const", values]);
  }
  specs.sort((a, b) => (SIZES[b[1] as Width] ?? 0) - (SIZES[a[1] as Width] ?? 0));
  const bytes = new ArrayBuffer(
    specs.reduce((sum, [, width]) => sum + (SIZES[width as Width] ?? 0) * rows, 0),
  );
  const view = new DataView(bytes);
  let at = 0;
  for (const [name, width] of specs) {
    if (width === "const") continue;
    for (const value of columns[name] as number[]) {
      if (width === "u1") view.setUint8(at, value);
      else if (width === "u2") view.setUint16(at, value, true);
      else if (width === "u4") view.setUint32(at, value, true);
      else view.setFloat64(at, value, true);
      at += SIZES[width];
    }
  }
  return { part: { key, rows, start, end, bytes: bytes.byteLength, row0: 0, columns: specs }, bytes };
}

/** [start, end, style, ubatch or null, name, row, +block?] */
export type SpanRow = [number, number, string, number | null, string, number, boolean?];

export function spans(key: string, rows: SpanRow[]): { part: Part; bytes: ArrayBuffer } {
  const gaps = (values: number[]) => values.map((value, i) => (i ? value - values[i - 1] : 0));
  const numbers = rows.map((row) => row[5]);
  const made = packed(
    key,
    rows[0][0],
    Math.max(...rows.map((row) => row[1])),
    {
      gap: gaps(rows.map((row) => row[0])),
      dur: rows.map((row) => row[1] - row[0]),
      style: rows.map((row) => STYLES.indexOf(row[2]) + (row[6] ? 128 : 0)),
      ubatch: rows.map((row) => (row[3] === null ? 0 : row[3] + 1)),
      name: rows.map((row) => NAMES.indexOf(row[4])),
      op: 0,
      layer: 0,
      row: gaps(numbers),
    },
    { style: "u1", ubatch: "u1", name: "u2" },
  );
  made.part.row0 = numbers[0];
  return made;
}

/** [t, kind, row]; all with the same text. */
export function marks(key: string, rows: [number, string, number][], text?: string): { part: Part; bytes: ArrayBuffer } {
  const gaps = (values: number[]) => values.map((value, i) => (i ? value - values[i - 1] : 0));
  const made = packed(
    key,
    rows[0][0],
    rows[rows.length - 1][0],
    {
      gap: gaps(rows.map((row) => row[0])),
      kind: rows.map((row) => KINDS.indexOf(row[1])),
      ubatch: 0,
      text: text === undefined ? 0 : NAMES.indexOf(text) + 1,
      row: gaps(rows.map((row) => row[2])),
    },
    { kind: "u1" },
  );
  made.part.row0 = rows[0][2];
  return made;
}

/** [from_ns, to_ns, kind, from lane, to lane, from row, to row], both ends spans unless tables are given */
export function flows(
  key: string,
  rows: [number, number, string, number, number, number, number][],
  tables: [from: number, to: number] = [1, 1],
) {
  return packed(
    key,
    rows[0][0],
    Math.max(...rows.map((row) => row[1])),
    {
      gap: rows.map((row, i) => (i ? row[0] - rows[i - 1][0] : 0)),
      dt: rows.map((row) => row[1] - row[0]),
      kind: rows.map((row) => FLOW_KINDS.indexOf(row[2])),
      from_lane: rows.map((row) => row[3]),
      to_lane: rows.map((row) => row[4]),
      from_table: tables[0],
      to_table: tables[1],
      from_row: rows.map((row) => row[5]),
      to_row: rows.map((row) => row[6]),
    },
    { kind: "u1", from_lane: "u1", to_lane: "u1" },
  );
}

export interface Recording {
  index: Index;
  facts: Facts;
  blocks: Map<string, ArrayBuffer>;
}

type Made = { part: Part; bytes: ArrayBuffer };

export const LANES: Lane[] = [
  { id: 0, name: "main", group: "threads", rank: 0, ubatch: null, subs: 1 },
  { id: 1, name: "ubatch 0", group: "threads", rank: 0, ubatch: 0, subs: 1 },
  { id: 2, name: "compute", group: "streams", rank: 0, ubatch: null, subs: 2 },
  { id: 3, name: "comm", group: "streams", rank: 0, ubatch: null, subs: 1 },
];

export function recording(
  tracks: [lane: number, sub: number, layer: TrackLayer, made: Made[]][],
  arrows: Made[] = [],
): Recording {
  const parts = [...tracks.flatMap((track) => track[3]), ...arrows];
  const specs: Track[] = tracks.map(([lane, sub, layer, made]) => ({
    lane,
    sub,
    layer,
    table: layer === "events" ? "events" : "spans",
    parts: made.map(({ part }) => part),
  }));
  const index: Index = {
    version: 1,
    label: "a recording",
    title: null,
    begin_ns: 0,
    end_ns: 1000,
    home: [0, 1000],
    origin_ns: 0,
    lanes: LANES,
    styles: STYLES,
    kinds: KINDS,
    flow_kinds: FLOW_KINDS,
    tracks: specs,
    flows: arrows.map(({ part }) => part),
    logical: false,
    rows: { spans: 100, events: 100 },
    answers: true, graphs: false, bands: [], row_part: 1024,
    steps: [],
    first: [],
  };
  return {
    index,
    facts: { names: NAMES, gates: [], layers: [] },
    blocks: new Map(parts.map(({ part, bytes }) => [part.key, bytes])),
  };
}
