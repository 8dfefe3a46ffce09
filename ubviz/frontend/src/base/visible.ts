/** Texts from traces as they may be shown. */

/**
 * What could hide or reorder the text round it: control characters, marks of direction, lone surrogates.
 * Names come from traces, and traces from anywhere.
 */
const HOSTILE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The text with what cannot be seen written as an escape; `keep` has characters that stay (in source). */
export function visible(text: string, keep = ""): string {
  return text.replace(HOSTILE, (found) => {
    if (keep.includes(found)) return found;
    if (found === "\n") return "\\n";
    if (found === "\t") return "\\t";
    const digits = found.codePointAt(0)!.toString(16);
    return digits.length < 3 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
}

/** At most so many characters; what is longer ends in an ellipsis. No more of a long text is looked at. */
export function cut(text: string, most: number): string {
  const shown = Array.from(visible(text.slice(0, 2 * most + 2)));
  return shown.length <= most ? shown.join("") : shown.slice(0, most - 1).join("") + "…";
}
