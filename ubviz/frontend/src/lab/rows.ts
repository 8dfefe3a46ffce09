/** Which lanes are drawn, and where: two sections above one another, on one axis of time. */

import { cut } from "../base/visible";
import type { Numbers } from "./numbers";
import type { Plan } from "./plan";

export interface Section {
  title: string;
  plan: Plan;
  time: Float64Array;
  begin: number;
  numbers: Numbers;
  /** Threads as well as streams. */
  threads: boolean;
}

export interface Row {
  section: Section;
  lane: number;
  name: string;
  thread: boolean;
  /** The middle, and half the height of what is on it. */
  y: number;
  half: number;
}

export interface Layout {
  rows: Row[];
  /** The heads of the sections, and where each begins and ends. */
  heads: { section: Section; y: number; top: number; bottom: number }[];
  rulerY: number;
  height: number;
}

const PAD = 6;
const RULER = 20;
const HEAD = 26;
const THREAD = 14;
const STREAM = 31;
const BETWEEN = 10;

/** Lanes that hold nothing are left out; those of several ranks say which. */
export function layoutOf(sections: readonly Section[]): Layout {
  const rows: Row[] = [];
  const heads: Layout["heads"] = [];
  let y = PAD + RULER;
  for (const section of sections) {
    const top = y;
    y += HEAD;
    let before: boolean | null = null;
    for (const { lane, thread } of lanesOf(section)) {
      if (before === true && !thread) y += 5;
      before = thread;
      const high = thread ? THREAD : STREAM;
      rows.push({ section, lane, thread, name: nameOf(section.plan, lane), y: y + high / 2, half: thread ? 4.5 : 13 });
      y += high;
    }
    heads.push({ section, y: top + HEAD / 2 + 2, top: top + 4, bottom: y + 2 });
    y += BETWEEN;
  }
  return { rows, heads, rulerY: PAD + RULER / 2, height: y + 12 };
}

function lanesOf({ plan, threads }: Section): { lane: number; thread: boolean }[] {
  const busy = new Set<number>([...plan.bars.lane, ...(threads ? plan.awake.lane : [])]);
  return plan.lanes.map(([, group], lane) => ({ lane, thread: group === "threads" })).filter(({ lane }) => busy.has(lane));
}

function nameOf(plan: Plan, lane: number): string {
  const [name, , rank] = plan.lanes[lane]!;
  const several = plan.lanes.some(([, , other]) => other !== rank);
  return cut(several ? `${name} · ${rank}` : name, 16);
}

const STEPS = [1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];

/** Where the axis ends: a round number, so that lanes slide along it while something is dragged. */
export function axisEnd(longest: number): number {
  const most = Math.max(longest * 1.02, 1);
  const power = 10 ** Math.floor(Math.log10(most));
  return power * STEPS.find((step) => step * power >= most)!;
}
