/** The vote, as the engine has it (ubviz/engine/votes.py): each rank's yes or no, and what all make of the table. */

export interface Values {
  tokens: number[];
  allowed: boolean[];
  threshold: number;
  ubatches: number;
}

export interface Agreement {
  votes: boolean[];
  should_ubatch: boolean;
  /** Of each rank, with padding. */
  num_tokens: number[];
  why: string;
  /** The rank whose last microbatch would be empty, though all voted yes. */
  empty: number | null;
  /** Where the batch is cut, or would be: the first token of the second microbatch, and of those after it. */
  cuts: number[];
}

export function agreement({ tokens, allowed, threshold, ubatches }: Values): Agreement {
  const votes = tokens.map((count, rank) => allowed[rank]! && count >= threshold);
  const largest = Math.max(...tokens);
  const share = Math.floor(largest / ubatches);
  const begins = share * (ubatches - 1);
  const all = votes.every(Boolean);
  const found = all ? tokens.findIndex((count) => begins >= count) : -1;
  const empty = found < 0 ? null : found;
  const yes = all && empty === null;
  const noes = votes.flatMap((vote, rank) => (vote ? [] : [whyNot(rank, tokens[rank]!, allowed[rank]!, threshold)]));
  let why = noes.join("; ");
  if (empty !== null) {
    why = `every rank voted yes, but rank ${empty} would have nothing in the last of ${ubatches} microbatches: it has `
      + `${tokens[empty]} tokens, and of ${largest} the last microbatch begins at token ${begins}`;
  } else if (yes) {
    const each = tokens.map((count) => `${count} tokens reach the prefill threshold of ${threshold}`);
    why = each.length === 1 ? each[0]! : `every rank voted yes: ${each.map((said, rank) => `rank ${rank}: ${said}`).join("; ")}`;
  }
  return {
    votes, should_ubatch: yes, num_tokens: yes ? tokens.map(() => largest) : tokens, why, empty,
    cuts: Array.from({ length: ubatches - 1 }, (_, i) => share * (i + 1)),
  };
}

function whyNot(rank: number, tokens: number, allowed: boolean, threshold: number): string {
  if (!allowed) return `rank ${rank} voted no: its caller did not allow microbatches`;
  return `rank ${rank} voted no: its ${tokens} tokens are below the prefill threshold of ${threshold}`;
}

/** Whole numbers within what can be shown, whatever came. */
export function soundValues(given: unknown): Values {
  const { tokens, allowed, threshold, ubatches } = (given ?? {}) as Partial<Record<keyof Values, unknown>>;
  const whole = (value: unknown, low: number, high: number, otherwise: number) =>
    Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value as number), low), high) : otherwise;
  const counts = Array.isArray(tokens) && tokens.length > 1 ? tokens.slice(0, 8) : [600, 640];
  const parts = whole(ubatches, 2, 8, 2);
  return {
    tokens: counts.map((count) => whole(count, 0, 1e6, 0)),
    allowed: counts.map((_, rank) => !Array.isArray(allowed) || allowed[rank] !== false),
    threshold: whole(threshold, parts, 1e6, 512),
    ubatches: parts,
  };
}
