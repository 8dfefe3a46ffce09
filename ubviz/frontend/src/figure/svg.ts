/** Elements of SVG: shapes and their attributes; text as text nodes. */

const NAMESPACE = "http://www.w3.org/2000/svg";

export type Attributes = Record<string, string | number>;

export function svg(tag: string, attributes: Attributes, ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A picture of so many pixels, with its words. */
export const drawing = (width: number, height: number, label: string, ...children: Node[]): SVGElement =>
  svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "ubviz-drawing" }, ...children);

export function box(x0: number, y0: number, x1: number, y1: number, attributes: Attributes): SVGElement {
  return svg("rect", { x: x0, y: y0, width: Math.max(x1 - x0, 0), height: y1 - y0, ...attributes });
}

export function stroke(x0: number, y0: number, x1: number, y1: number, attributes: Attributes): SVGElement {
  return svg("line", { x1: x0, y1: y0, x2: x1, y2: y1, ...attributes });
}

/** Text whose letters are centred on y. */
export function label(x: number, y: number, text: string, attributes: Attributes): SVGElement {
  return svg("text", { x, y, dy: "0.36em", ...attributes }, text);
}

/** Hatching at 45 degrees, within a box: what is there, and is no work. */
export function hatching(x0: number, y0: number, x1: number, y1: number, colour: string): SVGElement {
  const [height, lines] = [y1 - y0, [] as string[]];
  for (let x = x0 - height; x < x1; x += 6) {
    const [from, to] = [Math.max(x, x0), Math.min(x + height, x1)];
    if (to > from) lines.push(`M${from} ${y1 - (from - x)}L${to} ${y1 - (to - x)}`);
  }
  return svg("path", { d: lines.join(""), stroke: colour, "stroke-width": 1, fill: "none" });
}
