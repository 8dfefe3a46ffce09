"""The longer queue, nearly."""

answer = max

wrong = {
    "nothing is hidden": (lambda compute, comm: compute + comm, "as if nothing were hidden"),
    "half the time": (lambda compute, comm: (compute + comm) / 2, "in half the time"),
    "the shorter one": (min, "the longer one still has to be done"),
    "all communication can be hidden": (
        lambda compute, comm: compute,
        "as if all communication could be hidden",
    ),
    "no number": (lambda compute, comm: None, "which queue is busy all the time"),
}
