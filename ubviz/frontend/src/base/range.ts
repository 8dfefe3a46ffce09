/** Ranges that are shown, as numbers: of nanoseconds by the clock, of columns in logical order. */

import { max, min } from "./numbers";

export type Range = readonly [number, number];

/** Two finite numbers in order, else the fallback: what Python sets is shown as it is where it can be. */
export function sound(range: unknown, fallback: Range): Range {
  const [a, b] = Array.isArray(range) ? range : [NaN, NaN];
  return Number.isFinite(a) && Number.isFinite(b) && b > a ? [a, b] : fallback;
}

/**
 * A range that one may go to from `old`: no longer than all there is, its middle not farther outside than
 * the old one's was (Python may have set that anywhere; going back from there must not jump). The more is
 * seen while zooming out, the less of it lies outside: at the last, all there is fills the view.
 */
export function within(range: Range, old: Range, all: Range): Range {
  const [whole, was, length] = [all, old, range].map(([a, b]) => b - a) as [number, number, number];
  const [from, middle] = [middleOf(old), middleOf(range)];
  const grows = length > was * (1 + 1e-9);
  if (grows && length >= whole) return was > whole ? old : all;
  const rest = grows && from >= all[0] && from <= all[1] ? max(length * 1.5 - whole, 0) : 0;
  const [least, most] = rest ? [all[0] + rest, all[1] - rest] : [min(all[0], from), max(all[1], from)];
  const kept = min(max(middle, least), most);
  const start = kept === middle ? range[0] : kept - length / 2;
  return [start, start + length];
}

/**
 * By the clock again after order has shown a stretch: as it was before if that touches the stretch, else the
 * part of it in the step at `middle`: a gap between steps says nothing.
 */
export function backToClock(
  shown: Range, before: Range | null, middle: number, steps: readonly Step[],
): Range {
  if (before && before[0] < shown[1] && before[1] > shown[0]) return before;
  const at = stepAt(steps, [middle, middle]);
  if (at === null) return shown;
  const [, begin, end] = steps[at]!;
  const [a, b] = [max(shown[0], begin), min(shown[1], end)];
  return b > a ? [a, b] : [begin, end];
}

const middleOf = (range: Range) => (range[0] + range[1]) / 2;

/** The range moved just so far that [from, to] is seen well: whole if it fits, else its begin. */
export function revealed(range: Range, from: number, to: number): Range {
  const [a, b] = range;
  const edge = (b - a) * 0.04;
  if (from >= a && to <= b) return range;
  if (to - from > b - a - 2 * edge) {
    const seen = min(to, b) - max(from, a);
    return seen > (b - a) * 0.3 ? range : moved(range, from - edge - a);
  }
  return moved(range, from < a ? from - edge - a : to + edge - b);
}

export function moved(range: Range, by: number): Range {
  return [range[0] + by, range[1] + by];
}

/** A tenth of room on both sides of [from, to]; a moment is shown in the middle of at most `around`. */
export function framed(range: Range, from: number, to: number, around: number): Range {
  if (to > from) return [from - (to - from) * 0.1, to + (to - from) * 0.1];
  const half = min(range[1] - range[0], around) / 2;
  return [from - half, from + half];
}

/** `factor` times as close, with `at` where it was; closer than `least` only if it was already. */
export function zoomed(range: Range, factor: number, at: number, least: number): Range {
  const length = max((range[1] - range[0]) / factor, min(least, range[1] - range[0]));
  const share = (at - range[0]) / (range[1] - range[0]);
  const start = at - share * length;
  return [start, start + length];
}

export type Step = readonly [step: number, begin_ns: number, end_ns: number];

/** The step in the middle of a range, or the nearest to it; null where there are none. */
export function stepAt(steps: readonly Step[], range: Range): number | null {
  const middle = middleOf(range);
  const away = ([, a, b]: Step) => max(a - middle, middle - b, 0);
  let best: number | null = null;
  steps.forEach((step, i) => {
    if (best === null || away(step) < away(steps[best]!)) best = i;
  });
  return best;
}
