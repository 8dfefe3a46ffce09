/** One stop of the Tab key for a row of buttons. */

import { listen } from "./dom";

/** Within a toolbar the arrow keys move, and Tab leaves it: the pattern that screen readers announce. */
export function oneStop(bar: HTMLElement, signal: AbortSignal): void {
  const all = () => [...bar.querySelectorAll("button")]; // tools may bring more
  const stop = (at: number) => all().forEach((each, i) => (each.tabIndex = i === at ? 0 : -1));
  stop(0);
  listen(bar, "focusin", (event) => stop(all().indexOf(event.target as HTMLButtonElement)), signal);
  listen(bar, "keydown", (event) => {
    const buttons = all();
    const now = buttons.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    buttons.at(to % buttons.length)?.focus();
  }, signal);
}
