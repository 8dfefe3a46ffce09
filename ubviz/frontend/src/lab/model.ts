/** What a lab is told, and what it shares with Python. */

import type { Model as AnyModel, Shared } from "../base/model";

export type Value = number | string | boolean | null;
export type Values = Record<string, Value>;

export interface Slider {
  name: string;
  label: string;
  unit: string;
  low: number;
  high: number;
  step: number;
  value: number;
  /** The value at which durations are those of the plan. */
  base: number;
  scales: string;
}

export interface Choice {
  name: string;
  label: string;
  values: Value[];
  words: string[];
  value: Value;
}

/** The index of the head: see ubviz/view/lab.py. */
export interface Index {
  first: [key: string, offset: number, length: number][];
  title: string | null;
  kind: "measured" | "simulated";
  names: [above: string, below: string];
  /** By the values of the structure: the name of the plan, and of the unsplit one. */
  plans: Record<string, [plan: string, unsplit: string | null]>;
  sliders: Slider[];
  choices: Choice[];
  structure: string[];
  notes: { values: Values; sentence: string }[];
}

export interface State extends Shared {
  values: Values;
  curve: string;
}

export type Model = AnyModel<State>;
