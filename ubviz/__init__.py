"""ubviz: how micro-batching hides communication behind computation, run, recorded and shown.

The names below are loaded when they are first used, so that ``import ubviz`` needs no more than
the standard library, starts no thread, and tells at once when an optional part is missing::

    import ubviz
    trace = ubviz.load("run.json.gz")
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ubviz.analysis import analyze
    from ubviz.exploration import demo, explore
    from ubviz.exploration.costs import costs_from
    from ubviz.play import Scheduler
    from ubviz.play.lab import Lab
    from ubviz.recording import record
    from ubviz.runtime import get_runtime
    from ubviz.trace import Trace, example, load
    from ubviz.view import Compare, Stepper, Timeline, before_after, picture

__version__ = "0.1.0"

__all__ = [
    "Compare",
    "Lab",
    "Scheduler",
    "Stepper",
    "Timeline",
    "Trace",
    "__version__",
    "analyze",
    "before_after",
    "costs_from",
    "demo",
    "example",
    "explore",
    "get_runtime",
    "load",
    "picture",
    "record",
]

#: Public name -> where it lives.
_PUBLIC = {
    "get_runtime": "ubviz.runtime:get_runtime",
    "record": "ubviz.recording:record",
    "load": "ubviz.trace:load",
    "example": "ubviz.trace:example",
    "Trace": "ubviz.trace:Trace",
    "analyze": "ubviz.analysis:analyze",
    "picture": "ubviz.view:picture",
    "Timeline": "ubviz.view:Timeline",
    "Compare": "ubviz.view:Compare",
    "Stepper": "ubviz.view:Stepper",
    "before_after": "ubviz.view:before_after",
    "demo": "ubviz.exploration:demo",
    "costs_from": "ubviz.exploration.costs:costs_from",
    "explore": "ubviz.exploration:explore",
    "Scheduler": "ubviz.play:Scheduler",
    "Lab": "ubviz.play.lab:Lab",
}


def __getattr__(name: str) -> Any:
    """Import a public name on its first use, and keep it."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _PUBLIC[name].partition(":")
    try:
        value = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        from ubviz.extras import explain

        raise explain(error, f"ubviz.{name}") from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    own = {name for name, value in globals().items() if name[0] == "_" or isinstance(value, ModuleType)}
    return sorted(own | set(__all__))
