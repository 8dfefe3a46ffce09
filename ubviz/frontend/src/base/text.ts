/** Fonts, how wide a text is, and where there is still room for one: a text fits, or is not there. */

import { max, min } from "./numbers";

/** How many pixels wide a text is. */
export type Measure = (text: string, font: string) => number;

const FAMILY =
  'Inter, "Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const fontOf = (weight: number, size: number) => `${weight} ${size}px ${FAMILY}`;

export const LANE_FONT = fontOf(500, 13);
export const GROUP_FONT = fontOf(600, 10.5);
export const LABEL = 12;
export const LABEL_FONT = fontOf(600, LABEL);
export const SMALL = 10.5;
export const SMALL_FONT = fontOf(600, SMALL);
export const NOTE_FONT = fontOf(400, SMALL);
export const RULER_FONT = fontOf(400, 11);
export const KEY_FONT = fontOf(600, 12);

/**
 * How far below the middle of the letters the baseline is, as a part of the size: text is centred by its
 * letters.
 */
export const CAP = 0.36;
const MOST_KNOWN = 20_000;
const known = new Map<string, Map<string, number>>();
let count = 0;
let own: CanvasRenderingContext2D | null = null;

/** Widths are asked once for each text and font, of a context of our own: asking changes its font. */
export function measureBy(ctx: CanvasRenderingContext2D): Measure {
  return (text, font) => {
    let widths = known.get(font);
    if (!widths) known.set(font, (widths = new Map()));
    let width = widths.get(text);
    if (width === undefined) {
      if (++count > MOST_KNOWN) {
        count = 0;
        for (const all of known.values()) all.clear();
      }
      own ??= ctx.canvas.ownerDocument.createElement("canvas").getContext("2d") ?? ctx;
      own.font = font;
      width = own.measureText(text).width;
      widths.set(text, width);
    }
    return width;
  };
}

/** One line, whatever a trace calls its things. */
export function clean(text: string): string {
  return /[\s\u0000-\u001f]/.test(text) ? text.replace(/[\s\u0000-\u001f]+/g, " ").trim() : text;
}

/**
 * What is taken of the sheet: boxes in a coarse grid, so that asking stays quick where there are thousands.
 */
export class Room {
  private readonly columns: number;
  private readonly cells: number[][] = [];
  private readonly boxes: number[] = [];

  constructor(
    private readonly width: number,
    private readonly height: number,
  ) {
    this.columns = (width >> 6) + 1;
  }

  take(x0: number, y0: number, x1: number, y1: number): void {
    const number = this.boxes.length;
    this.boxes.push(x0, y0, x1, y1);
    const { columns, width, height, cells } = this;
    const inside = (v: number, most: number) => min(max(v, 0), most);
    const [left, right] = [inside(x0, width) >> 6, inside(x1, width) >> 6];
    for (let row = inside(y0, height) >> 4; row <= inside(y1, height) >> 4; row++) {
      for (let at = row * columns + left; at <= row * columns + right; at++) (cells[at] ??= []).push(number);
    }
  }

  /** Whether a box lies on the sheet, and on nothing that was taken. */
  free(x0: number, y0: number, x1: number, y1: number): boolean {
    if (x0 < 0 || y0 < 0 || x1 > this.width || y1 > this.height) return false;
    const { boxes, cells, columns } = this;
    for (let row = y0 >> 4; row <= y1 >> 4; row++) {
      for (let at = row * columns + (x0 >> 6); at <= row * columns + (x1 >> 6); at++) {
        for (const n of cells[at] ?? NONE) {
          if (x1 > boxes[n] && x0 < boxes[n + 2] && y1 > boxes[n + 1] && y0 < boxes[n + 3]) return false;
        }
      }
    }
    return true;
  }
}

const NONE: readonly number[] = [];
