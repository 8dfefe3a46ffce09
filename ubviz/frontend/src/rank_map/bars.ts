/** A bar for each rank: its real tokens in the colours of the microbatches they go to, padding hatched, the cuts. */

import type { Palette } from "../base/theme";
import { box, drawing, hatching, label, stroke } from "../figure/svg";
import type { Agreement, Values } from "./vote";

const [ROW, GAP, GUTTER] = [18, 8, 56];

export function paintCut({ tokens }: Values, agreed: Agreement, palette: Palette, width: number): SVGElement {
  const largest = Math.max(1, ...tokens);
  const x = (token: number) => GUTTER + ((width - GUTTER - 1) * token) / largest;
  const all = agreed.votes.every(Boolean); // only then somebody asks where a cut would be
  const top = all ? 20 : 2;
  const height = top + tokens.length * (ROW + GAP);
  const parts: SVGElement[] = [];
  tokens.forEach((count, rank) => {
    const y = top + rank * (ROW + GAP);
    parts.push(label(0, y + ROW / 2, `rank ${rank}`, { fill: palette.soft, "font-weight": 400 }));
    const edges = all ? [0, ...agreed.cuts, largest] : [0, count];
    edges.slice(1).forEach((end, i) => {
      const [from, to] = [edges[i]!, Math.min(end, count)];
      if (to <= from) return;
      const colour = all ? palette.ubatch(i) : palette.main;
      parts.push(box(x(from) + 0.5, y, x(to) - 0.5, y + ROW, { fill: palette.tint(colour, agreed.should_ubatch ? 1 : 0.55) }));
    });
    if (all && count < largest) {
      parts.push(hatching(x(count), y, x(largest), y + ROW, palette.waiting));
      parts.push(box(x(count), y + 0.5, x(largest), y + ROW - 0.5, { fill: "none", stroke: palette.waiting }));
    }
    if (agreed.empty === rank) {
      parts.push(box(x(agreed.cuts[agreed.cuts.length - 1]!), y - 2, x(largest), y + ROW + 2,
        { fill: "none", stroke: palette.fails, "stroke-width": 2 }));
    }
  });
  if (all) {
    for (const cut of agreed.cuts) {
      parts.push(stroke(x(cut), top - 4, x(cut), height - GAP + 4, { stroke: palette.ink, "stroke-dasharray": "3 3" }));
      parts.push(label(x(cut), 7, String(cut), { fill: palette.ink, "text-anchor": "middle" }));
    }
  }
  const said = all ? `tokens of each rank, padded to ${largest}, cut at ${agreed.cuts.join(" and ")}` : "tokens of each rank, neither padded nor cut";
  return drawing(width, height, said, ...parts);
}
