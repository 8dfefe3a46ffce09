/** The cut, as the package has it (ubviz/ubatch/slices.py): tokens at every total // n, wherever that falls. */

export interface Values {
  lengths: number[];
  ubatches: number;
}

export interface Part {
  /** Half-open ranges. */
  requests: [number, number];
  tokens: [number, number];
  /** Of each of its requests: how many tokens it computes, and how many attention looks at. */
  queries: number[];
  sequences: number[];
}

/** Where each request begins, and the end of the last. */
export function startsOf(lengths: readonly number[]): number[] {
  const starts = [0];
  for (const length of lengths) starts.push(starts[starts.length - 1]! + length);
  return starts;
}

export function partsOf({ lengths, ubatches }: Values): Part[] {
  const starts = startsOf(lengths);
  const total = starts[lengths.length]!;
  const share = Math.floor(total / ubatches);
  return Array.from({ length: ubatches }, (_, i) => {
    const [from, to] = [i * share, i === ubatches - 1 ? total : (i + 1) * share];
    const mine = lengths.map((_, request) => request).filter((request) => starts[request]! < to && starts[request + 1]! > from);
    return {
      requests: [mine[0]!, mine[mine.length - 1]! + 1],
      tokens: [from, to],
      queries: mine.map((request) => Math.min(starts[request + 1]!, to) - Math.max(starts[request]!, from)),
      sequences: mine.map((request) => Math.min(starts[request + 1]!, to) - starts[request]!),
    };
  });
}

export const MOST_REQUESTS = 8;

/** Whole numbers that can be cut, whatever came. */
export function soundValues(given: unknown): Values {
  const { lengths, ubatches } = (given ?? {}) as Partial<Record<keyof Values, unknown>>;
  const whole = (value: unknown, low: number, high: number) =>
    Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value as number), low), high) : low;
  const list = Array.isArray(lengths) && lengths.length ? lengths.slice(0, MOST_REQUESTS).map((length) => whole(length, 1, 1e6)) : [5, 11, 3, 8];
  const total = list.reduce((a, b) => a + b, 0);
  const parts = whole(ubatches, 2, 8);
  if (total < parts) list[0] = list[0]! + parts - total; // each microbatch has a token at least
  return { lengths: list, ubatches: parts };
}
