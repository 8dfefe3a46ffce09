/** Letters that stand for a name where there is no room for it. */

/** The fewest letters of a name that no other one begins with; only a to z become capitals: "µs" is no "ΜS". */
export function begins(name: string, all: readonly string[]): string {
  const signs = Array.from(name); // whole code points
  let count = 1;
  const first = (): string => signs.slice(0, count).join("");
  while (count < signs.length && all.some((other) => other !== name && other.startsWith(first()))) count++;
  return first().replace(/^[a-z]/, (letter) => letter.toUpperCase());
}
