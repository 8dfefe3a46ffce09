/** A view's face to anywidget: it lives until it is told to end. */

interface RenderProps<Model> {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** One entry for each living view: what tests look at for leaks. */
const living: Set<symbol> = ((globalThis as { __ubvizLive?: Set<symbol> }).__ubvizLive ??= new Set());

/** What a bundle exports; `begin` makes a view, which ends with its signal. */
export function widget<Model>(begin: (model: Model, el: HTMLElement, signal: AbortSignal) => unknown) {
  return {
    render({ model, el, signal }: RenderProps<Model>): () => void {
      // older anywidgets give no signal: the returned function ends the view as well
      const end = new AbortController();
      const view = Symbol("ubviz view");
      living.add(view);
      end.signal.addEventListener("abort", () => living.delete(view), { once: true });
      if (signal?.aborted) end.abort();
      signal?.addEventListener("abort", () => end.abort(), { once: true, signal: end.signal });
      if (!end.signal.aborted) begin(model, el, end.signal);
      return () => end.abort();
    },
  };
}
