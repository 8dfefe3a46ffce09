"""The longer queue, and the time that contention adds while both work; or no split at all."""


def answer(compute: float, comm: float, split_cost: float, contention: float) -> float:
    a = compute + split_cost
    return min(max(a, comm) + contention * min(a, comm), compute + comm)


def always_split(compute: float, comm: float, split_cost: float, contention: float) -> float:
    a = compute + split_cost
    return max(a, comm) + contention * min(a, comm)


wrong = {
    "the longer one, whatever it costs": (lambda a, b, s, c: max(a, b), "the split cost is missing"),
    "half of it": (lambda a, b, s, c: (a + b) / 2, "the longer queue alone takes longer"),
    "overlap always pays": (always_split, "not to split at all would be better"),
    "overlap is gain": (
        lambda a, b, s, c: min(max(a + s, b), a + b),
        "while both queues work, both are slower",
    ),
    "nothing can be hidden": (lambda a, b, s, c: a + b, "there is a better way"),
}
