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
        "no row is lost, but they stand in another order",
    ),
    "not put together": (
        lambda results: [rows for _, rows in sorted(results)],
        "the rows themselves, in one list",
    ),
    "the rows are sorted": (
        lambda results: sorted(row for _, rows in results for row in rows),
        "they stand in another order",
    ),
    "by what is in them": (
        lambda results: [row for rows in sorted(rows for _, rows in results) for row in rows],
        "they stand in another order",
    ),
    "sorted in place": (lambda results: results.sort(), "merge gave None"),
    "a tuple": (
        lambda results: tuple(row for _, rows in sorted(results) for row in rows),
        "merge gives a list, not a tuple",
    ),
}
