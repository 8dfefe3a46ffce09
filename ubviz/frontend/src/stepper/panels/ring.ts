/** The microbatches in a ring, and the baton: with whom it is, or on its way from whom to whom. */

import { make } from "../../base/dom";
import { changed, keysOf, mark, rankName, value, type Seen } from "../seen";

/** The picture's width for few and for many microbatches. */
const SIZES = [168, 216] as const;
const FEW = 4;
const SVG = "http://www.w3.org/2000/svg";

interface Turn {
  members: number[];
  holds: number[];
  left: number[];
  /** From whom to whom; -1 is main. */
  handing: [number, number] | null;
}

export function ring(seen: Seen): HTMLElement[] {
  return keysOf(seen, "ring").map((key) => {
    const get = <T>(field: string, other: T) => value<T>(seen, "ring", key, field) ?? other;
    const turn: Turn = {
      members: get("members", []), holds: get("holds", []), left: get("left", []), handing: get("handing", null),
    };
    const words = mark(make("b.state", inWords(turn)), changed(seen, "ring", key, "holds", "handing", "left"));
    const made = make("div.ring");
    if (turn.members.length) made.append(drawn(seen, turn));
    made.append(make("p", rankName(seen, key), words));
    return made;
  });
}

const listed = (ids: readonly number[]) => ids.map((id) => `ubatch ${id}`).join(" and ");

export function inWords({ members, holds, left, handing }: Turn): string {
  if (!members.length) return "no microbatches in this step";
  if (handing) {
    const [from, to] = handing;
    const words = `${from < 0 ? "main" : `ubatch ${from}`} hands on to ubatch ${to}`;
    return holds.length ? `${words}, while ${listed(holds)} ${holds.length > 1 ? "run" : "runs"}` : words;
  }
  if (holds.length > 1) return `${listed(holds)} are awake at once`;
  if (holds.length === 1) return `it is ubatch ${holds[0]}'s turn`;
  return left.length === members.length ? "all have left" : "nobody has the turn";
}

function drawn(seen: Seen, turn: Turn): SVGSVGElement {
  const { members } = turn;
  const { palette } = seen;
  const count = members.length;
  const size = SIZES[count <= FEW ? 0 : 1];
  const middle = size / 2;
  const radius = count === 1 ? 0 : middle - 28;
  const r = Math.min(19, count > 1 ? (Math.PI * radius) / count - 5 : 19);
  const svg = el("svg", { viewBox: `0 0 ${size} ${size}`, width: size, height: size, "aria-hidden": "true" }) as SVGSVGElement;
  svg.classList.add("ubviz-ring-picture");
  const at = (i: number): [number, number] => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
  };
  if (count > 1) svg.append(el("circle", {
    cx: middle, cy: middle, r: radius, stroke: palette.grid, "stroke-width": 3, fill: "none",
  }));
  for (const i of members) svg.append(...member(seen, turn, i, at(i), r));
  svg.append(...baton(seen, turn, [middle, middle], at, r));
  return svg;
}

function member(seen: Seen, { holds, left }: Turn, i: number, [x, y]: [number, number], r: number): SVGElement[] {
  const { palette } = seen;
  const colour = palette.ubatch(i);
  const awake = holds.includes(i);
  const gone = left.includes(i);
  const circle = el("circle", {
    cx: x, cy: y, r, fill: awake ? colour : palette.background, stroke: gone ? palette.waiting : colour,
    "stroke-width": 2, ...(awake ? {} : { "stroke-dasharray": gone ? "1 4" : "4 3" }),
  });
  const text = el("text", {
    x, y: y + 4.5, "text-anchor": "middle", fill: awake ? palette.on(colour) : gone ? palette.soft : palette.ink,
    stroke: "none", "font-size": Math.min(14, r), "font-weight": 600,
  });
  text.textContent = String(i);
  return [circle, text];
}

/** A small disc: on the ring's inner side of who has it, half way where it is on its way. */
function baton(
  seen: Seen, { holds, handing, members }: Turn, centre: [number, number], at: (i: number) => [number, number], r: number,
): SVGElement[] {
  const { palette } = seen;
  if (handing) {
    const [from, to] = handing;
    const start = from < 0 || !members.includes(from) ? centre : at(from);
    const end = members.includes(to) ? at(to) : centre;
    if (start === end || from === to) return disc(palette.ink, [start[0] + r + 6, start[1]]);
    return [...arrow(palette.ink, start, end, from < 0 ? 0 : r + 3, r + 5),
      ...disc(palette.ink, [(start[0] + end[0]) / 2, (start[1] + end[1]) / 2])];
  }
  return holds.filter((i) => members.includes(i)).flatMap((i) => {
    const [x, y] = at(i);
    const away = Math.hypot(centre[0] - x, centre[1] - y);
    if (away < 1) return disc(palette.ink, [x + r + 8, y]);
    const part = (r + 8) / away;
    return disc(palette.ink, [x + (centre[0] - x) * part, y + (centre[1] - y) * part]);
  });
}

const disc = (colour: string, [x, y]: [number, number]): SVGElement[] =>
  [el("circle", { cx: x, cy: y, r: 5, fill: colour, stroke: "none" })];

function arrow(colour: string, a: [number, number], b: [number, number], from: number, to: number): SVGElement[] {
  const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
  const [dx, dy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
  const [x0, y0] = [a[0] + dx * from, a[1] + dy * from];
  const [x1, y1] = [b[0] - dx * to, b[1] - dy * to];
  const [wide, long] = [3.5, 7];
  const head = `M${x1} ${y1}L${x1 - dx * long - dy * wide} ${y1 - dy * long + dx * wide}`
    + `L${x1 - dx * long + dy * wide} ${y1 - dy * long - dx * wide}Z`;
  return [el("path", { d: `M${x0} ${y0}L${x1 - dx * long} ${y1 - dy * long}`, stroke: colour, "stroke-width": 1.6 }),
    el("path", { d: head, fill: colour, stroke: "none" })];
}

function el(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
