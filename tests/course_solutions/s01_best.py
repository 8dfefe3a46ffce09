"""The longer queue, and the time that contention adds while both work; or no split at all."""


def answer(compute: float, comm: float, split_cost: float, contention: float) -> float:
    a = compute + split_cost
    return min(max(a, comm) + contention * min(a, comm), compute + comm)


def always_split(compute: float, comm: float, split_cost: float, contention: float) -> float:
    a = compute + split_cost
    return max(a, comm) + contention * min(a, comm)


def split_of_comm(compute: float, comm: float, split_cost: float, contention: float) -> float:
    b = comm + split_cost
    return min(max(compute, b) + contention * min(compute, b), compute + comm)


def split_of_both(compute: float, comm: float, split_cost: float, contention: float) -> float:
    return answer(compute, comm + split_cost, split_cost, contention)


def split_after_all(compute: float, comm: float, split_cost: float, contention: float) -> float:
    return min(max(compute, comm) + contention * min(compute, comm) + split_cost, compute + comm)


def slow_all_along(compute: float, comm: float, split_cost: float, contention: float) -> float:
    return min(max(compute + split_cost, comm) * (1 + contention), compute + comm)


wrong = {
    "the longer one, whatever it costs": (lambda a, b, s, c: max(a, b), "the split cost is missing"),
    "half of it": (lambda a, b, s, c: (a + b) / 2, "the longer queue alone takes longer"),
    "overlap always pays": (always_split, "not to split at all would be better"),
    "overlap is gain": (
        lambda a, b, s, c: min(max(a + s, b), a + b),
        "while both queues work, both are slower",
    ),
    "the split costs communication": (split_of_comm, "for the computation the split cost is missing"),
    "the split costs both": (split_of_both, "the split cost stands in the wrong place"),
    "the split costs time in the end": (split_after_all, "the split cost stands in the wrong place"),
    "all is slower, all along": (slow_all_along, "contention was put on the whole pass"),
    "rounded": (lambda *load: round(answer(*load)), "this is the number, rounded"),
    "nothing is returned": (lambda *load: None, "best gives nothing back"),
    "not a number": (lambda *load: float("nan"), "the answer is no number"),
    "a text": (lambda *load: str(answer(*load)), "the answer is no number"),
    "nothing can be hidden": (lambda a, b, s, c: a + b, "there is a better way"),
}
