/** Making elements. Text from traces comes in as text nodes only; there is no way here to write markup. */

type Part = Node | string | Record<string, string>;

/**
 * An element with its class (without the prefix all of ours have), its attributes and what is in it:
 * make("p.note", { dir: "auto" }, "text").
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  what: K | `${K}.${string}`, ...parts: Part[]
): HTMLElementTagNameMap[K] {
  const [tag, name] = what.split(".") as [K, string?];
  const element = document.createElement(tag);
  if (name) element.className = "ubviz-" + name;
  for (const part of parts) {
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else for (const [key, value] of Object.entries(part)) element.setAttribute(key, value);
  }
  return element;
}

/** A button that says what it does: `name` to those who do not see it, `title` to those who point at it. */
export function button(name: string, title: string, ...children: (Node | string)[]): HTMLButtonElement {
  return make("button", { type: "button", "aria-label": name, title }, ...children);
}

const SVG = "http://www.w3.org/2000/svg";

/** A sign of 16 by 16, drawn with one line in the colour of the text. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const attributes = { viewBox: "0 0 16 16", width: "16", height: "16", "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** Listen until the view ends. */
export function listen<K extends keyof HTMLElementEventMap>(
  element: HTMLElement, type: K, listener: (event: HTMLElementEventMap[K]) => void, signal: AbortSignal,
  options: AddEventListenerOptions = {},
): void {
  element.addEventListener(type, listener, { ...options, signal });
}

/** Something done when the view ends, or at once if it has ended. */
export function atEnd(signal: AbortSignal, done: () => void): void {
  if (signal.aborted) done();
  else signal.addEventListener("abort", done, { once: true });
}
