/** What of a recording has come so far, and the questions that drawing and keys ask of it. */

import type { Bars, Flows, Marks } from "./columns";
import { Loader } from "./loader";
import type { Facts, Index, Row, Table, TrackLayer } from "./model";
import { initials } from "./names";
import { max } from "../base/numbers";
import { BarTrack, FlowTrack, MarkTrack, type Place } from "./tracks";
import type { Wire } from "../base/wire";

/** A span or a mark, in words. */
export interface Item {
  table: Table;
  row: number;
  lane: number;
  sub: number;
  start: number;
  end: number;
  style: string | null;
  kind: string | null;
  ubatch: number | null;
  name: string;
  op: string | null;
  layer: number | null;
}

/** The other end of a flow: what is there and when. */
export interface FlowEnd {
  kind: string;
  row: Row;
  ns: number;
  lane: number;
}

export interface Ends {
  causes: FlowEnd[];
  effects: FlowEnd[];
}

type AnyTrack = BarTrack | MarkTrack;
type AnyPlace = Place<Bars> | Place<Marks>;

export class Data {
  readonly bars: BarTrack[] = [];
  readonly marks: MarkTrack[] = [];
  readonly flows: FlowTrack;
  /** How many parts have come: what is worked out from them is out of date when it changes. */
  version = 0;
  readonly #byLane: AnyTrack[][];
  readonly #loader: Loader;
  readonly #labels = new Set<number>();
  readonly #ubatches = new Set<number>();
  /** Overlays ask for the same flows at every movement of the pointer. */
  #answers: { version: number; of: Map<string, Ends> } = { version: -1, of: new Map() };
  #short: { version: number; of: Map<string, string> } = { version: -1, of: new Map() };

  constructor(
    readonly index: Index,
    readonly facts: Facts,
  ) {
    this.#byLane = index.lanes.map(() => []);
    index.tracks.forEach((spec, number) => {
      const track = isBars(spec.layer) ? new BarTrack(spec, number) : new MarkTrack(spec, number);
      if (track instanceof BarTrack) this.bars.push(track);
      else this.marks.push(track);
      this.#byLane[spec.lane]?.push(track);
    });
    this.flows = new FlowTrack(index.flows);
    this.#loader = new Loader([...this.bars, ...this.marks, this.flows]);
  }

  /**
   * Ask for the parts of `want` first, then for the rest; `onPart` after each that came. Each is asked for
   * once.
   */
  load(wire: Wire, want: readonly [number, number], onPart: () => void, signal: AbortSignal): Promise<void> {
    return this.#loader.load(wire, want, signal, (track, chunk) => {
      if (track instanceof BarTrack) this.#note(track, chunk as Bars);
      this.version++;
      onPart();
    });
  }

  /** Whether all parts that touch the range have come. */
  complete(range: readonly [number, number]): boolean {
    return this.#loader.complete(range);
  }

  lane(lane: number, layer: TrackLayer): AnyTrack[] {
    return (this.#byLane[lane] ?? []).filter((track) => track.spec.layer === layer);
  }

  /** The letter that stands for an operation in a block too narrow for its name. */
  shortOf(label: string): string {
    if (this.#short.version !== this.version) {
      const names = [...this.#labels].map((number) => this.facts.names[number] ?? "");
      this.#short = { version: this.version, of: initials(names) };
    }
    return this.#short.of.get(label) ?? "";
  }

  /** From three microbatches on, whose greys are near each other in print, names carry their numbers too. */
  get numbered(): boolean {
    return this.#ubatches.size > 2;
  }

  item(row: Row): Item | null {
    const [table, number] = row;
    for (const track of [...this.bars, ...this.marks]) {
      const place = track.spec.table === table && number >= 0 ? track.find(number) : null;
      if (place) return this.itemAt(track, place);
    }
    return null;
  }

  itemAt(track: AnyTrack, place: AnyPlace): Item {
    return track instanceof BarTrack
      ? this.#barItem(track, place as Place<Bars>)
      : this.#markItem(track, place as Place<Marks>);
  }

  /** The next item along the lane, by time: spans, waits and marks. */
  neighbour(item: Item, direction: -1 | 1): Item | null {
    const tracks = this.#byLane[item.lane] ?? [];
    const mine = tracks.findIndex((track) => this.#placeOf(track, item) !== null);
    let best: { track: AnyTrack; place: AnyPlace } | null = null;
    tracks.forEach((track, number) => {
      // At one moment tracks have their order: what comes later in it is reached when going on there.
      const passed = direction > 0 ? number < mine : number > mine;
      let place =
        number === mine
          ? this.#step(track, this.#placeOf(track, item)!, direction)
          : direction > 0
            ? track.first(item.start, passed)
            : track.last(item.start, passed);
      while (place && (this.#isEcho(track, place) || isSame(track, place, item))) {
        place = this.#step(track, place, direction);
      }
      if (place && (!best || this.#isNearer(place, best.place, direction))) best = { track, place };
    });
    const found = best as { track: AnyTrack; place: AnyPlace } | null;
    return found && this.itemAt(found.track, found.place);
  }

  /** The item of a lane that is nearest to a moment. */
  nearest(lane: number, t: number): Item | null {
    let best: Item | null = null;
    let least = Infinity;
    for (const track of this.#byLane[lane] ?? []) {
      const places = [track.last(t), track.first(t)];
      for (const place of places) {
        if (!place) continue;
        const item = this.itemAt(track, place);
        // Of what is equally near the bars come first: they come first among a lane's tracks.
        const far = max(item.start - t, t - item.end, 0);
        if (far < least) [best, least] = [item, far];
      }
    }
    return best;
  }

  /** What caused something, and what it caused. */
  flowsOf(row: Row): Ends {
    const key = `${row[0]} ${row[1]}`;
    if (this.#answers.version !== this.version || this.#answers.of.size > 500) {
      this.#answers = { version: this.version, of: new Map() };
    }
    let known = this.#answers.of.get(key);
    if (!known) this.#answers.of.set(key, (known = this.#searchFlows(row)));
    return known;
  }

  #searchFlows(row: Row): Ends {
    const causes: FlowEnd[] = [];
    const effects: FlowEnd[] = [];
    const table = row[0] === "events" ? 0 : 1;
    if (row[1] < 0) return { causes, effects };
    for (const flows of this.flows.chunks) {
      if (!flows) continue;
      for (let i = 0; i < flows.rows; i++) {
        if (flows.toRow[i] === row[1] && flows.toTable[i] === table)
          causes.push(this.#flowEnd(flows, i, false));
        if (flows.fromRow[i] === row[1] && flows.fromTable[i] === table)
          effects.push(this.#flowEnd(flows, i, true));
      }
    }
    return { causes, effects };
  }

  /**
   * Flows of the trace events that bound a thread's bar: what ended its wait or woke it, and the last thing
   * that it caused; of one that is awake, whom it woke; of an operation, what it launched.
   */
  flowsOfBar({ lane, style, start, end }: Item): Ends {
    const causes: FlowEnd[] = [];
    let effects: FlowEnd[] = [];
    const blocked = style === "waiting" || style === "device";
    const kinds = this.index.flow_kinds;
    const best = blocked ? -1 : kinds.indexOf(style === "operation" ? "launch -> kernel" : "set -> wake");
    let [row, met] = [-1, false];
    for (const f of this.flows.chunks) {
      for (let i = 0; f && i < f.rows; i++) {
        if (f.toLane[i] === lane && !f.toTable[i] && f.to[i] === (blocked ? end : start))
          causes.push(this.#flowEnd(f, i, false));
        const [from, meets] = [f.from[i], f.kind[i] === best];
        if (f.fromLane[i] !== lane || f.fromTable[i] || from < start || (met && !meets)) continue;
        if (from > end || (from === end && !meets)) continue; // what begins then belongs to the next bar
        if (f.fromRow[i] !== row) effects = [];
        [row, met] = [f.fromRow[i], meets];
        effects.push(this.#flowEnd(f, i, true));
      }
    }
    return { causes, effects };
  }

  #flowEnd(flows: Flows, i: number, to: boolean): FlowEnd {
    const table: Table = (to ? flows.toTable : flows.fromTable)[i] === 0 ? "events" : "spans";
    return {
      kind: this.index.flow_kinds[flows.kind[i]] ?? "",
      row: [table, (to ? flows.toRow : flows.fromRow)[i]],
      ns: (to ? flows.to : flows.from)[i],
      lane: (to ? flows.toLane : flows.fromLane)[i],
    };
  }

  #barItem(track: BarTrack, { chunk, i }: Place<Bars>): Item {
    return {
      table: track.spec.table,
      row: chunk.row[i],
      lane: track.spec.lane,
      sub: track.spec.sub,
      start: chunk.start[i],
      end: chunk.end[i],
      style: this.index.styles[chunk.style[i]] ?? null,
      kind: null,
      ubatch: chunk.ubatch[i] ? chunk.ubatch[i] - 1 : null,
      name: this.facts.names[chunk.name[i]] ?? "",
      op: chunk.op[i] ? (this.facts.names[chunk.op[i] - 1] ?? null) : null,
      layer: chunk.layer[i] ? chunk.layer[i] - 1 : null,
    };
  }

  #markItem(track: MarkTrack, { chunk, i }: Place<Marks>): Item {
    const kind = this.index.kinds[chunk.kind[i]] ?? "";
    const text = chunk.text[i] ? this.facts.names[chunk.text[i] - 1] : "";
    return {
      table: track.spec.table,
      row: chunk.row[i],
      lane: track.spec.lane,
      sub: track.spec.sub,
      start: chunk.start[i],
      end: chunk.start[i],
      style: null,
      kind,
      ubatch: chunk.ubatch[i] ? chunk.ubatch[i] - 1 : null,
      name: text || kind,
      op: null,
      layer: null,
    };
  }

  /** Where an item is in a track; by its start too, because the bars of a thread share one row. */
  #placeOf(track: AnyTrack, item: Item): AnyPlace | null {
    if (track.spec.table !== item.table || track instanceof BarTrack !== (item.kind === null)) return null;
    let place: AnyPlace | null = track.first(item.start);
    while (place && place.chunk.start[place.i] === item.start) {
      if (place.chunk.row[place.i] === item.row) return place;
      place = this.#step(track, place, 1);
    }
    return null;
  }

  #step(track: AnyTrack, place: AnyPlace, direction: -1 | 1): AnyPlace | null {
    return track instanceof BarTrack
      ? track.beside(place as Place<Bars>, direction)
      : track.beside(place as Place<Marks>, direction);
  }

  /** The end of a wait is a mark of the span that is itself an item of the lane. */
  #isEcho(track: AnyTrack, place: AnyPlace): boolean {
    return track.spec.layer === "points" && this.index.kinds[(place.chunk as Marks).kind[place.i]] === "wait";
  }

  #isNearer(place: AnyPlace, than: AnyPlace, direction: -1 | 1): boolean {
    const by = place.chunk.start[place.i] - than.chunk.start[than.i];
    return direction > 0 ? by < 0 : by >= 0;
  }

  /** Which operations and microbatches there are on the streams. */
  #note(track: BarTrack, bars: Bars): void {
    if (track.spec.layer !== "main" || this.index.lanes[track.spec.lane]?.group === "threads") return;
    for (let b = 0; b + 1 < bars.blocks.length; b++) {
      const i = bars.blocks[b];
      this.#labels.add(bars.op[i] ? bars.op[i] - 1 : bars.name[i]);
      if (bars.ubatch[i]) this.#ubatches.add(bars.ubatch[i]);
    }
  }
}

const isBars = (layer: TrackLayer): boolean => layer === "main" || layer === "waits" || layer === "inner";

function isSame(track: AnyTrack, place: AnyPlace, item: Item): boolean {
  return (
    track.spec.table === item.table &&
    place.chunk.row[place.i] === item.row &&
    place.chunk.start[place.i] === item.start
  );
}
