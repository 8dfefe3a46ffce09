"""A trace event in one sentence, with what follows from it, and a state in a few lines of plain words.

The sentence is said of the state after the trace event: "ubatch 0 sets cpu_event[1]: ubatch 1 may run".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..trace.model import Event
from .states_fold import Change, Fold, Path
from .words import stream_name

Now = Mapping[Path, Any]


class Sayer:
    """Says trace events one after the other, while a fold goes over them."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._now = fold.now

    def say(self, event: Event, changes: Sequence[Change]) -> str:
        """The trace event in a sentence, said of the state after it."""
        who = self._fold.who(event)
        words = _WORDS.get(event.kind)
        return words(self, event, who, changes) if words else f"{who}: {event.kind}"

    def _key(self, event: Event, name: Any) -> str:
        return self._fold.key(event.rank, name)

    def _stream(self, event: Event, name: Any) -> str:
        return stream_name(self._key(event, name)) if not self._fold.several else self._key(event, name)

    # ---- threads

    def _create(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} makes the thread {self._key(event, event.args.get('name'))}"

    def _start(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} starts"

    def _end(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} ends"

    def _join(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        on = self._now.get(("threads", who, "on"))
        return f"{who} waits for {on}" if on else f"{who} joins a thread that has ended"

    def _error(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} fails with {event.args.get('type')}: {event.args.get('text')}"

    # ---- host events

    def _set(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        name = self._key(event, event.args.get("host_event"))
        if event.args.get("was"):
            return f"{who} sets {name}, which is set already: that adds nothing"
        waiting = self._now.get(("flags", name, "waiting")) or []
        then = f"{_and(waiting)} may run" if waiting else "nobody waits for it, it stays set"
        return f"{who} sets {name}: {then}"

    def _clear(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        name = self._key(event, event.args.get("host_event"))
        lost = self._now.get(("flags", name, "waiting")) or []
        if not event.args.get("was", True):
            return f"{who} clears {name}, which was not set"
        return f"{who} clears {name}" + (f" while {_and(lost)} waits for it" if lost else "")

    def _wait(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        name = self._key(event, event.args.get("host_event"))
        if self._now.get(("flags", name, "set")):
            return f"{who} waits for {name}, which is set: it goes on at once"
        return f"{who} waits for {name}" + (", and never wakes" if event.until_ns is None else "")

    def _wake(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} wakes: {self._key(event, event.args.get('host_event'))} is set"

    # ---- barriers

    def _arrive(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        n, parties = event.args.get("n"), event.args.get("parties")
        name = self._key(event, event.args.get("barrier"))
        then = ": it opens" if n == parties else "" if event.until_ns is not None else ", and never leaves it"
        return f"{who} arrives at {name}, {n} of {parties}{then}"

    def _release(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} leaves {self._key(event, event.args.get('barrier'))}"

    def _breaks(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        verb = "breaks" if event.kind == "barrier.abort" else "resets"
        return f"{who} {verb} {self._key(event, event.args.get('barrier'))}"

    # ---- contexts and hooks

    def _context_moves(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        verb = {
            "ctx.enter": "enters its context", "ctx.exit": "leaves its context",
            "ctx.yield": "yields", "ctx.resume": "goes on after its yield",
        }[event.kind]  # fmt: skip
        ubatch = event.args.get("ubatch")
        return f"{who} {verb}" if who.startswith(f"ubatch {ubatch}") else f"{who} {verb} as ubatch {ubatch}"

    def _context_set(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        ubatch = event.args.get("ubatch")
        whose = "that of no microbatch" if ubatch is None else f"that of ubatch {ubatch}"
        return f"{who} makes the forward context {whose}"

    def _register(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        to = self._key(event, f"ubatch {event.args.get('to_ubatch')}")
        lost = any(path == ("hooks", to, "lost") for path, _, _ in changes)
        return f"{who} leaves a hook for {to}" + (": the one that was there is lost" if lost else "")

    def _hook_run(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} runs the hook that ubatch {event.args.get('from_ubatch')} left"

    # ---- streams and events

    def _switch(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        source, to = (self._key(event, event.args.get(end)) for end in ("from", "to"))
        return f"{who} switches from {source} to {to}"

    def _record(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        name, stream = (
            self._key(event, event.args.get("event")),
            self._stream(event, event.args.get("stream")),
        )
        return f"{who} records {name} on the {stream}, record {event.args.get('record')}"

    def _event_wait(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        name, stream = (
            self._key(event, event.args.get("event")),
            self._stream(event, event.args.get("stream")),
        )
        record = event.args.get("record")
        if record is None:
            return f"{who} makes the {stream} wait for {name}, which was never recorded: that orders nothing"
        if (
            self._now.get(("events", name, "record")) == record
            and self._now.get(("events", name, "fired")) is True
        ):
            return f"{who} makes the {stream} wait for {name}, record {record}, which has fired"
        return f"{who} makes the {stream} wait for {name}, record {record}, and goes on itself"

    def _query(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        done = {True: "it has fired", False: "not yet"}.get(event.args.get("done"))  # type: ignore[arg-type]
        return f"{who} asks for {self._key(event, event.args.get('event'))}" + (f": {done}" if done else "")

    def _event_synchronize(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} waits until {self._key(event, event.args.get('event'))} has fired"

    def _stream_synchronize(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} waits until the {self._stream(event, event.args.get('stream'))} is done"

    def _read(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        stream = self._stream(event, event.args.get("stream"))
        return f"{who} reads a value ({event.args.get('what')}), and waits until the {stream} is done"

    def _launch(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        args = event.args
        name, operation = args.get("name"), args.get("operation")
        what = f"{name} of {operation}" if operation and operation != name else str(name)
        layer = "" if args.get("layer") is None else f", layer {args['layer']},"
        then = ", and waits until it has run" if args.get("host_wait") else ""
        return f"{who} launches {what}{layer} on {self._key(event, args.get('stream'))}{then}{self._wrong(event, who)}"

    def _wrong(self, event: Event, who: str) -> str:
        """A forward context that is not the thread's own is worth a word."""
        sees = self._now.get(("threads", who, "sees"))
        context = self._now.get(("context", f"rank {event.rank}", "ubatch"))
        if sees is None or context is None or sees == context:
            return ""
        return f"; the forward context is that of ubatch {context}"

    def _buffer(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        number, stream = event.args.get("buffer"), event.args.get("stream")
        if event.kind == "buffer.record_stream":
            return f"{who} notes that buffer {number} is used on {self._key(event, stream)}"
        verb = "takes" if event.kind == "buffer.alloc" else "frees"
        return f"{who} {verb} buffer {number}" + (f" on {self._key(event, stream)}" if stream else "")

    # ---- steps

    def _step_begin(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        args = event.args
        why = f": {args['why']}" if args.get("why") else ""
        return f"{who} begins step {args.get('step')}, {args.get('tokens')} tokens, {args.get('branch')}{why}"

    def _step_end(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who} ends step {event.args.get('step')}"

    def _vote(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        vote = "yes" if event.args.get("vote") else "no"
        return f"rank {event.args.get('rank')} votes {vote} on microbatches in step {event.args.get('step')}"

    def _collective(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"rank {event.args.get('rank')} takes part in the collective {event.args.get('name')}"

    def _graph(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        verb = {
            "graph.capture_begin": "begins to capture", "graph.capture_end": "has captured",
            "graph.replay": "replays",
        }[event.kind]  # fmt: skip
        return f"{who} {verb} {event.args.get('graph')}"

    def _mark(self, event: Event, who: str, changes: Sequence[Change]) -> str:
        return f"{who}: {event.args.get('text')}"


Words = Callable[[Sayer, Event, str, Sequence[Change]], str]
_WORDS: dict[str, Words] = {
    "thread.create": Sayer._create, "thread.start": Sayer._start, "thread.end": Sayer._end,
    "thread.join": Sayer._join, "error": Sayer._error, "mark": Sayer._mark,
    "host_event.set": Sayer._set, "host_event.clear": Sayer._clear, "host_event.wait": Sayer._wait,
    "host_event.wake": Sayer._wake, "barrier.arrive": Sayer._arrive, "barrier.release": Sayer._release,
    "barrier.abort": Sayer._breaks, "barrier.reset": Sayer._breaks,
    "ctx.enter": Sayer._context_moves, "ctx.exit": Sayer._context_moves, "ctx.yield": Sayer._context_moves,
    "ctx.resume": Sayer._context_moves, "context.set": Sayer._context_set,
    "hook.register": Sayer._register, "hook.run": Sayer._hook_run, "stream.switch": Sayer._switch,
    "event.record": Sayer._record, "event.wait": Sayer._event_wait, "event.query": Sayer._query,
    "event.synchronize": Sayer._event_synchronize, "stream.synchronize": Sayer._stream_synchronize,
    "host.read": Sayer._read, "kernel.launch": Sayer._launch, "buffer.alloc": Sayer._buffer,
    "buffer.free": Sayer._buffer, "buffer.record_stream": Sayer._buffer,
    "step.begin": Sayer._step_begin, "step.end": Sayer._step_end, "vote": Sayer._vote,
    "collective": Sayer._collective, "graph.capture_begin": Sayer._graph, "graph.capture_end": Sayer._graph,
    "graph.replay": Sayer._graph,
}  # fmt: skip


def _and(names: Sequence[str]) -> str:
    """ "ubatch 0", "ubatch 0 and ubatch 1", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# ---- a state in words

MOST_PENDING = 4
"""Groups of equal items of a stream's queue that a line names."""


def in_words(state: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """A state, section by section, in lines.

    >>> in_words({"flags": {"cpu_event[0]": {"set": False, "waiting": ["ubatch 0"]}}})
    ['flags: cpu_event[0] not set, ubatch 0 waits']
    """
    lines = []
    for section, words in _SECTIONS.items():
        fields_of = state.get(section, {})
        alone = len(fields_of) == 1
        said = [text.removeprefix("rank 0 ") if alone else text
                for key, fields in fields_of.items() if (text := words(key, fields))]  # fmt: skip
        if said:
            lines.append(f"{section}: {'; '.join(said)}")
    return lines


def _thread(key: str, fields: Mapping[str, Any]) -> str:
    status = {"waits": f"waits for {fields.get('on')}"}.get(fields["status"], fields["status"])
    place = f" at {fields['site']}" if fields.get("site") and fields["status"] != "ended" else ""
    stream = f" on {fields['stream']}" if fields.get("stream") else ""
    failed = f", failed with {fields['error']}" if fields.get("error") else ""
    return f"{key} {status}{place}{stream}{failed}"


def _ring(key: str, fields: Mapping[str, Any]) -> str:
    members = fields.get("members") or []
    if not members:
        return ""
    holds, handing = fields.get("holds") or [], fields.get("handing")
    turn = f"it is the turn of {_and([f'ubatch {i}' for i in holds])}" if holds else "nobody has the turn"
    if handing is not None:
        source = "main" if handing[0] < 0 else f"ubatch {handing[0]}"
        turn = f"{source} hands on to ubatch {handing[1]}" + (f"; {turn}" if holds else "")
    left = fields.get("left") or []
    return f"{key} {turn}" + (f"; {_and([f'ubatch {i}' for i in left])} left" if left else "")


def _flag(key: str, fields: Mapping[str, Any]) -> str:
    waiting = fields.get("waiting") or []
    return f"{key} {'set' if fields.get('set') else 'not set'}" + _waiting(waiting)


def _waiting(names: Sequence[str]) -> str:
    return f", {_and(names)} wait{'s' if len(names) == 1 else ''}" if names else ""


def _barrier(key: str, fields: Mapping[str, Any]) -> str:
    if fields.get("state") == "broken":
        return f"{key} broken"
    count = f"{fields.get('n', 0)} of {fields.get('parties')}"
    return f"{key} {count}, {fields.get('state')}, generation {fields.get('generation')}"


def _stream(key: str, fields: Mapping[str, Any]) -> str:
    if "done" not in fields:
        return f"{key} has been given {fields['queued']}; when they ran was not recorded"
    items = list(fields.get("pending") or [])
    running = items.pop(0) if fields.get("runs") and items else None
    now = f"{key} idle"
    if running:
        verb = "must " if running["cat"] == "wait" else "runs "
        now = f"{key} {verb}{running['label']}{_whose(running['cat'], running['ubatch'])}"
    groups = grouped(items)
    after = [
        label + _whose(cat, ubatch) + (f" x{count}" if count > 1 else "")
        for label, cat, ubatch, count in groups[:MOST_PENDING]
    ]
    rest = sum(count for *_, count in groups[MOST_PENDING:])
    more = f" and {rest} more" if rest else ""
    return now + (f", then {', '.join(after)}{more}" if after else "")


def _whose(cat: str, ubatch: int | None) -> str:
    return "" if ubatch is None or cat != "kernel" else f" ({ubatch})"


def grouped(items: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int | None, int]]:
    """Equal neighbours of a queue as one: label, kind, microbatch, how many."""
    found: list[tuple[str, str, int | None, int]] = []
    for item in items:
        what = item["label"], item["cat"], item["ubatch"]
        count = found.pop()[3] if found and found[-1][:3] == what else 0
        found.append((*what, count + 1))
    return found


def _event(key: str, fields: Mapping[str, Any]) -> str:
    if not fields.get("record"):
        return f"{key} not recorded"
    fired = {True: "fired", False: "not fired"}.get(fields.get("fired"), "when it fires was not recorded")  # type: ignore[arg-type]
    waits = list(dict.fromkeys(str(wait[0]) for wait in fields.get("waits") or []))
    return f"{key} record {fields['record']} on {fields.get('stream')}, {fired}" + _waiting(waits)


def _hooks(key: str, fields: Mapping[str, Any]) -> str:
    said = "none waits" if fields.get("from") is None else f"one of ubatch {fields['from']} waits"
    return f"for {key} {said}" + (f", {fields['lost']} lost" if fields.get("lost") else "")


def _context(key: str, fields: Mapping[str, Any]) -> str:
    ubatch = fields.get("ubatch")
    return f"{key} {'that of no microbatch' if ubatch is None else f'that of ubatch {ubatch}'}"


def _calls(key: str, fields: Mapping[str, Any]) -> str:
    if fields.get("branch") is None:
        return ""
    return f"{key} step {fields.get('step')}, {fields.get('branch')}, {fields.get('stage')}"


def _votes(key: str, fields: Mapping[str, Any]) -> str:
    if "vote" not in fields:
        return ""
    made = f"{fields.get('num_tokens')} tokens, threshold {fields.get('threshold')}"
    return f"{key} {'yes' if fields['vote'] else 'no'} ({made})"


_SECTIONS: dict[str, Callable[[str, Mapping[str, Any]], str]] = {
    "threads": _thread, "ring": _ring, "flags": _flag, "barriers": _barrier, "streams": _stream,
    "events": _event, "hooks": _hooks, "context": _context, "calls": _calls, "votes": _votes,
}  # fmt: skip
