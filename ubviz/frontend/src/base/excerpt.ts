/** The lines of source round a place in the code: of the text that a recording kept, and of no other. */

import { max, min } from "./numbers";
import { visible } from "./visible";

/** The text of a function, as a recording keeps it. */
export interface Source {
  file: string;
  function: string;
  line: number;
  text: string;
}

export interface Excerpt {
  file: string;
  function: string;
  line: number;
  lines: { number: number; text: string; current: boolean }[];
}

/** The lines round "file:line", from the innermost function that has it; null where it was not kept. */
export function excerpt(sources: readonly Source[], site: unknown, around: number): Excerpt | null {
  const place = placeOf(site);
  if (place === null) return null;
  const [file, line] = place;
  const having = sources.filter((source) => source.file === file)
    .map((source) => ({ ...source, lines: linesOf(source) }))
    .filter((source) => source.line <= line && line < source.line + source.lines.length)
    .sort((a, b) => b.line - a.line);
  // a comprehension is a function to Python and a line to its reader: shown is the function round it
  const best = having.find((source) => !source.function.endsWith(">")) ?? having[0];
  if (!best) return null;
  const first = max(line - around, best.line);
  const shown = best.lines.slice(first - best.line, line + around + 1 - best.line);
  const indent = commonIndent(shown);
  const lines = shown.map((text, i) => ({
    number: first + i, text: visible(text.slice(indent), "\t"), current: first + i === line,
  }));
  return { file: visible(file), function: visible(best.function), line, lines };
}

const linesOf = (source: Source): string[] => source.text.replace(/\r?\n$/, "").split(/\r?\n/);

/** "moe.py:41" -> ["moe.py", 41]; a file's name may have colons. */
export function placeOf(site: unknown): [file: string, line: number] | null {
  const found = typeof site === "string" ? /^(.*):(\d+)$/s.exec(site) : null;
  return found ? [found[1]!, Number(found[2])] : null;
}

function commonIndent(lines: readonly string[]): number {
  const indents = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  return indents.length ? min(...indents) : 0;
}
