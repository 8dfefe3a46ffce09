/** A recorded run, and what is read from it: nothing is simulated here. */

/** How a thread stands: not there yet, at the barrier, waiting for its flag, with the turn; main at work or joining; ended. */
export type Standing = "away" | "barrier" | "waits" | "turn" | "runs" | "joins" | "ended";

export interface Step {
  says: string;
  /** Who is at the barrier, in the order of coming. */
  here: string[];
  /** Whether the barrier has opened, now or before. */
  opened: boolean;
  /** By microbatch: whether its host event is up. */
  flags: number[];
  /** Main, then each microbatch. */
  stands: Standing[];
}

export interface Run {
  steps: Step[];
  hangs: boolean;
  report: string;
}

export const WORDS: Record<Standing, string> = {
  away: "not there yet",
  barrier: "at the barrier",
  waits: "waits for its flag",
  turn: "has the turn",
  runs: "runs",
  joins: "waits for all to end",
  ended: "has ended",
};

/** The number of a step that there is: a run that is shorter shows its end. */
export function within(run: Run, at: number): number {
  return Math.max(0, Math.min(Math.round(at) || 0, run.steps.length - 1));
}

/** What the number of parties means beside the threads that come. */
export function partiesWords(n: number, parties: number): string {
  const come = n + 1;
  if (parties === come) return `${n} microbatches and main`;
  return parties < come ? `it opens for ${parties}, and ${come} come` : `${come} come: it never opens`;
}

/** Where microbatch i of n stands on a circle, from the top clockwise. */
export function place(i: number, n: number, middle: number, radius: number): [number, number] {
  const angle = (2 * Math.PI * i) / n - Math.PI / 2;
  return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
}
