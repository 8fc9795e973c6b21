"""Things that are named now and imported when they are wanted, of other packages too."""

from __future__ import annotations

import contextvars
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cuecard.core import plugins
from cuecard.core.config import parse_config
from cuecard.core.formats.base import FORMATS
from cuecard.core.plugins import MOST_PRINTED, PluginError, Registry, captured_output, registered


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package of one module, as far as finding its entry points goes."""

    def install(module: str, code: str, entry_points: str) -> None:
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        about = tmp_path / f"{module}-0.3.dist-info"
        about.mkdir()
        named = f"Metadata-Version: 2.1\nName: {module}\nVersion: 0.3\n"
        (about / "METADATA").write_text(named, encoding="utf-8")
        (about / "entry_points.txt").write_text(entry_points, encoding="utf-8")
        registered.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    registered.cache_clear()


def test_names_are_known_without_an_import() -> None:
    table = Registry[object]("cuecard.none", {"here": "math:pi", "gone": "cuecard.nowhere:No"})
    assert (list(table), len(table), "gone" in table, "pi" in table) == (
        ["here", "gone"],
        2,
        True,
        False,
    )
    assert table["here"] == pytest.approx(3.14159, abs=1e-5)
    with pytest.raises(ModuleNotFoundError):
        table["gone"]
    with pytest.raises(KeyError):
        table["pi"]


def test_what_other_packages_register_comes_after_ours(package) -> None:
    package(
        "strange_numbers",
        "print('imported')\nTAU = 6.28\nWORD = 'tau'\n",
        "[cuecard.numbers]\ntau = strange_numbers:TAU\npi = strange_numbers:TAU\n"
        "word = strange_numbers:WORD\nlost = strange_numbers:LOST\n",
    )
    table = Registry[float]("cuecard.numbers", {"pi": "math:pi"}, fits="builtins:float")
    assert list(table) == ["pi", "tau", "word", "lost"]
    assert "strange_numbers" not in sys.modules
    assert table["pi"] == pytest.approx(3.14159, abs=1e-5)
    assert table["tau"] == 6.28
    with pytest.raises(PluginError) as wrong:
        table["word"]
    assert wrong.value.message == (
        "word of the package strange_numbers 0.3, registered in cuecard.numbers as"
        " strange_numbers:WORD: it must be of the class builtins:float"
    )
    with pytest.raises(PluginError, match="AttributeError: module 'strange_numbers' has no"):
        table["lost"]


def test_a_kind_that_a_package_registers_is_a_player_in_python(package, tmp_path: Path) -> None:
    package("strange_agent", "", "[cuecard.agents]\nstrange = strange_agent:Agent\n")
    text = "agents:\n  one: {kind: strange, options: {a: 1}}\n"
    agent = parse_config(text, tmp_path / "cuecard.yaml").agent("one")
    assert agent.model_dump(by_alias=True, include={"kind", "code", "options"}) == {
        "kind": "python",
        "class": "strange_agent:Agent",
        "options": {"a": 1},
    }


def test_formats_go_by_their_own_names_and_come_one_by_one() -> None:
    assert [(name, found.name) for name, found in FORMATS.items()] == [(n, n) for n in FORMATS]
    code = (
        "import sys; from cuecard.core.formats.base import FORMATS; FORMATS['turtle'];"
        "print(*[name for name in ('rdf', 'vibesearch') if f'cuecard.core.formats.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "rdf\n"


def test_looking_for_one_of_ours_reads_no_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_group: str) -> dict[str, EntryPoint]:
        raise AssertionError

    monkeypatch.setattr(plugins, "registered", never)
    table = Registry[float]("cuecard.numbers", {"pi": "math:pi"})
    assert "pi" in table
    assert table["pi"]


def test_what_is_printed_is_kept_of_one_context_only(capsys: pytest.CaptureFixture[str]) -> None:
    kept: list[str] = []
    with captured_output(kept):
        print("kept")
        # As another task would.
        contextvars.Context().run(print, "shown")
        inner: list[str] = []
        with captured_output(inner):
            print("x" * (MOST_PRINTED + 5))
        print("kept too", file=sys.stderr)
    print("shown again")
    assert "".join(kept) == "kept\nkept too\n"
    assert len("".join(inner)) == MOST_PRINTED
    assert capsys.readouterr() == ("shown\nshown again\n", "")
