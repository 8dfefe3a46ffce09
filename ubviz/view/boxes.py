"""Views in boxes of ipywidgets (HBox, VBox, Tab ...): what stands in for them where no kernel answers.

A view that is shown by itself is followed by its picture and its words. A box is shown by ipywidgets, which knows
nothing of them: so we are asked first, whenever a notebook shows a box, and let ipywidgets do it where no view is in
it. A notebook's own rule for boxes is left alone. What a function shows in an ``Output``, as those of ``interact`` do,
is known only once it runs, and is not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import ipywidgets

if TYPE_CHECKING:
    from .widget import View


def noticed() -> None:
    """Have boxes shown with what stands in for their views, in the notebook that runs this, if one does."""
    from IPython import get_ipython

    shell = get_ipython()
    formatter = getattr(shell, "display_formatter", None)
    if formatter is not None:
        known = formatter.ipython_display_formatter.type_printers
        known.setdefault(ipywidgets.Box, show)


def show(box: ipywidgets.Box) -> None:
    """Publish a box, then the stand-ins of the views in it, which hide while the box is alive.

    Raises ``NotImplementedError``, as IPython wants it, where no view is in it: then it is shown as ever.
    """
    views = list(views_in(box))
    bundle = getattr(box, "_repr_mimebundle_", None)
    if not views or bundle is None:
        raise NotImplementedError
    from IPython.display import publish_display_data

    publish_display_data(bundle())
    for view in views:
        for data, metadata in view._still().outputs():
            publish_display_data(data, metadata)


def views_in(shown: object) -> Iterator[View]:
    """The views that are seen where a widget is: itself, or those in a box and in the boxes in it, each once."""
    from .widget import View

    seen: set[int] = set()
    todo = [shown]
    while todo:
        widget = todo.pop()
        if id(widget) in seen:
            continue
        seen.add(id(widget))
        if isinstance(widget, View):
            yield widget
        elif isinstance(widget, ipywidgets.Box):
            todo += reversed(widget.children)
