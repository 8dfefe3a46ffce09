"""An index and blocks by name: what every view is told, and asks for.

The head, deflated as one: the length of the index in four bytes, the index, and the blocks that come with it, one after
the other. All other blocks come when they are asked for, each deflated.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from ...errors import BadArgument
from .pack import deflated

_encoder = msgspec.json.Encoder(enc_hook=str)


def encode(value: Any) -> bytes:
    """JSON; half of a pair of surrogates, which is no text but may stand in a file, is kept as its escape."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, default=str).encode("ascii")


def head_of(index: Mapping[str, Any], blocks: Mapping[str, bytes]) -> bytes:
    """The head of an index and the blocks that come with it, as they are before they are deflated."""
    first, at = [], 0
    for key, data in blocks.items():
        first.append([key, at, len(data)])
        at += len(data)
    text = encode({**index, "first": first})
    return deflated(struct.pack("<I", len(text)) + text + b"".join(blocks.values()))


class Store(Protocol):
    """Where a view's data lie."""

    @property
    def index(self) -> dict[str, Any]:
        """What the page is told first."""

    def head(self) -> bytes:
        """The index, and the blocks that come with it."""

    def block(self, key: str) -> bytes:
        """The block of a name, deflated; BadArgument for a name that there is not."""

    def keys_outside(self) -> Iterator[str]:
        """The names of the blocks that do not come with the index."""


class Blocks:
    """Values as blocks of JSON: ``first`` come with the index, ``later`` when they are asked for.

    >>> import zlib
    >>> zlib.decompress(Blocks({"label": "three threads"}, {"steps": [1, 2]}, {"sources": []}).head())
    b'1\\x00\\x00\\x00{"label":"three threads","first":[["steps",0,5]]}[1,2]'
    """

    def __init__(
        self,
        index: dict[str, Any],
        first: Mapping[str, Any] | None = None,
        later: Mapping[str, Any] | None = None,
    ) -> None:
        self.index = index
        self._first, self._later = dict(first or {}), dict(later or {})

    def block(self, key: str) -> bytes:
        for blocks in (self._first, self._later):
            if key in blocks:
                return deflated(encode(blocks[key]))
        raise BadArgument(f"this view has no block {key!r}")

    def keys_outside(self) -> Iterator[str]:
        return iter(self._later)

    def head(self) -> bytes:
        return head_of(self.index, {key: encode(value) for key, value in self._first.items()})
