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


wrong = {
    "the majority decides": (majority, "one rank has too few tokens"),
    "each rank decides alone": (each, "all are large enough, one is larger"),
    "padding fills every microbatch": (no_empty, "one rank's last microbatch would be empty"),
    "everybody always pads": (always_pads, "one rank has too few tokens"),
    "a yes is enough": (lambda tokens, threshold: True, "gives two things"),
}
