"""Interactive files: the scripts of views, their data, and a stand-in for the notebook that answers them.

A page asks nobody for anything: a content security policy forbids the network, and allows no script but the few
lines here, by their hash, and the views themselves, as blobs. A view asks for blocks with the same messages as in a
notebook; they are answered from those that the file holds. A page may hold several views.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .palette import DARK, LIGHT

if TYPE_CHECKING:
    from .widget import View

STATIC = Path(__file__).resolve().parent.parent / "static"

HOST = """(async () => {
const text = (id) => document.getElementById(id).textContent;
const bytes = (base64) => {
  if (Uint8Array.fromBase64) return new DataView(Uint8Array.fromBase64(base64).buffer);
  const raw = atob(base64), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return new DataView(out.buffer);
};
const whole = new Promise((resolve) => {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
  else resolve();
});
const models = new Map();
const modelOf = (view) => {
  if (!models.has(view)) models.set(view, newModel(view));
  return models.get(view);
};
const newModel = (view) => {
  const find = (key) => document.querySelector(
    `script[data-view="${key.startsWith("code:") ? "all" : view}"][data-block="${CSS.escape(key)}"]`);
  const state = { hovered: null, _problem: "", ...JSON.parse(text("ubviz-state-" + view)),
    _head: bytes(text("ubviz-head-" + view)) };
  const listeners = new Map();
  const fire = (event, ...args) => [...(listeners.get(event) ?? [])].forEach((listener) => listener(...args));
  // a block that is still being read has nothing behind it yet
  const isWhole = (element) => element && (element.nextSibling || document.readyState !== "loading");
  const answer = async (key) => {
    if (!isWhole(find(key))) await whole;
    const element = find(key);
    if (element) fire("msg:custom", { blocks: [[key, 0, 1]] }, [bytes(element.textContent)]);
    else fire("msg:custom", { refused: [[key, "this file does not hold " + key]] }, []);
  };
  return {
    get: (name) => state[name],
    set(name, value) { if (state[name] !== value) { state[name] = value; fire("change:" + name); } },
    save_changes() {},
    send(message) { for (const key of message.ask ?? []) setTimeout(answer, 0, key); },
    on(event, listener) { listeners.set(event, [...(listeners.get(event) ?? []), listener]); },
    off(event, listener) { listeners.set(event, (listeners.get(event) ?? []).filter((known) => known !== listener)); },
  };
};
const widgets = new Map();
const widgetOf = (script) => {
  if (!widgets.has(script)) {
    const source = URL.createObjectURL(new Blob([text("ubviz-script-" + script)], { type: "text/javascript" }));
    widgets.set(script, import(source));
  }
  return widgets.get(script);
};
const begun = new Set();
const begin = async () => {
  for (const el of document.querySelectorAll("[data-ubviz-view]")) {
    const { ubvizView: view, ubvizScript: script } = el.dataset;
    if (begun.has(view)) continue;
    begun.add(view);
    const widget = (await widgetOf(script)).default;
    await widget.render({ model: modelOf(view), el });
  }
};
// traits that are tied together: [[view, name], [view, name], both ways]
const tie = ([from, name], [to, other]) => {
  const [a, b] = [modelOf(String(from)), modelOf(String(to))];
  const follow = () => b.set(other, a.get(name));
  a.on("change:" + name, follow);
  return follow;
};
for (const [a, b, both] of JSON.parse(document.getElementById("ubviz-links")?.textContent ?? "[]")) {
  tie(a, b)(); // as in a notebook, the first gives both their first value
  if (both) tie(b, a);
}
await begin();
await whole; // more views may have come with the rest of the file
await begin();
})();
"""


def standalone(view: View) -> str:
    """The text of a page that shows one view."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        policy_tag(),
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(view.title)}</title>",
        f"<style>{ground(view.theme)}{style_of([view])}</style></head><body>",
        f"<main>{place(view, 0)}</main>",
        *scripts([view]),
        *first(view, 0),
        host_tag(),
        *rest(view, 0),
        *shared([view]),
        "</body></html>\n",
    ]
    return "\n".join(parts)


# ---- the parts of a page


def policy_tag(images: str = "data:") -> str:
    """The rule that no script but ours runs, and that the network stays closed."""
    sha = base64.b64encode(hashlib.sha256(script_text(HOST).encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; script-src 'sha256-{sha}' blob:; style-src 'unsafe-inline'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def host_tag() -> str:
    """The stand-in for the notebook. It begins, and paints, while what follows it is still being read."""
    return f"<script>{script_text(HOST)}</script>"


def style_of(views: Sequence[View]) -> str:
    """The style sheets of some views, each once."""
    return "".join(_static(f"{script}.css") for script in dict.fromkeys(view.SCRIPT for view in views))


def scripts(views: Sequence[View]) -> Iterator[str]:
    """Their scripts, each once; they have to come before the host."""
    for script in dict.fromkeys(view.SCRIPT for view in views):
        yield data_tag("text/plain", f"ubviz-script-{script}", script_text(_static(f"{script}.js")))


def place(view: View, number: int) -> str:
    """Where a view goes, and what stands there without scripts."""
    return (
        f'<div data-ubviz-view="{number}" data-ubviz-script="{view.SCRIPT}"></div>'
        f"<noscript>{view._still().img()}</noscript>"
    )


def first(view: View, number: int) -> Iterator[str]:
    """What a view needs to begin."""
    state = {name: getattr(view, name) for name in view.STATE}
    yield data_tag("application/json", f"ubviz-state-{number}", json.dumps(state).replace("<", "\\u003c"))
    yield data_tag("text/plain", f"ubviz-head-{number}", in_base64(view._store.head()))


def rest(view: View, number: int) -> Iterator[str]:
    """The blocks that a view asks for later."""
    for key in view._store.keys_outside():
        yield block_tag(str(number), key, view._store.block(key))


def shared(views: Sequence[View]) -> Iterator[str]:
    """The scripts that some views ask for later, each once."""
    for key in dict.fromkeys(f"code:{name}" for view in views for name in view.CODE):
        view = next(view for view in views if key.removeprefix("code:") in view.CODE)
        yield block_tag("all", key, view._block(key))


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def ground(theme: str) -> str:
    """The ground of the page, in the colour of its theme."""
    light, dark = (f"html{{background:{theme.background};color:{theme.ink}}}" for theme in (LIGHT, DARK))
    by_theme = {"light": light, "dark": dark}
    either = f"{light}@media (prefers-color-scheme: dark){{{dark}}}"
    return f"body{{margin:16px}}img{{max-width:100%}}{by_theme.get(theme, either)}"


def data_tag(kind: str, name: str, text: str) -> str:
    """Text that the page reads and does not run."""
    return f'<script type="{kind}" id="{name}">{text}</script>'


def block_tag(view: str, key: str, data: bytes) -> str:
    """A deflated block."""
    return f'<script type="text/plain" data-view="{view}" data-block="{key}">{in_base64(data)}</script>'


def script_text(script: str) -> str:
    """A script that may stand in a page: none ends its element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
