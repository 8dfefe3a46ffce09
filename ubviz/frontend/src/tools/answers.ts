/** What the analysis says, block by block: of the steps that a stretch touches, or of a recording without steps. */

import type { Scene } from "../timeline/scene";

/** Why a stream was idle. */
export type Gap = [lane: number, start: number, end: number, cause: string, sentence: string];
/** Time spent before something begins or ends. */
export type Entry = [table: "spans" | "events" | null, row: number | null, lane: number, start: number, ns: number,
  edge: string];
/** What a number is the sum of, and the part of it that its share is about. */
export interface Lit {
  all: [number, number][];
  hidden: [number, number][];
}

/** Which steps a stretch of time touches, as blocks are named. */
export function stepsIn({ index }: Scene, from: number, to: number): string[] {
  if (!index.steps.length) return [""];
  return index.steps.filter(([, begin, end]) => end >= from && begin <= to).map(([step]) => String(step));
}

const NOT_HELD = "This page does not hold it: the recording is large. Open it in a notebook.";

/** A block's value; a page that does not hold it says so in a sentence of its own. */
export async function answer<T>({ wire, index }: Scene, key: string): Promise<T> {
  try {
    return await wire.json<T>(key);
  } catch (error) {
    throw index.answers ? error : new Error(NOT_HELD);
  }
}

export async function gapsIn(scene: Scene, from: number, to: number): Promise<Gap[]> {
  const found = await Promise.all(stepsIn(scene, from, to).map((step) => answer<Gap[]>(scene, `gaps:${step}`)));
  return found.flat().filter(([, start, end]) => end > from && start < to);
}

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
