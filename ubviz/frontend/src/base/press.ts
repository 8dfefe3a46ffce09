/** Which keys belong to a view, and which to the notebook round it. */

/** What we look at of a KeyboardEvent. */
export interface Press {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  isComposing?: boolean;
  getModifierState?(name: string): boolean;
}

/** AltGr is how some keyboards write brackets: it is held, but the key is a plain one. */
function plain(press: Press): boolean {
  if (press.getModifierState?.("AltGraph")) return true;
  return !press.ctrlKey && !press.metaKey && !press.altKey;
}

/**
 * Whether the page round the widget may see this key: Tab, Shift+Enter (runs the cell) and what has Ctrl,
 * Meta or Alt. Every other key, used here or not, is stopped: in JupyterLab's command mode a stray x would
 * cut the cell.
 */
export function passes(press: Press): boolean {
  return !plain(press) || press.key === "Tab" || (press.key === "Enter" && press.shiftKey);
}

/** Listen to the keys pressed within a view; those that do not pass are stopped, used or not. */
export function listenToPresses(root: HTMLElement, pressed: (event: KeyboardEvent) => void, signal: AbortSignal): void {
  root.addEventListener("keydown", (event) => {
    if (passes(event)) return;
    event.stopPropagation();
    pressed(event);
  }, { signal });
}
