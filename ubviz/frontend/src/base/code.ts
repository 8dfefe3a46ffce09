/** Lines of source as elements: each with its number, the current one marked. */

import { make } from "./dom";
import type { Excerpt } from "./excerpt";

export function codeOf({ lines }: Excerpt, attributes: Record<string, string> = {}): HTMLElement {
  return make("pre", attributes, ...lines.map(({ number, text, current }) => {
    const line = make("span", make("i", String(number)), text + "\n");
    if (current) {
      line.className = "ubviz-current";
      line.ariaCurrent = "true";
    }
    return line;
  }));
}
