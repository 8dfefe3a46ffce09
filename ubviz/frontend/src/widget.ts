/** The widget's face to anywidget: a view of a model, until it is told to end. */

import type { Model } from "./model";
import { Timeline } from "./timeline";

interface RenderProps {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** One entry for each living view: what tests look at for leaks. */
const living: Set<symbol> = ((globalThis as { __ubvizLive?: Set<symbol> }).__ubvizLive ??= new Set());

function render({ model, el, signal }: RenderProps): () => void {
  // older anywidgets give no signal: the returned function ends the view as well
  const end = new AbortController();
  const view = Symbol("ubviz view");
  living.add(view);
  end.signal.addEventListener("abort", () => living.delete(view), { once: true });
  if (signal?.aborted) end.abort();
  signal?.addEventListener("abort", () => end.abort(), { once: true, signal: end.signal });
  if (!end.signal.aborted) new Timeline(model, el, end.signal);
  return () => end.abort();
}

export default { render };
