"""One variable: whose context is in place."""

from typing import Any


def answer(events: list[Any]) -> int:
    now = None
    for number, event in enumerate(events):
        if event.kind == "context.set":
            now = event.ubatch
        elif event.kind == "kernel.launch" and event.ubatch != now:
            return number
    raise ValueError("none")


def per_thread(events: list[Any]) -> int:
    seen = set()
    for number, event in enumerate(events):
        if event.kind == "context.set":
            seen.add(event.ubatch)
        elif event.kind == "kernel.launch" and event.ubatch not in seen:
            return number
    return 0


def after_resume(events: list[Any]) -> int:
    return next(number for number, event in enumerate(events) if event.kind == "ctx.resume")


def first_launch(events: list[Any]) -> int:
    return next(number for number, event in enumerate(events) if event.kind == "kernel.launch")


def last(events: list[Any]) -> int:
    now, found = None, 0
    for number, event in enumerate(events):
        if event.kind == "context.set":
            now = event.ubatch
        elif event.kind == "kernel.launch" and event.ubatch != now:
            found = number
    return found


wrong = {
    "the context is per thread": (per_thread, "looked for is a kernel.launch"),
    "it is wrong as soon as one resumes": (after_resume, "is ctx.resume; looked for is a kernel.launch"),
    "the first launch": (first_launch, "runs in its own context"),
    "any wrong one": (last, "but it is not the first"),
    "one further": (lambda events: answer(events) + 1, "is event.record; looked for is a kernel.launch"),
    "the event itself": (lambda events: events[answer(events)], "asked for is its number"),
    "forgets to return": (lambda events: None, "is a return missing"),
    "true is one": (lambda events: True, "The answer is the number of a trace event"),
    "the launch knows": (
        lambda events: next(event.args["ubatch"] for event in events if event.kind == "kernel.launch"),
        "The answer raised KeyError",
    ),
    "in words": (lambda events: "dispatch", "The answer is the number of a trace event"),
}
