"""Step after step over the paged KV cache: however steps are cut, the tokens are those of the unsplit model."""

from __future__ import annotations

import random
from itertools import product

import pytest
import torch

from ubviz.engine import GPUModelRunner, LinkModel, ModelConfig, MoETransformer, Request
from ubviz.runtime import get_runtime

BLOCK, VOCABULARY = 4, 64
PROMPTS = (7, 1, 11, 5)  # 24 tokens: every cut for 2, 3 or 4 goes through the first or the third request
CHUNK = 3  # tokens of the last prompt that a first step leaves to the next one
DECODES = 4


class Session:
    """One model with a KV cache; requests whose blocks lie scattered, and the tokens that they got."""

    def __init__(self, style: str, n: int, prompts: tuple[int, ...]) -> None:
        self.rt = get_runtime("host")
        config = ModelConfig(
            layers=2, hidden=32, heads=4, inner=48, shared=16, vocabulary=VOCABULARY, block_size=BLOCK, num_blocks=64
        )  # fmt: skip
        with torch.random.fork_rng():
            torch.manual_seed(3)
            model = MoETransformer(config, self.rt, style, LinkModel(0, 1e12)).eval()
        self.runner = GPUModelRunner(model, self.rt, n)
        rng = random.Random(5)
        blocks = rng.sample(range(64), 64)
        self.blocks = [tuple(blocks[8 * r : 8 * r + 8]) for r in range(len(prompts))]
        self.tokens = [[rng.randrange(VOCABULARY) for _ in range(length)] for length in prompts]
        self.computed = [0] * len(prompts)

    def step(self, counts: list[int], mode: str) -> list[torch.Tensor | list[int]]:
        """Run the next ``counts[r]`` tokens of request r; who has none left gets the sampled one."""
        running = [r for r, count in enumerate(counts) if count]
        requests = [
            Request(
                self.blocks[r],
                self.computed[r],
                tuple(self.tokens[r][self.computed[r] : self.computed[r] + counts[r]]),
            )
            for r in running
        ]
        output = self.runner.execute_model(requests, mode)
        for r, token in zip(running, output.sampled, strict=True):
            self.computed[r] += counts[r]
            if self.computed[r] == len(self.tokens[r]):
                self.tokens[r].append(token)
        return [output.hidden, output.sampled]

    def generate(self, mode: str) -> list[torch.Tensor | list[int]]:
        """Prefill all but the end of the last prompt; then that end beside decodes; then decodes only."""
        said = self.step([*map(len, self.tokens[:-1]), len(self.tokens[-1]) - CHUNK], mode)
        said += self.step([*[1] * (len(self.tokens) - 1), CHUNK], mode)
        for _ in range(DECODES):
            said += self.step([1] * len(self.tokens), mode)
        self.rt.close()
        return [*said, *self.tokens]


@pytest.mark.parametrize(("style", "n"), list(product(("ht", "ll"), (2, 3, 4))))
@pytest.mark.parametrize("prompts", [PROMPTS, (4, 4, 4, 4), (1, 1, 1, 17)], ids=str)
def test_generated_tokens_are_those_of_the_unsplit_model(
    style: str, n: int, prompts: tuple[int, ...]
) -> None:
    unsplit, split, overlapped = (
        Session(style, n, prompts).generate(mode) for mode in ("unsplit", "split", "overlapped")
    )
    for one, another, third in zip(unsplit, split, overlapped, strict=True):
        if isinstance(one, list):
            assert one == another == third
        else:
            assert torch.equal(another, third)
            torch.testing.assert_close(one, third, rtol=1e-5, atol=1e-5)


def test_a_wrong_continuation_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a request that was cut sees one token too few in its first part."""
    from ubviz.ubatch import CommonAttentionMetadata
    from ubviz.ubatch import metadata as module

    def mutant(part, parent):  # type: ignore[no-untyped-def]
        good = original(part, parent)
        lengths = tuple(max(q, s - 1) for q, s in zip(good.query_lens, good.seq_lens))
        return CommonAttentionMetadata(
            good.query_start_loc, lengths, good.slot_mapping, good.block_table, good.positions
        )

    original = module._split_one
    right = Session("ht", 2, PROMPTS).generate("unsplit")
    monkeypatch.setattr(module, "_split_one", mutant)
    wrong = Session("ht", 2, PROMPTS).generate("split")
    assert not torch.allclose(right[0], wrong[0], atol=1e-5)
