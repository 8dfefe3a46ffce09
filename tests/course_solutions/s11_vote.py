"""Unanimous, padded to the largest, and nobody's second half empty."""


def answer(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    largest = max(tokens)
    yes = all(t >= threshold for t in tokens) and all(t > largest // 2 for t in tokens)
    return yes, [largest] * len(tokens) if yes else tokens


def majority(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    yes = sum(t >= threshold for t in tokens) * 2 >= len(tokens)
    return yes, [max(tokens)] * len(tokens) if yes else tokens


def each(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    return tokens[0] >= threshold, tokens


def no_empty(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    yes = all(t >= threshold for t in tokens)
    return yes, [max(tokens)] * len(tokens) if yes else tokens


def always_pads(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    return answer(tokens, threshold)[0], [max(tokens)] * len(tokens)


def more_than(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    largest = max(tokens)
    yes = all(t > threshold for t in tokens) and all(t > largest // 2 for t in tokens)
    return yes, [largest] * len(tokens) if yes else tokens


def half_is_enough(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    largest = max(tokens)
    yes = all(t >= threshold for t in tokens) and all(t >= largest // 2 for t in tokens)
    return yes, [largest] * len(tokens) if yes else tokens


def to_the_smallest(tokens: list[int], threshold: int) -> tuple[bool, list[int]]:
    yes, _ = answer(tokens, threshold)
    return yes, [min(tokens)] * len(tokens) if yes else tokens


wrong = {
    "the majority decides": (majority, "Rank 1 voted no: its 100 tokens"),
    "each rank decides alone": (each, "with microbatches rank 0 pads to the largest, 640"),
    "padding fills every microbatch": (no_empty, "rank 0 would have nothing in the last of 2 microbatches"),
    "everybody always pads": (always_pads, "without microbatches rank 1 pads nothing and keeps 100"),
    "a yes is enough": (lambda tokens, threshold: True, "gives two things"),
    "the threshold itself is too few": (more_than, "the decision differs. Every rank voted yes"),
    "the first token of the last half is enough": (half_is_enough, "it has 80 tokens"),
    "the smallest rank decides": (to_the_smallest, "with microbatches rank 0 pads to the largest, 640"),
    "a list of decisions": (lambda tokens, threshold: ([t >= threshold for t in tokens], tokens),
                            "one decision for all ranks"),
    "yes in words": (lambda tokens, threshold: ("yes", tokens), "the decision is True or False"),
    "one number for all": (lambda tokens, threshold: (True, max(tokens)), "a number for each of the 2 ranks"),
    "no return": (lambda tokens, threshold: None, "vote gave None"),
    "it leaves Python": (lambda tokens, threshold: exit(3), "The answer raised SystemExit"),
}  # fmt: skip
