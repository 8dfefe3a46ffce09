/** The barrier as a row of places, and the microbatches as a ring, with main beside it. */

import { make } from "../base/dom";
import type { Palette } from "../base/theme";
import { place, WORDS, type Standing, type Step } from "./run";

const SIZE = 220;
const SVG = "http://www.w3.org/2000/svg";

function shape(tag: string, attributes: Record<string, string | number>, text = ""): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text) element.textContent = text;
  return element;
}

/** The places of the barrier; who is there stands in one, in the order of coming. */
export function barrier(step: Step, parties: number, palette: Palette): HTMLElement[] {
  return Array.from({ length: parties }, (_, i) => {
    const who = step.here[i];
    const slot = make("span.slot", who ?? "");
    if (who) {
      const colour = palette.ubatch(who === "main" ? null : Number(who.slice(7)));
      slot.style.background = colour;
      slot.style.color = palette.on(colour);
    }
    return slot;
  });
}

/** The ring: filled is who has the turn, a flag stands up beside whose host event is set. */
export function ring(step: Step, palette: Palette): SVGElement {
  const n = step.flags.length;
  const middle = SIZE / 2;
  const svg = shape("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, width: SIZE, height: SIZE, "aria-hidden": "true" });
  svg.append(shape("circle", { cx: middle, cy: middle, r: 70, stroke: "var(--ubviz-line)", fill: "none" }));
  for (let i = 0; i < n; i++) {
    const [x, y] = place(i, n, middle, 70);
    const colour = palette.ubatch(i);
    const stands = step.stands[i + 1]!;
    const fill = stands === "turn" ? colour : palette.background;
    svg.append(
      shape("circle", {
        cx: x, cy: y, r: 18, fill, stroke: colour, "stroke-width": 2,
        ...(stands === "away" || stands === "barrier" ? { "stroke-dasharray": "3 3" } : {}),
        ...(stands === "ended" ? { opacity: 0.35 } : {}),
      }),
      shape("text", { x, y: y + 5, "text-anchor": "middle", fill: stands === "turn" ? palette.on(colour) : "currentColor", stroke: "none" }, String(i)),
    );
    if (step.flags[i]) {
      const [fx, fy] = place(i, n, middle, 98);
      svg.append(shape("path", { d: `M${fx - 4} ${fy + 9}v-18l11 4.5l-11 4.5`, stroke: colour, fill: colour }));
    }
  }
  return svg;
}

/** Each thread in words. */
export function threads(step: Step, palette: Palette): HTMLElement[] {
  return step.stands.map((stands: Standing, i) => {
    const mark = make("span.mark");
    mark.style.background = palette.ubatch(i ? i - 1 : null);
    const up = i && step.flags[i - 1] ? ", its flag is up" : "";
    return make("li", mark, make("b", i ? `ubatch ${i - 1}` : "main"), ` ${WORDS[stands]}${up}`);
  });
}
