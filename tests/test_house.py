"""The house: what lies at the top level, and what no file may hold."""

from __future__ import annotations

import fnmatch
import gzip
import json
import os
import re
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).resolve().parent.parent

TOP_LEVEL = {
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "constraints.txt",
    "ubviz",
    "notebooks",
    "tests",
    "binder",
}

# Written in parts, so that this file does not hold what it looks for.
REGISTRIES = re.compile(
    r"py@pi\.org|python@hosted\.org|registry\.npm@js|registry\.yarn@pkg|deb\.deb@ian\.org".replace("@", "")
)
TORCH_INDEX = re.compile(r"download\.py@torch\.org".replace("@", ""))


def ignored(name: str) -> bool:
    """Whether .gitignore names this file or folder."""
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    return name == ".git" or any(fnmatch.fnmatch(name, pattern.strip("/")) for pattern in patterns)


def sources() -> Iterator[Path]:
    """Every file of the checkout that .gitignore leaves in."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not ignored(name))
        yield from (Path(folder) / name for name in sorted(files) if not ignored(name))


def text_sources() -> Iterator[tuple[str, str]]:
    """Name and text of every file that is text, the shipped recordings unpacked."""
    for path in sources():
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        try:
            yield path.relative_to(ROOT).as_posix(), content.decode("utf-8")
        except UnicodeDecodeError:
            continue


def places(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}"
        for name, text in text_sources()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_the_top_level_holds_nothing_else() -> None:
    names = {path.name for path in ROOT.iterdir() if not ignored(path.name)}
    assert {name for name in names if not name.startswith(".")} - TOP_LEVEL == set()


def test_no_file_holds_the_address_of_a_package_registry() -> None:
    assert places(REGISTRIES) == []


def test_torch_wheel_index_is_named_only_where_a_reader_needs_it() -> None:
    assert [place for place in places(TORCH_INDEX) if not place.startswith(("README.md:", "binder/"))] == []


def test_no_file_holds_the_path_of_this_checkout() -> None:
    assert places(re.compile(re.escape(f"{ROOT}{os.sep}"))) == []


def test_every_folder_of_modules_is_a_package() -> None:
    """A folder without ``__init__.py`` would be left out of the wheel."""
    modules = [path for path in sources() if path.suffix == ".py" and path.is_relative_to(ROOT / "ubviz")]
    folders = {path.parent for path in modules if "frontend" not in path.parts}
    assert sorted(folder.name for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_lock_files_hold_no_address() -> None:
    locks = [path for path in sources() if path.name == "package-lock.json"]
    resolved = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in locks
        for name, entry in json.loads(path.read_text(encoding="utf-8")).get("packages", {}).items()
        if "resolved" in entry
    ]
    assert resolved == []


@pytest.mark.parametrize(
    "line",
    ["https://py@pi.org/simple", "https://files.python@hosted.org/x", "http://d@eb.deb@ian.org/debian"],
)
def test_a_registry_address_would_be_found(line: str) -> None:
    assert REGISTRIES.search(line.replace("@", ""))


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md"])
def test_the_paths_that_a_page_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:\.?\w[\w.-]*/)+[\w.-]*|[\w-]+\.(?:md|py|toml|txt))`", text)
    named += [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert named
    made_by_use = {".venv/", ".venv/bin/ubviz", "ubviz-out/"}
    kept = sorted(set(named) - made_by_use)
    assert [name for name in kept if not any((base / name).exists() for base in (ROOT, ROOT / "ubviz"))] == []


def test_constraints_pin_every_line_and_no_local_version() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    assert "torch==2.13.0" in pins


def test_every_pin_can_be_installed_on_the_oldest_python() -> None:
    """A pin made on 3.11.7 may ask for 3.11.5, and then nothing installs on Debian 12's 3.11.2."""
    asked = {found.name: found.metadata.get("Requires-Python") or "" for found in distributions()}
    assert {name: python for name, python in asked.items() if "3.11.0" not in SpecifierSet(python)} == {}
