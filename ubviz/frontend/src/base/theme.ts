/** The colours, as in ubviz/view/palette.py: a microbatch is a colour, a kind of work is a pattern. */

import { kept } from "./kept";
import type { ThemeName } from "./model";
import { round } from "./numbers";

export interface Palette {
  name: ThemeName;
  background: string;
  ink: string;
  soft: string;
  grid: string;
  arrow: string;
  waiting: string;
  main: string;
  fails: string;
  focus: string;
  /** What hatching is drawn with, over a filled box. */
  hatch: string;
  ubatches: readonly string[];
  /** The colour of a microbatch, from the ninth on a darker one; grey for what belongs to none. */
  ubatch(index: number | null): string;
  /** The colour of text on a filled span: whichever of white and black reads better. */
  on(colour: string): string;
  /** The colour, thinned with the background. */
  tint(colour: string, share: number): string;
}

type Colours = Omit<Palette, "ubatch" | "on" | "tint">;
const ON_DARK = "#ffffff";
const ON_LIGHT = "#0f131b";
/** How much is left of a colour that is used for the second time. */
const DARKER = 0.55;

export const LIGHT = palette({
  name: "light",
  background: "#ffffff",
  ink: "#1f2430",
  soft: "#5b6472",
  grid: "#eceff3",
  arrow: "#7a8494",
  waiting: "#a3acba",
  main: "#6b7482",
  fails: "#c62828",
  focus: "#2f6fde",
  hatch: "#ffffff",
  ubatches: ["#2f6fde", "#d9780f", "#1c9a73", "#8b5bc9", "#c2417c", "#4b7f16", "#0e7c9b", "#8a6a3b"],
});
export const DARK = palette({
  name: "dark",
  background: "#15181e",
  ink: "#e7eaf0",
  soft: "#9aa4b3",
  grid: "#232833",
  arrow: "#8b95a6",
  waiting: "#667080",
  main: "#8f98a8",
  fails: "#ff7b7b",
  focus: "#6ea2ff",
  hatch: "#15181e",
  ubatches: ["#6ea2ff", "#ffb057", "#4fd1a5", "#c29bff", "#ff8fb8", "#a9d66b", "#5fc8e8", "#d8b98a"],
});

function palette(colours: Colours): Palette {
  const texts = new Map<string, string>();
  const darker = new Map<string, string>();
  const tints = new Map<number, Map<string, string>>();
  return {
    ...colours,
    ubatch: (index) => {
      if (index === null || index < 0) return colours.main;
      const colour = colours.ubatches[index % 8]!;
      return index & 8 ? kept(darker, colour, () => mix(colour, ON_LIGHT, DARKER)) : colour;
    },
    on: (colour) =>
      kept(texts, colour, () =>
        contrast(ON_DARK, colour) >= contrast(ON_LIGHT, colour) ? ON_DARK : ON_LIGHT,
      ),
    tint: (colour, share) => {
      const known = kept(tints, share, () => new Map<string, string>());
      return kept(known, colour, () => mix(colour, colours.background, share));
    },
  };
}

/** Red, green and blue, 0 to 255. */
export function channels(colour: string): [number, number, number] {
  const n = parseInt(colour.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/** `share` of the first colour, the rest of the other. */
export function mix(colour: string, other: string, share: number): string {
  const b = channels(other);
  const made = channels(colour).map((a, i) => round(a * share + b[i] * (1 - share)));
  return "#" + made.map((value) => value.toString(16).padStart(2, "0")).join("");
}

/** Relative luminance, after WCAG 2.1. */
export function luminance(colour: string): number {
  const [r, g, b] = channels(colour).map((value) => {
    const p = value / 255;
    return p <= 0.04045 ? p / 12.92 : ((p + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast ratio of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** The colours for a setting; "auto" goes by what the page around us says about itself. */
export function paletteOf(setting: "auto" | ThemeName): Palette {
  const name = setting === "auto" ? themeOfPage() : setting;
  return name === "dark" ? DARK : LIGHT;
}

/**
 * JupyterLab, VS Code, Colab, then the system. By attributes: the variables of a new theme can come later.
 */
function themeOfPage(): ThemeName {
  const lab = document.body.dataset.jpThemeLight;
  if (lab !== undefined) return lab === "false" ? "dark" : "light";
  const code = document.body.dataset.vscodeThemeKind;
  if (code) return /dark$|high-contrast$/.test(code) ? "dark" : "light";
  const colab = document.documentElement.getAttribute("theme");
  if (colab) return colab === "dark" ? "dark" : "light";
  return systemIsDark()?.matches ? "dark" : "light";
}

let query: MediaQueryList | undefined;

/** Asked several times a picture: a query of the system is not made anew each time. */
const systemIsDark = (): MediaQueryList | undefined =>
  (query ??= globalThis.matchMedia?.("(prefers-color-scheme: dark)"));

/** Call back when the page or the system may have changed its theme. */
export function watchTheme(changed: () => void, signal: AbortSignal): void {
  const watcher = new MutationObserver(changed);
  const names = ["data-jp-theme-light", "data-jp-theme-name", "data-vscode-theme-kind", "class"];
  watcher.observe(document.body, { attributes: true, attributeFilter: names });
  watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["theme"] });
  signal.addEventListener("abort", () => watcher.disconnect());
  systemIsDark()?.addEventListener("change", changed, { signal });
}
