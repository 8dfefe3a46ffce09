"""Saving and loading recordings: Chrome Trace Event JSON, ``.json`` or ``.json.gz``.

One format for all: a saved recording opens in Perfetto and loads back equal. ``chrome_format`` describes it.
Not handled here: files that ubviz did not save.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import zlib
from collections.abc import Sequence
from typing import IO, Any

import msgspec

from ..errors import BadArgument, MissingFile, NotATrace
from .chrome_read import AGAIN, from_json
from .chrome_write import to_json
from .model import Trace
from .valid import json_problem, problems

Source = str | os.PathLike[str] | IO[bytes] | bytes | dict[str, Any]


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a recording that ``load`` and Perfetto read; at ``path`` is the whole file or what was there before.

    >>> save(trace, "overlapped.json.gz")  # doctest: +SKIP

    The same trace gives the same bytes. ``meta["path"]`` is left out.
    Raises BadArgument for another suffix, or for a trace that could not be loaded again (a tuple or a NaN in
    its args, rows on no lane), MissingFile when the folder does not exist.
    """
    path = os.fspath(path)
    if not path.endswith((".json", ".json.gz")):
        raise BadArgument(
            f"{path}: a recording is saved as .json or .json.gz; give the path one of these endings"
        )
    for problem in problems(trace):
        raise BadArgument(f"{path}: this trace cannot be saved, since {problem}")
    data = to_json(trace)
    _write(path, _gzipped(data) if path.endswith(".gz") else data)


def load(source: Source | Sequence[Source], *, format: str | None = None) -> Trace:
    """Read a recording: from a path, an open binary file, bytes, a parsed JSON object, or a list of one of these.

    >>> load("overlapped.json.gz").meta["path"]  # doctest: +SKIP
    'overlapped.json.gz'

    Whether the data is gzip is read from the data. Raises NotATrace, with file and place, when it is not a
    recording; MissingFile when there is no file; BadArgument for another ``format`` than "chrome".
    """
    if format not in (None, "chrome"):
        raise BadArgument(
            f'load knows the format "chrome", not {format!r}; leave format out to have it found'
        )
    if isinstance(source, (list, tuple)):
        source = _only(source)
    name, data = _named_data(source)
    try:
        trace = from_json(_unzipped(data, name))
    except NotATrace as error:
        raise NotATrace(f"{name}: {error}") from None
    if isinstance(source, (str, os.PathLike)):
        trace.meta["path"] = name
    return trace


def _only(sources: Sequence[Source]) -> Source:
    if len(sources) == 1:
        return sources[0]
    if not sources:
        raise BadArgument("load was given an empty list; give it a recording")
    raise BadArgument(
        f"load was given {len(sources)} recordings and reads one; joining ranks comes with `ubviz merge`, "
        "which this version does not have yet"
    )


def _named_data(source: Any) -> tuple[str, bytes]:
    """What messages call the source, and its bytes."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        return name, _read(name)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "the given bytes", bytes(source)
    if isinstance(source, dict):
        return "the given object", _text_of(source)
    if hasattr(source, "read"):
        return _read_open(source)
    raise BadArgument(
        "load takes a path, an open binary file, bytes, a parsed JSON object or a list of one of these, "
        f"not {type(source).__name__}"
    )


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise NotATrace(
            f"{path}: cannot be read ({error.strerror}); give the path of a readable file"
        ) from None
    except ValueError:
        raise NotATrace(f"{path!r}: no path; a path holds no zero bytes") from None


def _read_open(file: Any) -> tuple[str, bytes]:
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else "the given file"
    try:
        data = file.read()
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise NotATrace(f"{name}: cannot be read ({error}); give an open, readable binary file") from None
    if not isinstance(data, bytes):
        raise BadArgument(f'{name}: opened as text; open it with mode "rb"')
    return name, data


def _text_of(document: dict[str, Any]) -> bytes:
    problem = json_problem(document, "object")
    if problem:
        raise NotATrace(f"the given object: {problem}; give what json.load returns")
    return msgspec.json.encode(document)


def _unzipped(data: bytes, name: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        if name.endswith(".gz") and data.lstrip()[:1] not in (b"{", b"["):
            raise NotATrace(f"neither gzip data nor JSON; {AGAIN}")
        return data
    try:
        return gzip.decompress(data)
    except EOFError:
        raise NotATrace("the gzip data ends too early; take a complete copy") from None
    except (OSError, zlib.error):
        raise NotATrace(f"the gzip data is damaged; {AGAIN}") from None


def _gzipped(data: bytes) -> bytes:
    """Without time and name, so that the same data gives the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, compresslevel=6, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def _write(path: str, data: bytes) -> None:
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise MissingFile(f"{path}: the folder {folder} does not exist; make it first")
    beside = f"{path}.{secrets.token_hex(4)}.part"
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException as error:
        if os.path.exists(beside):
            os.remove(beside)
        if isinstance(error, OSError):  # with the name that the caller knows
            raise OSError(error.errno, error.strerror, path) from None
        raise
