"""The small views of the course: Python's rule and the page's are one, values hold, each has a picture and words."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ubviz
from ubviz.course.cut_ruler import CutRuler
from ubviz.course.rank_map import RankMap
from ubviz.course.ranks import agreement
from ubviz.errors import BadArgument
from ubviz.ubatch import CommonAttentionMetadata, maybe_create_ubatch_slices, split_attn_metadata

STATIC = Path(ubviz.__file__).parent / "static"
CASES = 300
ASK = """
const asks = await import(process.argv[1]);
let text = "";
for await (const piece of process.stdin) text += piece;
console.log(JSON.stringify(JSON.parse(text).map((values) => asks[process.argv[2]](values))));
"""


def in_the_page(script: str, function: str, cases: list[Any]) -> list[Any]:
    """What a script of a page makes of some values."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("CI") == "true":
            pytest.fail("the page's script is checked with node, and there is none")
        pytest.skip("no node here: the page's script is checked with it")
    done = subprocess.run(
        [node, "--input-type=module", "-e", ASK, (STATIC / f"{script}.js").as_uri(), function],
        input=json.dumps(cases), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def votes() -> list[dict[str, Any]]:
    rng, found = random.Random(0), []
    for _ in range(CASES):
        ranks, ubatches = rng.randint(2, 5), rng.randint(2, 4)
        around = rng.choice((4, 40, 900))
        found.append({
            "tokens": [rng.randrange(around) for _ in range(ranks)], "ubatches": ubatches,
            "threshold": rng.randint(ubatches, max(ubatches, around // 2)),
            "allowed": [rng.random() < 0.9 for _ in range(ranks)],
        })  # fmt: skip
    return found


def test_the_page_votes_as_the_engine_does() -> None:
    cases = votes()
    seen = set()
    for case, page in zip(cases, in_the_page("rank_map", "agreement", cases), strict=True):
        engine = agreement(**case)
        assert (page["should_ubatch"], page["num_tokens"], page["votes"], page["why"]) == (
            engine.should_ubatch, list(engine.num_tokens), list(engine.votes), engine.why,
        )  # fmt: skip
        seen.add((engine.should_ubatch, all(engine.votes)))
    assert seen == {(True, True), (False, True), (False, False)}


def test_the_page_cuts_as_the_package_does() -> None:
    rng, cases = random.Random(0), []
    for _ in range(CASES):
        lengths = [rng.randint(1, rng.choice((2, 9, 400))) for _ in range(rng.randint(1, 8))]
        cases.append({"lengths": lengths, "ubatches": rng.randint(2, 4)})
    cases = [case for case in cases if sum(case["lengths"]) >= case["ubatches"]]
    for case, page in zip(cases, in_the_page("cut_ruler", "partsOf", cases), strict=True):
        lengths, n = case["lengths"], case["ubatches"]
        slices, _ = maybe_create_ubatch_slices(True, lengths, sum(lengths), len(lengths), n)
        assert slices is not None
        starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        whole = CommonAttentionMetadata(starts, lengths, range(starts[-1]), [[0]] * len(lengths))
        for part, cut, metadata in zip(page, slices, split_attn_metadata(slices, whole), strict=True):
            assert part["requests"] == [cut.request_slice.start, cut.request_slice.stop]
            assert part["tokens"] == [cut.token_slice.start, cut.token_slice.stop]
            assert part["queries"] == list(metadata.query_lens)
            assert part["sequences"] == list(metadata.seq_lens)


def test_the_engine_names_each_reason() -> None:
    assert agreement((600, 640), 512) == (
        True, (640, 640), (True, True),
        "every rank voted yes: rank 0: 600 tokens reach the prefill threshold of 512; "
        "rank 1: 640 tokens reach the prefill threshold of 512",
    )  # fmt: skip
    forbidden = agreement((600, 640), 512, allowed=(True, False))
    assert forbidden.why == "rank 1 voted no: its caller did not allow microbatches"


# ---- values


def test_setting_some_values_keeps_the_others() -> None:
    ranks = RankMap((64, 160), threshold=32)
    ranks.values = {"tokens": (100, 160, 170)}
    assert ranks.values == {
        "tokens": [100, 160, 170], "allowed": [True, True, True], "threshold": 32, "ubatches": 2,
    }  # fmt: skip
    assert ranks.agreed.should_ubatch
    ruler = CutRuler()
    ruler.values = {"ubatches": 3}
    assert ruler.values == {"lengths": [5, 11, 3, 8], "ubatches": 3}
    assert ruler.parts == [((0, 2), (0, 9)), ((1, 3), (9, 18)), ((2, 4), (18, 27))]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"tokens": [600]}, "tokens has 2 to 8 numbers, not 1"),
        ({"tokens": "600"}, "tokens is a list, not '600'"),
        ({"tokens": [600, -1]}, "tokens of a rank is a whole number from 0 to 1,000,000, not -1"),
        ({"tokens": [600, True]}, "tokens of a rank is a whole number from 0 to 1,000,000, not True"),
        ({"threshold": 1}, "threshold is a whole number from 2 to 1,000,000, not 1"),
        ({"ubatches": 1.5}, "ubatches is a whole number from 2 to 8, not 1.5"),
        ({"allowed": [True]}, "allowed has 2 to 8 numbers, not 1"),
        ({"allowed": [True, 1]}, "allowed has True or False for each of the 2 ranks, not [True, 1]"),
        ({"ranks": 3}, "values has allowed, threshold, tokens, ubatches, and no 'ranks'"),
        (3, "values is a dict, not 3"),
    ],
)
def test_values_that_cannot_be_are_refused_and_the_old_ones_stay(values: Any, sentence: str) -> None:
    ranks = RankMap()
    before = ranks.values
    with pytest.raises(BadArgument) as caught:
        ranks.values = values
    assert str(caught.value) == sentence
    assert ranks.values == before


def test_a_cut_needs_a_token_for_each_microbatch() -> None:
    with pytest.raises(BadArgument, match=r"^3 microbatches need at least 3 tokens, not 2$"):
        CutRuler([1, 1], 3)
    with pytest.raises(
        BadArgument, match=r"^the length of a request is a whole number from 1 to 1,000,000, not 0$"
    ):
        CutRuler([5, 0])


# ---- elsewhere than in a notebook


def test_each_says_what_it_shows() -> None:
    assert repr(RankMap((600, 100))) == (
        "<RankMap: ranks with 600, 100 tokens, threshold 512: no microbatches on every rank>"
    )
    assert CutRuler((42, 999)).alt == (
        "Cut ruler, requests of 42, 999 tokens, cut at 520. Microbatch 0 has requests 0 to 2, tokens 0 to 520. "
        "Microbatch 1 has requests 1 to 2, tokens 520 to 1041, and looks back on 478 tokens of request 1 in the KV "
        "cache."
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "view",
    [RankMap, lambda **t: RankMap((600, 100, 0), **t), lambda **t: RankMap((64, 160), 32, **t), CutRuler,
     lambda **t: CutRuler((1,) * 8, 8, **t)],
)  # fmt: skip
def test_a_picture_stands_in_for_it(view: Any, theme: str, tmp_path: Path) -> None:
    shown = view(theme=theme)
    shown.to_picture(tmp_path / "picture.svg")
    assert shown.alt.split(".")[0] in (tmp_path / "picture.svg").read_text(encoding="utf-8").replace(
        "&lt;", "<"
    )
    outputs = [data for data, _ in shown._still().outputs()]
    assert "image/png" in outputs[0]
    assert 'class="ubviz-still"' in outputs[1]["text/html"]


def test_a_title_is_text() -> None:
    shown = CutRuler(title="<b>the cut</b>")
    assert shown.title == "<b>the cut</b>"
    with pytest.raises(BadArgument, match="title is a string, not 3"):
        RankMap(title=3)  # type: ignore[arg-type]
