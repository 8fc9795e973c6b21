"""The rooms stand at the root as links; whatever walks through the tree meets each file once."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "cuecard"
LINKS = ("annotate", "core", "sample_tasks", "store", "tui")

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists(), reason="source distributions carry no links"
)


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def of_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_the_rooms_at_the_root_are_those_of_the_package():
    links = {path.name: path.resolve() for path in ROOT.iterdir() if path.is_symlink()}
    assert links == {name: PACKAGE / name for name in LINKS}
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == {*LINKS} - {
        "sample_tasks"
    }
    for name in LINKS:
        assert not (ROOT / name).readlink().is_absolute()
        assert any((ROOT / name).iterdir())


def test_ruff_sees_each_file_once():
    listed = of_python("ruff", "check", "--show-files", "--no-cache", ".")
    assert listed.returncode == 0, listed.stderr
    seen = [Path(line) for line in listed.stdout.splitlines()]
    assert len({path.resolve() for path in seen}) == len(seen)
    assert {path for path in seen if path.is_relative_to(PACKAGE)} == {*PACKAGE.rglob("*.py")}
    assert not [path for path in seen if path.relative_to(ROOT).parts[0] in LINKS]


def test_pytest_finds_tests_in_their_folder_only():
    assert project()["tool"]["pytest"]["ini_options"]["testpaths"] == ["tests"]
    elsewhere = of_python("pytest", "--collect-only", "-p", "no:cacheprovider", "src", *LINKS)
    assert "no tests collected" in elsewhere.stdout
    assert elsewhere.returncode == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize(
    "named",
    [
        ("basedpyright", "include"),
        ("hatch", "build", "targets", "sdist", "only-include"),
        ("hatch", "build", "targets", "wheel", "packages"),
    ],
    ids=lambda keys: keys[0] if len(keys) == 2 else keys[-2],
)
def test_what_is_checked_and_packed_is_named_without_links(named: tuple[str, ...]):
    paths: Any = project()["tool"]
    for key in named:
        paths = paths[key]
    places = [ROOT / path for path in paths]
    assert [path.resolve() for path in places] == places
    assert any(PACKAGE.is_relative_to(path) for path in places)
