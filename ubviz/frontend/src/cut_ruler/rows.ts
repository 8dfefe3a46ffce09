/**
 * The rows: all requests, then each microbatch in its colour. What a cut request had before its part is dotted: it is
 * not computed again, but attention looks at it.
 */

import type { Palette } from "../base/theme";
import { box, drawing, label, stroke } from "../figure/svg";
import { startsOf, type Part, type Values } from "./cut";

const [ROW, GAP, TOP, CAPTION] = [22, 10, 22, 15];

export function paintRuler({ lengths }: Values, parts: Part[], palette: Palette, width: number): SVGElement {
  const starts = startsOf(lengths);
  const total = starts[lengths.length]!;
  const x = (token: number) => 1 + ((width - 2) * token) / total;
  const step = CAPTION + ROW + GAP;
  const height = TOP + (parts.length + 1) * step - GAP;
  const drawn: SVGElement[] = [];
  const text = (from: number, to: number, y: number, said: string, colour: string) => {
    if (x(to) - x(from) >= 8 * said.length + 4) {
      drawn.push(label((x(from) + x(to)) / 2, y + ROW / 2, said, { fill: colour, "text-anchor": "middle" }));
    }
  };
  const captions: SVGElement[] = []; // above the lines of the cuts, which step back behind them
  const caption = (y: number, said: string) => captions.push(label(1, y + CAPTION / 2 - 1, said,
    { fill: palette.soft, "font-weight": 400, stroke: palette.background, "stroke-width": 4, "paint-order": "stroke" }));

  caption(TOP, "requests");
  lengths.forEach((_, request) => {
    const [from, to, y] = [starts[request]!, starts[request + 1]!, TOP + CAPTION];
    drawn.push(box(x(from) + 0.5, y + 0.5, x(to) - 0.5, y + ROW - 0.5, { fill: palette.tint(palette.main, 0.18), stroke: palette.main }));
    text(from, to, y, String(request), palette.ink);
  });
  parts.forEach(({ tokens: [from, to], requests: [first, end] }, i) => {
    const y = TOP + (i + 1) * step + CAPTION;
    const colour = palette.ubatch(i);
    caption(y - CAPTION, `microbatch ${i}`);
    if (starts[first]! < from) {
      drawn.push(box(x(starts[first]!) + 0.5, y + 0.5, x(from) - 0.5, y + ROW - 0.5,
        { fill: "none", stroke: colour, "stroke-dasharray": "2 3" }));
      text(starts[first]!, from, y, "KV cache", palette.ink);
    }
    for (let request = first; request < end; request++) {
      const [a, b] = [Math.max(starts[request]!, from), Math.min(starts[request + 1]!, to)];
      drawn.push(box(x(a) + 0.5, y, x(b) - 0.5, y + ROW, { fill: colour }));
      text(a, b, y, String(request), palette.on(colour));
    }
  });
  for (const { tokens: [at] } of parts.slice(1)) {
    drawn.push(stroke(x(at), TOP - 4, x(at), height, { stroke: palette.ink, "stroke-dasharray": "3 3" }));
    drawn.push(label(x(at), 9, `cut at ${at}`, { fill: palette.ink, "text-anchor": "middle" }));
  }
  return drawing(width, height, `requests of ${lengths.join(", ")} tokens above their ${parts.length} microbatches`, ...drawn, ...captions);
}
