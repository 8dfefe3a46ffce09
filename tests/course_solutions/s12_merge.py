"""By the number, not by who came first."""

from typing import Any


def answer(results: list[tuple[int, list[Any]]]) -> list[Any]:
    return [row for _, rows in sorted(results, key=lambda result: result[0]) for row in rows]


wrong = {
    "results arrive in order": (
        lambda results: [row for _, rows in results for row in rows],
        "in the order 1, 0",
    ),
    "the last comes first": (
        lambda results: [r for _, rows in reversed(results) for r in rows],
        "in the order 0, 1",
    ),
    "by the name": (
        lambda results: [
            row for _, rows in sorted(results, key=lambda result: str(result[0])) for row in rows
        ],
        "in the order 0, 1, 2, 10",
    ),
    "not put together": (lambda results: [rows for _, rows in sorted(results)], "in the order 0, 1"),
}
