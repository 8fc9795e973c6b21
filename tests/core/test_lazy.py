"""Things that are named now and imported when they are wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cuecard.core.formats.registry import FORMATS
from cuecard.core.lazy import LazyTable


def test_names_are_known_without_an_import() -> None:
    table = LazyTable[object]({"here": "math:pi", "gone": "cuecard.nowhere:Nothing"})
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


def test_formats_go_by_their_own_names_and_come_one_by_one() -> None:
    assert [(name, found.name) for name, found in FORMATS.items()] == [(n, n) for n in FORMATS]
    code = (
        "import sys; from cuecard.core.formats.registry import FORMATS; FORMATS['turtle'];"
        "print(*[name for name in ('rdf', 'vibesearch') if f'cuecard.core.formats.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "rdf\n"
