"""One class for each mistake that ubviz tells its user about.

Every message is one sentence or two: what happened, which objects by name, what to do.
Where a caller of ``threading`` or ``torch`` would expect a builtin exception, the class inherits it.
"""

from __future__ import annotations

import sys
import traceback


class UbvizError(Exception):
    """Base of everything ubviz raises on purpose."""


class RuntimeUnavailable(UbvizError):
    """The runtime asked for cannot run on this machine."""


class MixedRuntimes(UbvizError, TypeError):
    """Streams or events of two runtimes were combined."""


class NotAMicrobatchThread(UbvizError, KeyError):
    """A ``dbo_*`` function was called from a thread that runs no microbatch while some are alive."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


class ContextReused(UbvizError, RuntimeError):
    """A ``UBatchContext`` was entered a second time."""


class ProtocolError(UbvizError, AssertionError):
    """A step of the hand-over protocol was taken out of order."""


class NoReceiver(UbvizError, RuntimeError):
    """A receive hook was registered for a microbatch that has already left."""


class WrapperBusy(UbvizError, RuntimeError):
    """A wrapper was called while microbatches were running."""


class SlicingError(UbvizError, ValueError):
    """A batch cannot be split as asked."""


class AsyncError(UbvizError, RuntimeError):
    """Work queued on a stream failed; raised by the next synchronize that covers it."""


class StreamClosed(UbvizError, RuntimeError):
    """Work was launched on a stream that has been closed."""


class CaptureError(UbvizError, RuntimeError):
    """Something was done that a graph capture cannot hold, or a graph was asked for what it cannot give."""


class TimingError(UbvizError, RuntimeError):
    """An elapsed time was asked for that does not exist (yet)."""


class StreamStuck(UbvizError, TimeoutError):
    """A stream did not finish its work within the runtime's time limit."""


class Stalled(UbvizError, RuntimeError):
    """Every known thread is parked and every stream idle: nothing can go on."""


class Deadlock(Stalled):
    """No thread of a virtual runtime can go on; the text says who waits for what.

    ``waiting`` holds the pending operation of each, as ``ubviz.runtime.schedule.Choice``.
    """

    waiting: tuple[object, ...] = ()


class ForeignThread(UbvizError, RuntimeError):
    """A thread that a virtual runtime did not start, or whose turn it is not, used it."""


class RankError(UbvizError, RuntimeError):
    """Something went wrong between ranks."""


class MissedCollective(RankError):
    """A rank did not take part in a collective that the others are in."""


class RankDied(RankError):
    """A rank's process has ended, or gives no sign of life."""


class NotATrace(UbvizError, ValueError):
    """A file, or its content, is not a trace that can be read."""


class MissingFile(UbvizError, FileNotFoundError):
    """A file to read, or a folder to write into, does not exist."""


class MissingExtra(UbvizError, ImportError):
    """An optional dependency is not installed."""


class BadArgument(UbvizError, ValueError):
    """An argument has a value that cannot be used."""


def raised_at(error: BaseException) -> tuple[str, int] | None:
    """File and line that raised ``error``: the innermost frame that is not a runtime's, PyTorch's or threading's."""
    inner = ("/ubviz/runtime/", "/torch/", "/threading.py")
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not any(part in frame.filename.replace("\\", "/") for part in inner):
            return frame.filename, frame.lineno or 0
    return None


def notebook_cells() -> dict[str, int]:
    """The file that IPython gives each cell of a notebook, and the number that the reader sees beside the cell."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return dict(getattr(getattr(shell, "compile", None), "_filename_map", {}))
