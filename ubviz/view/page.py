"""One interactive file: the widget's script, its data, and a stand-in for the notebook that answers the widget.

The page asks nobody for anything: a content security policy forbids the network, and allows no script but the few
lines here, by their hash, and the widget itself, as a blob. The widget asks for blocks with the same messages as in a
notebook; they are answered from those that the file holds.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .palette import DARK, LIGHT

if TYPE_CHECKING:
    from .fallback import Still
    from .payload import Payload

STATIC = Path(__file__).resolve().parent.parent / "static"
STATE = ("view_range", "cursor", "selection", "theme", "order")
"""The traits that a page begins with."""

HOST = """
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
const find = (key) => document.querySelector(`script[data-block="${CSS.escape(key)}"]`);
const state = { hovered: null, _problem: "", ...JSON.parse(text("ubviz-state")), _head: bytes(text("ubviz-head")) };
const listeners = new Map();
const fire = (event, ...args) => [...(listeners.get(event) ?? [])].forEach((listener) => listener(...args));
const answer = async (key) => {
  if (!find(key)) await whole; // the rest of the file is still being read
  const element = find(key);
  if (element) fire("msg:custom", { blocks: [[key, 0, 1]] }, [bytes(element.textContent)]);
  else fire("msg:custom", { refused: [[key, "this file does not hold " + key]] }, []);
};
const model = {
  get: (name) => state[name],
  set(name, value) { if (state[name] !== value) { state[name] = value; fire("change:" + name); } },
  save_changes() {},
  send(message) { for (const key of message.ask ?? []) setTimeout(answer, 0, key); },
  on(event, listener) { listeners.set(event, [...(listeners.get(event) ?? []), listener]); },
  off(event, listener) { listeners.set(event, (listeners.get(event) ?? []).filter((known) => known !== listener)); },
};
const source = URL.createObjectURL(new Blob([text("ubviz-widget")], { type: "text/javascript" }));
const widget = (await import(source)).default;
await widget.render({ model, el: document.getElementById("ubviz") });
"""


def standalone(payload: Payload, state: dict[str, Any], still: Still, title: str) -> str:
    """The text of a page that shows a payload."""
    script = script_text(HOST)
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    policy = (
        f"default-src 'none'; script-src 'sha256-{sha}' blob:; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{html.escape(str(payload.index['title'] or title))}</title>",
        f"<style>{ground(str(state['theme']))}{_static('widget.css')}</style></head><body>",
        f'<main id="ubviz"></main><noscript>{still.img()}</noscript>',
        data_tag("application/json", "ubviz-state", json.dumps(state).replace("<", "\\u003c")),
        data_tag("text/plain", "ubviz-head", in_base64(payload.head())),
        data_tag("text/plain", "ubviz-widget", script_text(_static("widget.js"))),
        # async: it begins, and paints, while the blocks that only a click asks for are still being read
        f'<script type="module" async>{script}</script>',
        *(
            f'<script type="text/plain" data-block="{key}">{in_base64(payload.block(key))}</script>'
            for key in payload.keys_outside()
        ),
        "</body></html>\n",
    ]
    return "\n".join(parts)


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


def script_text(script: str) -> str:
    """A script that may stand in a page: none ends its element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
