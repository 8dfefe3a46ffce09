"""The index of a recording, and its blocks by name: the same for a page with a kernel and for a saved one.

A block is made when it is asked for: columns of tracks (``bars:3:0``), arrows (``flows:0:0``), names and what is
drawn over all lanes (``facts``), logical order (``logical``), the full rows that a click shows (``rows:spans:12``),
the text of functions (``sources``), the line of numbers of a step (``numbers:4``), and what tools ask of the analysis
(``answers``). Every block is deflated. What the
page gets at once, with the index, is the head: all tracks where they are small.

Whole columns go to the page, which finds its own level of detail in them: a kernel that runs a cell answers nothing,
and zooming must not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import BadArgument
from ...trace.model import Lane, Trace
from ..paint.frame import chosen_lanes, extent, last_complete_step
from ..paint.numbers import in_words, numbers_of_step
from .answers import Answers
from .bands import bands_of
from .bars import STYLES, Spans, bars_of, ubatch_of
from .blocks import encode, head_of
from .facts import gates_of, layers_of, steps_of
from .flows import flows_of
from .marks import Moments
from .names import Names
from .pack import LEVEL, Part, deflated, pack_spans
from .rows import ROW_PART, Rows
from .score import score_of

EXACT = 2**53
"""Nanoseconds, 104 days: from here on a page's numbers leave some out."""
TEXT_LEVEL = 6
"""Of zlib, for what is text: most of a saved page, which has to be read before it is all there."""
HEAD_BYTES = 2 << 20
"""Tracks that are smaller than this together come with the index: they are drawn even while the kernel is busy."""


def _origin(steps: Sequence[tuple[int, int, int]], home: tuple[int, int]) -> int:
    """The zero of the ruler: where the step begins that is shown first."""
    return next((begin for _, begin, end in steps if begin <= home[0] < end), home[0])


class Payload:
    """What a page is told of a trace.

    >>> payload = Payload(ubviz.example("whole_game_overlapped"))  # doctest: +SKIP
    >>> payload.block("numbers:8")  # doctest: +SKIP
    b'x\\x01...'
    """

    def __init__(
        self,
        trace: Trace,
        *,
        step: int | None = None,
        window: tuple[int, int] | None = None,
        lanes: Sequence[str | int] | None = None,
        label: str = "Timeline",
        title: str | None = None,
    ) -> None:
        self.trace = trace
        self.lanes: tuple[Lane, ...] = chosen_lanes(trace, lanes)
        self.place = {lane.id: place for place, lane in enumerate(self.lanes)}
        self._rows, self._answers = Rows(trace), Answers(trace, self.place)
        names = Names()
        self._parts: dict[str, Part] = {}
        tracks, subs, kinds = self._tracks(names)
        flow_kinds, flows = flows_of(trace, self.place)
        self._parts.update((part.spec["key"], part) for part in flows)
        self._facts = {"names": names.texts, "gates": gates_of(trace, self.place), "layers": layers_of(trace)}
        begin, end = extent(trace, None)
        if max(-begin, end) >= EXACT:
            raise BadArgument(
                f"this recording's times reach {max(-begin, end)} ns, which a page cannot tell apart to the "
                "nanosecond; count them from its beginning"
            )
        start, end_ns = window or extent(trace, last_complete_step(trace) if step is None else step)
        home = start, max(end_ns, start + 1)
        self.index: dict[str, Any] = {
            "version": 1, "label": label, "title": title, "begin_ns": begin, "end_ns": end,
            "home": home, "origin_ns": _origin(steps_of(trace), home),
            "lanes": [self._lane(lane, subs.get(place, 1)) for place, lane in enumerate(self.lanes)],
            "styles": STYLES, "kinds": kinds, "flow_kinds": flow_kinds, "tracks": tracks,
            "flows": [part.spec for part in flows], "logical": len(trace.events) > 0,
            "rows": {"spans": len(trace.spans), "events": len(trace.events)}, "row_part": ROW_PART,
            "steps": steps_of(trace), "answers": self._answers.all_at_hand,
            "graphs": bool(trace.meta.get("graphs")), "bands": bands_of(trace, self.lanes),
        }  # fmt: skip

    def _lane(self, lane: Lane, subs: int) -> dict[str, Any]:
        ubatch = ubatch_of(lane) if lane.group == "threads" else None
        return {
            "id": lane.id,
            "name": lane.role,
            "group": lane.group,
            "rank": lane.rank,
            "ubatch": ubatch,
            "subs": subs,
        }

    def _tracks(self, names: Names) -> tuple[list[dict[str, Any]], dict[int, int], list[str]]:
        spans, moments = Spans(self.trace, names), Moments(self.trace, names)
        tracks: list[dict[str, Any]] = []
        subs: dict[int, int] = {}

        def add(lane: int, sub: int, layer: str, parts: Iterator[Part]) -> None:
            table = "events" if layer == "events" else "spans"
            made = list(parts)
            self._parts.update((part.spec["key"], part) for part in made)
            tracks.append({"lane": lane, "sub": sub, "layer": layer, "table": table,
                           "parts": [part.spec for part in made]})  # fmt: skip

        for place, lane in enumerate(self.lanes):
            for bars in bars_of(spans, lane):
                add(place, bars.sub, bars.layer, pack_spans(f"bars:{len(tracks)}", bars.columns, bars.ends))
                if bars.layer == "main":
                    subs[place] = max(subs.get(place, 1), bars.sub + 1)
            for marks in moments.of(lane):
                t = marks.columns["t"]
                add(place, 0, marks.layer, pack_spans(f"marks:{len(tracks)}", marks.columns, t))
        return tracks, subs, moments.kinds.texts

    # ---- what is asked for

    def block(self, key: str) -> bytes:
        """The block of a name, deflated; BadArgument for a name that there is not."""
        return deflated(self._whole(key), LEVEL if key in self._parts else TEXT_LEVEL)

    def _whole(self, key: str) -> bytes:
        """The block of a name as it is before it is deflated."""
        if key in self._parts:
            return self._parts[key].data
        kind, _, which = key.partition(":")
        if kind not in self._makers:
            raise BadArgument(f"this recording has no block {key!r}")
        return self._makers[kind](which)

    @property
    def _makers(self) -> dict[str, Callable[[str], bytes]]:
        """What is no part of a track, by the first word of its name."""
        return {
            "facts": lambda _: encode(self._facts),
            "logical": lambda _: encode(score_of(self.trace, self.place)),
            "rows": lambda which: encode(self._rows.block(which)),
            "sources": lambda _: encode(self.trace.meta.get("sources", [])),
            "numbers": self._numbers,
            **{kind: _encoded(make) for kind, make in self._answers.makers().items()},
        }

    def _numbers(self, which: str) -> bytes:
        known = {str(step): step for step in self.trace.steps}
        if which and which not in known:
            raise BadArgument(f"this recording has no step {which!r}")
        step = known.get(which)
        first, rest = in_words(numbers_of_step(self._answers.steps.get(step, self.trace), step))
        return encode({"first": first, "rest": rest})

    def keys(self) -> Iterator[str]:
        """The names of all blocks."""
        yield "facts"
        yield from self._parts
        if self.index["logical"]:
            yield "logical"
        yield "sources"
        yield from (f"numbers:{step}" for step in self.trace.steps or ("",))
        for table, rows in self.index["rows"].items():
            yield from (f"rows:{table}:{part}" for part in range(-(-rows // ROW_PART)))
        yield from self._answers.keys()

    def keys_outside(self) -> Iterator[str]:
        """The names of the blocks that do not come with the index."""
        inside = set(self._first())
        return (key for key in self.keys() if key not in inside)

    def _first(self) -> list[str]:
        small = sum(part.spec["bytes"] for part in self._parts.values()) <= HEAD_BYTES
        return ["facts", *(self._parts if small else ())]

    def head(self) -> bytes:
        """The index, and the blocks that come with it."""
        return head_of(self.index, {key: self._whole(key) for key in self._first()})


def _encoded(make: Callable[[str], Any]) -> Callable[[str], bytes]:
    return lambda which: encode(make(which))
