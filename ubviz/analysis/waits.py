"""What each wait of a stream covers, and which of it the waiting stream does not need.

A wait holds back everything that its stream does later until the record that it is bound to has fired; a record
covers whatever was launched on its stream before it. Of that, a later kernel of the waiting stream *needs* what
touches the same buffer, if one of the two writes it. The rest of what comes after the last needed operation is
surplus: a record placed sooner would have let the stream go on, at no risk.

How it is found, in the order of the launches, and on the safe side throughout:

1. A kernel needs, of each other stream, the last writer of what it reads and the last users of what it writes.
2. Each need is put down to the *last* wait on the kernel's stream that covers it: an earlier one is not for it.
   A need that no direct wait covers may be met through other streams: all waits so far are taken as needed.
3. Operations are whole: what is left of the needed operation is no surplus (a record stands between operations).
4. Where a kernel's buffers are unknown, or work is replayed, nothing is claimed.
5. A wait without a needed operation counts only where kernels follow it and the host waits for none of them.

Source: vLLM pull request 38451, an event recorded after the yield; ``surplus`` is the finding it calls for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..trace.model import Event, Trace
from .kept import told
from .sound import judged

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Wait:
    """One record / wait pair. Rows are rows of ``trace.spans``; ``record_seq`` and ``wait_seq`` are trace events.

    ``needed`` is the kernel after which the record could stand (None: nothing is needed); ``surplus`` are the kernels
    covered beyond it; ``stall_ns`` is how much sooner the stream would have gone on. ``known`` is False where
    buffers are unknown, and then nothing is claimed.
    """

    rank: int
    event: str
    recorded_on: str
    stream: str
    record_seq: int
    wait_seq: int
    row: int | None
    needed: int | None
    surplus: tuple[int, ...]
    stall_ns: int
    known: bool


class _Kernel(NamedTuple):
    row: int | None
    key: Key
    known: bool


@dataclass
class _Pending:
    """A wait whose readers are being looked at."""

    told: Event
    recorded: Event
    source: _Stream
    covers: int  # kernels of the source before this position
    covered: int  # of these, covered by an earlier wait already
    stream: _Stream
    place: int  # kernels of its own stream before it
    number: int  # waits of its own stream before it
    needed: int = -1
    known: bool = True

    def claimed(self) -> bool:
        """Without a needed operation: do kernels follow, and does the host not wait for them?"""
        return self.needed >= 0 or (
            self.place < len(self.stream.kernels) and self.number >= self.stream.joined
        )


@dataclass
class _Stream:
    name: str
    kernels: list[_Kernel] = field(default_factory=list)
    waits: list[_Pending] = field(default_factory=list)
    by_source: dict[str, list[_Pending]] = field(default_factory=lambda: defaultdict(list))
    reach: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    settled: int = 0  # waits before this one were found to be all needed, or unknown
    joined: int = 0  # waits before this one were followed by a host call that waits for the stream


def waits(trace: Trace) -> list[Wait]:
    """Every record / wait pair, in the order of the waits.

    >>> [wait for wait in waits(trace) if wait.surplus]  # of a correct recording  # doctest: +SKIP
    []
    """
    spans = trace.spans
    rows: dict[tuple[int, int], int] = {}
    for cat in ("kernel", "wait", "record"):
        found = spans.mask(cat=cat).nonzero()[0]
        keys = zip(spans["rank"][found].tolist(), spans["seq"][found].tolist(), strict=True)
        rows.update(zip(keys, found.tolist(), strict=True))
    sweeps: dict[int, _Sweep] = {}
    for event in told(judged(trace), *_TOLD):
        sweeps.setdefault(event.rank, _Sweep(rows)).take(event)
    return [_wait(trace, rows, pending) for sweep in sweeps.values() for pending in sweep.pending]


class _Sweep:
    """The launches of one rank, in order."""

    def __init__(self, rows: dict[tuple[int, int], int]) -> None:
        self.rows = rows
        self.streams: dict[str, _Stream] = {}
        self.records: dict[tuple[Any, Any], tuple[Event, _Stream, int]] = {}
        self.written: dict[Any, dict[str, int]] = defaultdict(dict)  # buffer -> stream -> position
        self.used: dict[Any, dict[str, int]] = defaultdict(dict)
        self.pending: list[_Pending] = []

    def stream(self, name: Any) -> _Stream:
        found = self.streams.get(name)
        if found is None:
            found = self.streams[name] = _Stream(str(name))
        return found

    def take(self, event: Event) -> None:
        args = event.args
        if event.kind == "kernel.launch":
            self._launch(event, self.stream(args.get("stream")))
        elif event.kind == "event.record":
            stream = self.stream(args.get("stream"))
            self.records[args.get("event"), args.get("record")] = (event, stream, len(stream.kernels))
        elif event.kind == "event.wait":
            self._bind(event, self.stream(args.get("stream")))
        elif event.kind == "graph.replay":
            for stream in self.streams.values():  # which streams it runs on is not told
                stream.kernels.append(_Kernel(None, ("replay", event.seq), known=False))
                _unknown(stream)
        else:
            stream = self.stream(args.get("stream"))
            stream.joined = len(stream.waits)

    def _bind(self, event: Event, stream: _Stream) -> None:
        found = self.records.get((event.args.get("event"), event.args.get("record")))
        if found is None or found[1] is stream:
            return
        recorded, source, covers = found
        covered, place = stream.reach[source.name], len(stream.kernels)
        pending = _Pending(event, recorded, source, covers, covered, stream, place, len(stream.waits))
        stream.reach[source.name] = max(covers, pending.covered)
        stream.waits.append(pending)
        stream.by_source[source.name].append(pending)
        self.pending.append(pending)

    def _launch(self, event: Event, stream: _Stream) -> None:
        row = self.rows.get((event.rank, event.seq))
        reads, writes = event.args.get("reads"), event.args.get("writes")
        place = len(stream.kernels)
        stream.kernels.append(_Kernel(row, _operation(event), reads is not None and writes is not None))
        if reads is None or writes is None:
            _unknown(stream)
        for buffer in reads or ():
            self._need(stream, self.written[buffer])
            self.used[buffer][stream.name] = place
        for buffer in writes or ():
            self._need(stream, self.used[buffer])
            self.used[buffer][stream.name] = self.written[buffer][stream.name] = place

    def _need(self, stream: _Stream, where: dict[str, int]) -> None:
        for source, place in where.items():
            if source == stream.name:
                continue
            if place >= stream.reach[source]:
                self._need_all()
                continue
            pending = next(p for p in reversed(stream.by_source[source]) if p.covers > place)
            pending.needed = max(pending.needed, place)

    def _need_all(self) -> None:
        for stream in self.streams.values():
            for pending in stream.waits[stream.settled :]:
                pending.needed = pending.covers - 1
            stream.settled = len(stream.waits)


_TOLD = ("kernel.launch", "event.record", "event.wait", "graph.replay", "host.read", "stream.synchronize")


def _unknown(stream: _Stream) -> None:
    for pending in stream.waits[stream.settled :]:
        pending.known = False
    stream.settled = len(stream.waits)


def _operation(event: Event) -> Key:
    args = event.args
    return event.step, event.ubatch, args.get("layer"), args.get("operation") or (args.get("name"), event.seq)


def _wait(trace: Trace, rows: dict[tuple[int, int], int], p: _Pending) -> Wait:
    rank = p.told.rank
    row, kernels = rows.get((rank, p.told.seq)), p.source.kernels
    needed, surplus = p.needed, range(max(p.needed + 1, p.covered), p.covers)
    if p.needed >= 0:
        same = [i for i in surplus if kernels[i].key == kernels[p.needed].key]
        needed = max(same, default=p.needed)
        surplus = range(max(needed + 1, p.covered), p.covers)
    known = p.known and row is not None and all(kernels[i].known for i in surplus)
    claimed = known and p.claimed()
    extra = tuple(r for i in surplus if (r := kernels[i].row) is not None) if claimed else ()
    after = kernels[needed].row if needed >= 0 else None
    return Wait(
        rank, str(p.told.args["event"]), p.source.name, str(p.told.args["stream"]), p.recorded.seq, p.told.seq,
        row, after, extra, _stall(trace, row, after) if extra and row is not None else 0, known,
    )  # fmt: skip


def _stall(trace: Trace, row: int, after: int | None) -> int:
    spans = trace.spans
    sooner = int(spans["start_ns"][row])
    if after is not None:
        sooner = max(sooner, int(spans["end_ns"][after]))
    return max(0, int(spans["end_ns"][row]) - sooner)


def by_direction(found: list[Wait]) -> Iterator[list[Wait]]:
    """Waits that stalled for surplus work, together by (rank, recorded on, waiting stream)."""
    groups: dict[Key, list[Wait]] = defaultdict(list)
    for wait in found:
        if wait.surplus and wait.stall_ns > 0:
            groups[wait.rank, wait.recorded_on, wait.stream].append(wait)
    yield from groups.values()
