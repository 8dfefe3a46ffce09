/**
 * Durations as people write them, and the marks of a ruler: letter for letter as the still picture has
 * them.
 */

const UNITS: readonly [size: number, unit: string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "\u00b5s"],
  [1, "ns"],
];

/** A duration with three digits at most: 422000 -> "422 µs". */
export function duration(ns: number): string {
  const sign = ns < 0 ? "-" : "";
  ns = Math.abs(ns);
  for (const [size, unit] of UNITS) {
    if (round3(ns) >= size) return `${sign}${plain(round3(ns / size))} ${unit}`;
  }
  return `${sign}${plain(round3(ns))} ns`;
}

/** A moment to the nearest `grain` ns, as long as it needs to be: 200051 at a grain of 100 -> "200.1 µs". */
export function moment(ns: number, grain: number): string {
  const [size, unit] = UNITS.find(([s]) => Math.abs(ns) >= s) ?? UNITS[3];
  const digits = Math.min(Math.max(Math.ceil(Math.log10(size / Math.max(grain, 1)) - 1e-9), 0), 9);
  return `${plain(round(ns / size, digits))} ${unit}`;
}

/** Three significant digits (all of a whole number). */
export function round3(value: number): number {
  if (value === 0) return 0;
  return round(value, Math.max(2 - Math.floor(Math.log10(Math.abs(value))), 0));
}

/** Rounding where a half goes to the even digit, as in Python: the two sides must write the same number. */
export function round(value: number, digits: number): number {
  const near = value.toFixed(digits);
  const rest =
    value
      .toFixed(Math.min(digits + 60, 100))
      .split(".")[1]
      ?.slice(digits) ?? "";
  if (!/^50*$/.test(rest)) return Number(near);
  const unit = 10 ** -digits;
  const low = Math.floor(value / unit);
  return Number(((low % 2 === 0 ? low : low + 1) * unit).toFixed(digits));
}

/** A number without needless zeros: 2.50 -> "2.5". */
export function plain(value: number): string {
  return value.toFixed(10).replace(/0+$/, "").replace(/\.$/, "");
}

/** The next of 1, 2, 5, 10, 20 ... at or above, in nanoseconds. */
export function nice(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = [1, 2, 5, 10].find((step) => step * power >= raw * (1 - 1e-9));
  return Math.trunc((step ?? 10) * power);
}

/**
 * Where a ruler of a stretch that begins at its zero is marked, and what is written there, all in one unit.
 */
export function ruler(span_ns: number, room: number, apart: number): [at: number, label: string][] {
  return rulerOf(0, span_ns, room, apart);
}

/** The same for a stretch from a to b (both counted from the ruler's zero). */
export function rulerOf(a: number, b: number, room: number, apart: number): [at: number, label: string][] {
  const step = nice((b - a) / Math.max(room / apart, 1));
  const first = Math.ceil(a / step);
  const last = Math.floor(b / step);
  const most = Math.max(Math.abs(first), Math.abs(last)) * step;
  const [size, unit] =
    UNITS.find(([s]) => s <= Math.max(most, 1) && (step >= s || step * 100 >= s)) ?? UNITS[3];
  const found: [number, string][] = [];
  for (let n = first; n <= last; n++) {
    found.push([n * step, `${plain(round((n * step) / size, 6))} ${unit}`]);
  }
  return found;
}
