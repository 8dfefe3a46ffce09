/** Makespan against one slider: worked out a little in each frame, and kept as long as nothing else has changed. */

import { times } from "./flow";
import type { Index, Slider, Values } from "./model";
import { boundOf, makespanOf } from "./numbers";
import type { Plan } from "./plan";
import { factorsOf, gridOf } from "./values";

export interface Point {
  value: number;
  makespan: number;
  bound: number;
  unsplit: number | null;
}

export interface Curve {
  slider: Slider;
  /** Those that are there; all of them once `done`. */
  points: Point[];
  done: boolean;
}

/** So long one frame may work on a curve. */
const SLICE_MS = 12;

export class Curves {
  #key = "";
  #curve: Curve | null = null;

  constructor(private readonly index: Index) {}

  /** The curve of a slider at these values, as far as it has come; `more` goes on with it. */
  of(slider: Slider, values: Values): Curve {
    const key = JSON.stringify([slider.name, { ...values, [slider.name]: null }]);
    if (key !== this.#key || !this.#curve) {
      this.#key = key;
      this.#curve = { slider, points: [], done: false };
    }
    return this.#curve;
  }

  /** Work for a moment. */
  more(curve: Curve, values: Values, plan: Plan, unsplit: Plan | null): void {
    const grid = gridOf(curve.slider);
    const until = performance.now() + SLICE_MS;
    do {
      const value = grid[curve.points.length]!;
      curve.points.push(pointAt(this.index, { ...values, [curve.slider.name]: value }, value, plan, unsplit));
      curve.done = curve.points.length === grid.length;
    } while (!curve.done && performance.now() < until);
  }
}

function pointAt(index: Index, values: Values, value: number, plan: Plan, unsplit: Plan | null): Point {
  const factors = factorsOf(index, values, plan);
  return {
    value,
    makespan: makespanOf(plan, times(plan, factors)),
    bound: boundOf(plan, factors),
    unsplit: unsplit && makespanOf(unsplit, times(unsplit, factorsOf(index, values, unsplit))),
  };
}

/** The least value from which on splitting is never the slower one; null where it is slower at the end. */
export function breakEven(points: readonly Point[]): number | null {
  let found: number | null = null;
  for (let i = points.length - 1; i >= 0; i--) {
    const { value, makespan, unsplit } = points[i]!;
    if (unsplit === null || makespan > unsplit) return found;
    found = value;
  }
  return found;
}
