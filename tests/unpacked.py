"""Reads what ``ubviz.view.payload`` sends, by the format alone, as the page does."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

import numpy as np

from ubviz.view.payload import Payload


def index_of(head: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The index of a head and the blocks that come with it, inflated."""
    whole = zlib.decompress(head)
    (size,) = struct.unpack_from("<I", whole)
    index = json.loads(whole[4 : 4 + size])
    rest = whole[4 + size :]
    blocks = {key: rest[at : at + length] for key, at, length in index["first"]}
    return index, blocks


def columns_of(part: dict[str, Any], data: bytes) -> dict[str, np.ndarray]:
    """The columns of a part; ``t`` and ``row`` are added up, and nothing may be left over."""
    found: dict[str, np.ndarray] = {}
    at = 0
    for name, dtype, value in part["columns"]:
        if dtype == "const":
            found[name] = np.full(part["rows"], value)
            continue
        kind = np.dtype("<" + dtype)
        assert at % kind.itemsize == 0, "a column is not aligned"
        found[name] = np.frombuffer(data, kind, part["rows"], at).astype(np.int64)
        at += kind.itemsize * part["rows"]
    assert at == len(data) == part["bytes"]
    found["t"] = np.cumsum(found.pop("gap")) + part["start"]
    if "row" in found:
        found["row"] = np.cumsum(found["row"]) + part["row0"]
    return found


def tracks_of(payload: Payload) -> list[tuple[dict[str, Any], dict[str, np.ndarray]]]:
    """Every track of a payload, with the columns of all its parts."""
    index, _ = index_of(payload.head())
    return [(track, whole(payload, track["parts"])) for track in index["tracks"]]


def whole(payload: Payload, parts: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """The columns of some parts, one after the other."""
    read = [columns_of(part, zlib.decompress(payload.block(part["key"]))) for part in parts]
    return {name: np.concatenate([columns[name] for columns in read]) for name in read[0]}


def json_of(payload: Payload, key: str) -> Any:
    return json.loads(zlib.decompress(payload.block(key)))
