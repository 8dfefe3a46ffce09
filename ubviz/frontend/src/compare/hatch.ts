/** The pattern of what only one recording has: stripes that lean the other way than those of communication. */

const tiles = new Map<string, CanvasPattern>();
const PITCH = 6;

export function alone(ctx: CanvasRenderingContext2D, colour: string, dpr: number): CanvasPattern {
  const key = `${colour} ${dpr}`;
  const known = tiles.get(key);
  if (known) return known;
  const size = Math.max(Math.round(PITCH * dpr), 4);
  const canvas = ctx.canvas.ownerDocument.createElement("canvas");
  canvas.width = canvas.height = size;
  const own = canvas.getContext("2d")!;
  own.strokeStyle = colour;
  own.lineWidth = Math.max(dpr, 1);
  own.beginPath();
  for (const by of [-size, 0, size]) { // three, so that the tile has no seam
    own.moveTo(by - 1, -1);
    own.lineTo(by + size + 1, size + 1);
  }
  own.stroke();
  const pattern = ctx.createPattern(canvas, "repeat")!;
  pattern.setTransform(new DOMMatrix().scale(1 / dpr));
  tiles.set(key, pattern);
  return pattern;
}
