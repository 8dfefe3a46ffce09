"""A notebook that has run, as one page: text, code, outputs, and its views alive."""

from __future__ import annotations

import base64
import html
import json
import mimetypes
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...view import page
from ...view.palette import DARK, LIGHT
from ...view.widget import View, tied
from .run import Ran, Shown

STYLE = """
:root{--paper:%(paper)s;--ink:%(ink)s;--soft:%(soft)s;--grid:%(grid)s;--link:%(link)s;color-scheme:light}
@media (prefers-color-scheme: dark){:root{--paper:%(dpaper)s;--ink:%(dink)s;--soft:%(dsoft)s;--grid:%(dgrid)s;
--link:%(dlink)s;color-scheme:dark}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1080px;padding:24px 20px 64px;background:var(--paper);color:var(--ink);
font:16px/1.6 Inter,system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
main>p,main>ul,main>ol,main>h1,main>h2,main>h3,main>table,main>details{max-width:74ch}
h1{font-size:28px;line-height:1.25;margin:20px 0 12px}h2{font-size:20px;margin:34px 0 8px}a{color:var(--link)}
pre,code{font:13px/1.55 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
p code,li code,td code{padding:1px 4px;overflow-wrap:anywhere;border-radius:4px;background:var(--grid)}
pre{margin:10px 0;padding:10px 14px;border-radius:6px;overflow:auto}
pre.code{background:var(--grid)}
pre.out{padding:4px 14px;border-left:2px solid var(--grid);border-radius:0;white-space:pre-wrap;overflow-wrap:anywhere}
pre.code b{font-weight:600}pre.code i{color:var(--soft);font-style:normal}
.out table,main table{border-collapse:collapse;font-size:14px}.out{overflow:auto}
th,td{padding:4px 12px 4px 0;border-bottom:1px solid var(--grid);text-align:left;vertical-align:top}
nav{display:flex;justify-content:space-between;gap:16px;color:var(--soft);font-size:14px}
img{max-width:100%%}summary{cursor:pointer;color:var(--soft)}figure{margin:12px 0}
.row{display:flex;flex-wrap:wrap;gap:12px}.row>*{flex:1 1 320px;min-width:0}
"""


def styled() -> str:
    """The style of all pages, in both themes."""
    return STYLE % {
        "paper": LIGHT.background, "ink": LIGHT.ink, "soft": LIGHT.soft, "grid": LIGHT.grid, "link": LIGHT.ubatch(0),
        "dpaper": DARK.background, "dink": DARK.ink, "dsoft": DARK.soft, "dgrid": DARK.grid, "dlink": DARK.ubatch(0),
    }  # fmt: skip


class Page:
    """One page: it numbers its views, and writes what they need once."""

    def __init__(self, title: str, folder: Path, links: str = "") -> None:
        self.title, self.folder, self.links = title, folder, links
        self.views: list[View] = []

    def text(self, cells: Sequence[Ran]) -> str:
        """The whole of it."""
        body = [part for cell in cells for part in self._cell(cell)]
        links = page.data_tag("application/json", "ubviz-links", json.dumps(tied(self.views)))
        # what views need stands after the text, so that it can be read while they are still coming
        needs = [part for number, view in enumerate(self.views) for part in page.first(view, number)]
        later = [part for number, view in enumerate(self.views) for part in page.rest(view, number)]
        return "\n".join([
            "<!doctype html>", '<html lang="en"><head><meta charset="utf-8">', page.policy_tag(),
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{html.escape(self.title)}</title>",
            f"<style>{styled()}{page.style_of(self.views)}</style></head><body>",
            self.links, "<main>", *body, "</main>", self.links,
            *page.scripts(self.views), *needs, links, page.host_tag(), *later, *page.shared(self.views),
            "</body></html>\n",
        ])  # fmt: skip

    def _cell(self, cell: Ran) -> Iterator[str]:
        if cell.kind == "markdown":
            yield self._markdown(cell.source)
        elif cell.kind == "code":
            yield f'<pre class="code" tabindex="0">{coloured(cell.source)}</pre>'
            for shown in cell.shown:
                yield from self._shown(shown)

    def _markdown(self, source: str) -> str:
        from nbconvert.filters.markdown import markdown2html

        text = str(markdown2html(source))
        text = re.sub(r'<a class="anchor-link"[^>]*>.*?</a>', "", text)
        text = re.sub(r'href="([^":#]+)\.(ipynb|md)', r'href="\1.html', text)
        return re.sub(r'src="([^":]+)"', self._embedded, text)

    def _embedded(self, match: re.Match[str]) -> str:
        """A picture of the repository, within the page."""
        file = self.folder / match[1]
        kind = mimetypes.guess_type(file.name)[0] or "image/png"
        return f'src="data:{kind};base64,{base64.b64encode(file.read_bytes()).decode("ascii")}"'

    def _shown(self, shown: Shown) -> Iterator[str]:
        if shown.kind == "text":
            yield f'<pre class="out">{html.escape(shown.text.rstrip())}</pre>'
        elif shown.kind == "html":
            yield f'<div class="out">{shown.text}</div>'
        elif shown.kind == "picture":
            alt = html.escape(shown.text, quote=True)
            yield f'<figure><img alt="{alt}" src="data:image/png;base64,{shown.widget}"></figure>'
        else:
            yield self._widget(shown.widget)

    def _widget(self, widget: Any) -> str:
        """A view, or a box of views; any other widget needs a kernel, and is named in words."""
        if isinstance(widget, View):
            self.views.append(widget)
            return page.place(widget, len(self.views) - 1)
        children = getattr(widget, "children", None)
        if children:
            row = ' class="row"' if type(widget).__name__ == "HBox" else ""
            return f"<div{row}>{''.join(self._widget(child) for child in children)}</div>"
        return f'<pre class="out">{html.escape(type(widget).__name__)} (needs a kernel)</pre>'


def coloured(source: str) -> str:
    """Python's words and comments told apart, without colours of their own."""
    from pygments.lexers.python import PythonLexer
    from pygments.token import Comment, Keyword, String

    def piece(kind: Any, text: str) -> str:
        safe = html.escape(text)
        if kind in Comment:
            return f"<i>{safe}</i>"
        return f"<b>{safe}</b>" if kind in Keyword else f"<i>{safe}</i>" if kind in String.Doc else safe

    return "".join(piece(kind, text) for kind, text in PythonLexer().get_tokens(source)).rstrip("\n")
