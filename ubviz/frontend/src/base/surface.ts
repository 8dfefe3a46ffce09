/** The canvases and what is round them: as many pixels as the screen has, the theme as CSS properties. */

import { atEnd } from "./dom";
import { floor, min, round } from "./numbers";
import type { Palette } from "./theme";

/** Browsers draw nothing at all on a canvas that is larger. */
const MOST_PIXELS = 16_000;

/** How many pixels of the canvas a pixel of the page has. */
export function density(width: number, height: number): number {
  return min(globalThis.devicePixelRatio || 1, MOST_PIXELS / width, MOST_PIXELS / height);
}

/** Sizing clears a canvas, so only where it changes. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number, dpr: number): void {
  const [w, h] = [round(width * dpr), round(height * dpr)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  styled(canvas, "width", `${width}px`);
  styled(canvas, "height", `${height}px`);
}

/** Set a property of the style only where it changes: setting it lays out the page anew. */
export function styled(element: HTMLElement, name: string, value: string): void {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value);
}

/** The colours of everything that is not on a canvas. */
export function coloured(root: HTMLElement, palette: Palette): void {
  if (root.dataset.ubvizTheme === palette.name) return;
  root.dataset.ubvizTheme = palette.name;
  for (const name of ["background", "ink", "soft", "grid", "focus", "fails", "waiting"] as const) {
    root.style.setProperty(`--ubviz-${name}`, palette[name]);
  }
  root.style.setProperty("--ubviz-quiet", palette.tint(palette.soft, 0.1));
  root.style.setProperty("--ubviz-line", palette.tint(palette.soft, 0.28));
  root.style.setProperty("--ubviz-chosen", palette.tint(palette.focus, 0.18));
  root.style.colorScheme = palette.name;
}

/** Call back with the width of an element, now, whenever it changes, and when the screen's density does. */
export function watchSize(element: HTMLElement, changed: (width: number) => void, signal: AbortSignal): void {
  // An observer first tells with the next frame: what is painted in that one has to know before.
  let told = floor(element.clientWidth);
  if (told) changed(told);
  const observer = new ResizeObserver((entries) => {
    const width = floor(entries[entries.length - 1]!.contentRect.width);
    if (width !== told) changed(width);
    told = -1;
  });
  observer.observe(element);
  atEnd(signal, () => observer.disconnect());
  const watchDensity = () => {
    if (signal.aborted) return;
    const query = globalThis.matchMedia(`(resolution: ${globalThis.devicePixelRatio || 1}dppx)`);
    const other = () => {
      changed(floor(element.clientWidth));
      watchDensity();
    };
    query.addEventListener("change", other, { once: true, signal });
  };
  watchDensity();
}
