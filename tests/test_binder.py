"""``binder/``: what it installs is what pyproject asks for, pinned, for a CPU alone, with notebook 00 first."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ubviz.course.glossary import NOTEBOOKS

ROOT = Path(__file__).resolve().parent.parent
POST_BUILD = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = {"view", "run", "lab"}
"""The extras that notebooks need; others bring what a learner has no use for."""


def installs() -> list[list[str]]:
    """The words of each pip install, in order."""
    return [line.split() for line in POST_BUILD.splitlines() if " pip install " in line]


def extras() -> set[str]:
    asked = re.search(r'-e "\.\[([^]]+)\]"', POST_BUILD)
    assert asked is not None
    return set(asked[1].split(","))


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {name.lower().replace("_", "-"): version for name, version in pairs}


def test_it_installs_the_extras_that_notebooks_need_and_no_others() -> None:
    assert extras() == NEEDED
    assert set(PROJECT["optional-dependencies"]) >= NEEDED


@pytest.mark.parametrize("extra", sorted(NEEDED))
def test_all_of_it_is_pinned_as_pyproject_asks(extra: str) -> None:
    pinned = pins()
    for line in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"][extra]]:
        requirement = Requirement(line)
        name = requirement.name.lower().replace("_", "-")
        assert name in pinned, f"constraints.txt pins no {name}"
        assert pinned[name] in requirement.specifier, f"{name}=={pinned[name]} is not {requirement.specifier}"


def test_every_installation_obeys_the_pins() -> None:
    assert len(installs()) == 2
    assert all(words[words.index("-c") + 1] == "constraints.txt" for words in installs())


def test_torch_comes_first_and_for_a_cpu_alone() -> None:
    first, second = installs()
    assert first[-1] == "torch"
    assert first[first.index("--index-url") + 1].endswith("/whl/cpu")
    assert "--no-deps" in first
    assert "--index-url" not in second
    assert not re.search(r"cuda|nvidia|triton|node|npm", "\n".join(map(" ".join, installs())))


def test_its_python_is_one_that_pyproject_allows() -> None:
    version = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")
    assert version in SpecifierSet(PROJECT["requires-python"])


def test_it_holds_nothing_that_would_install_more() -> None:
    """Binder also reads requirements.txt, environment.yml, apt.txt and others; Node comes by one of those."""
    assert sorted(path.name for path in (ROOT / "binder").iterdir()) == ["postBuild", "runtime.txt"]
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


def test_it_opens_the_first_notebook() -> None:
    settings = re.search(r"echo '(\{.+\})' > \"\$settings/jupyter_lab_config\.json\"", POST_BUILD)
    assert settings is not None
    opened = json.loads(settings[1])["LabApp"]["default_url"].removeprefix("/lab/tree/")
    assert opened == f"notebooks/{NOTEBOOKS['00']}.ipynb"
    assert (ROOT / opened).is_file()


def test_the_readme_leads_a_reader_without_an_installation_first_to_the_pages() -> None:
    """Its address stands in one place, to be filled at publication."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\(([^)]+)\)|\]\[(\w+)\]", readme)[0] == ("", "pages")
    assert len(re.findall(r"^\[pages\]: \S+$", readme, re.MULTILINE)) == 1
