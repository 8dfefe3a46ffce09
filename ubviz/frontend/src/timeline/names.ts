/** Letters that stand for operations where there is no room for a name: the same as in the still picture. */

/** The operations that everything is about: these have their first letter. */
const FIRST = ["attention", "combine", "dispatch", "experts", "router"];

/** A letter or two for each name: attention A, combine C, copy Cp. */
export function initials(names: Iterable<string>): Map<string, string> {
  const found = new Map<string, string>();
  const taken = new Set<string>();
  const ordered = [...new Set(names)].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  for (const name of ordered) {
    const short = shorter(name).find((letters) => !taken.has(letters));
    if (short === undefined) continue;
    found.set(name, short);
    taken.add(short);
  }
  return found;
}

const rank = (name: string): number => FIRST.includes(name) ? 0 : 1;

function shorter(name: string): string[] {
  const words = name.split(/\s+/).filter((word) => word !== "");
  const [first] = [...(words[0] ?? "?").toUpperCase()]; // whole code points
  if (words.length > 1)
    return [
      first +
        words
          .slice(1, 3)
          .map((word) => [...word.toLowerCase()][0])
          .join(""),
    ];
  const rest = [...name].slice(1).filter((letter) => !"aeiou".includes(letter) && /\p{L}/u.test(letter));
  return [first, ...rest.map((letter) => first + letter)];
}
