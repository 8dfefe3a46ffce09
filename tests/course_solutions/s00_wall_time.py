"""The longer queue, nearly."""

answer = max

wrong = {
    "nothing is hidden": (lambda compute, comm: compute + comm, "as if nothing were hidden"),
    "half the time": (lambda compute, comm: (compute + comm) / 2, "in half the time"),
    "the shorter one": (min, "the communication alone"),
    "all communication can be hidden": (
        lambda compute, comm: compute,
        "as if all communication could be hidden",
    ),
    "computation can be hidden": (lambda compute, comm: comm, "the communication alone"),
    "only the difference is left": (
        lambda compute, comm: abs(compute - comm),
        "what is left of the longer queue",
    ),
    "two threads halve the longer one": (
        lambda compute, comm: max(compute, comm) / 2,
        "its work were halved too",
    ),
    "in seconds": (lambda compute, comm: max(compute, comm) / 1000, "milliseconds are asked for"),
    "a little less": (lambda compute, comm: 0.85 * max(compute, comm), "less than the 100 ms for which"),
    "a little more": (lambda compute, comm: 1.3 * max(compute, comm), "more than need be"),
    "nothing is returned": (lambda compute, comm: None, "wall_ms gives nothing back"),
    "a text": (lambda compute, comm: "104 ms", "wall_ms gives no number"),
    "not a number": (lambda compute, comm: float("nan"), "wall_ms gives no number"),
    "no function": (330, "the answer is a function wall_ms(compute_ms, comm_ms), not 330"),
}
