/** What the values of the controls mean: ubviz/view/lab_controls.py, in the page. */

import type { Factors } from "./flow";
import type { Index, Slider, Value, Values } from "./model";
import type { Plan } from "./plan";

/** What the values mean for a plan. */
export function factorsOf(index: Index, values: Values, plan: Plan): Factors {
  const by: Record<string, number> = { threads: 1, compute: 1, comm: 1, operation: 1 };
  let kernelNs = 0;
  let contention = 0;
  for (const { name, scales, base } of index.sliders) {
    const value = Number(values[name]);
    if (scales === "kernel") kernelNs = 1000 * value;
    else if (scales === "contention") contention = value;
    else by[scales] = value / base;
  }
  const chosen = values.operation ?? null;
  const works = plan.works.map(([cls, operation, category]) => {
    const factor = category === "transfer" || cls === "comm" ? by.comm! : cls === "compute" ? by.compute! : 1;
    return operation === chosen ? factor * by.operation! : factor;
  });
  return { threads: by.threads!, works, kernelNs, contention };
}

/** The names of the plan and of the unsplit one. */
export function plansOf(index: Index, values: Values): [plan: string, unsplit: string | null] {
  return index.plans[index.structure.map((name) => keyOf(values[name]!)).join("/")]!;
}

/** As Python writes it. */
const keyOf = (value: Value): string =>
  value === null ? "None" : value === true ? "True" : value === false ? "False" : String(value);

/** The values at which a curve is drawn: those of the slider, or each second, third ... of them. */
export function gridOf({ low, high, step }: Slider, most = 41): number[] {
  const count = Math.floor((high - low) / step);
  const each = Math.ceil(count / (most - 1)) * step;
  return Array.from({ length: Math.floor((high - low) / each) + 1 }, (_, i) => low + i * each);
}

/** Every control at its own value. */
export const defaultsOf = (index: Index): Values =>
  Object.fromEntries([...index.choices, ...index.sliders].map(({ name, value }) => [name, value]));

/** The values that can be used: what comes from elsewhere may lack some, or hold others. */
export function soundValues(index: Index, values: unknown): Values {
  const given = (values ?? {}) as Values;
  const out = defaultsOf(index);
  for (const { name, low, high } of index.sliders) {
    const value = given[name];
    if (typeof value === "number" && Number.isFinite(value)) out[name] = Math.min(Math.max(Math.round(value), low), high);
  }
  for (const { name, values: known } of index.choices) if (known.includes(given[name] as Value)) out[name] = given[name]!;
  return out;
}

/** The sentences that belong to these values. */
export const notesOf = (index: Index, values: Values): string[] =>
  index.notes.filter((note) => Object.entries(note.values).every(([name, value]) => values[name] === value))
    .map(({ sentence }) => sentence);
