"""What every verb prints, in every form, over one seeded workspace: to the letter, but for versions, temporary paths and the
last digits of floats. After a meant change: `make renew`, and read what `git diff` says.
"""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import time_machine

from cuecard.core.i18n import current_language, set_language
from cuecard.tui.commands.main import every_verb, run
from cuecard.tui.commands.output import console
from golden_cases import CASES
from golden_text import FOLDER, Called, Case, transcript
from seeded_workspace import TODAY, counted

KEPT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT", "VIRTUAL_ENV")
FIXED = {
    "COLUMNS": "80",
    "LINES": "24",
    "LANG": "C.UTF-8",
    "TZ": "CET-1",
    "USER": "ada",
    "LOGNAME": "ada",
    "CUECARD_USER": "Ada",
    "TERM": "dumb",
}

Play = Callable[[Case], str]


@pytest.fixture
def play(
    seeded_once: Path,
    signatures_once: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Play]:
    """Call the command line as a case says, on a copy of the workspace; what comes of it, as text."""
    here = tmp_path / "here"
    here.mkdir()
    for name in set(os.environ) - {*KEPT, *(n for n in os.environ if n.startswith("PYTEST"))}:
        monkeypatch.delenv(name)
    for name, value in {**FIXED, "HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(here)
    time.tzset()
    # It keeps the width of the terminal that it was made for.
    console.cache_clear()
    language = current_language()

    def called(words: str) -> Called:
        line, _sign, typed = words.partition(" <<< ")
        monkeypatch.setattr(sys, "argv", ["cuecard", *shlex.split(line)])
        if typed:
            monkeypatch.setattr(sys, "stdin", io.StringIO(typed.replace(" / ", "\n") + "\n"))
        code = run()
        written = capsys.readouterr()
        return Called(words, code, written.out, written.err)

    def played(case: Case) -> str:
        monkeypatch.setenv("CUECARD_LANG", case.language)
        if case.machine:
            monkeypatch.setenv("COLUMNS", "1000")
        if not case.empty:
            shutil.copyfile(seeded_once, here / "cuecard.db")
        for name, text in case.files.items():
            (here / name).parent.mkdir(parents=True, exist_ok=True)
            (here / name).write_bytes(text.encode())
        with time_machine.travel(TODAY, tick=False), counted(case.name):
            calls = [called(words) for words in case.calls]
        return transcript(case, calls, here)

    yield played
    set_language(language)
    console.cache_clear()
    monkeypatch.undo()
    time.tzset()
    shutil.rmtree(here)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden(case: Case, play: Play, request: pytest.FixtureRequest) -> None:
    found = play(case)
    assert "Traceback" not in found
    if request.config.getoption("--renew"):
        case.path.parent.mkdir(parents=True, exist_ok=True)
        case.path.write_text(found, encoding="utf-8", newline="")
    with case.path.open(encoding="utf-8", newline="") as file:
        assert found == file.read()


def test_every_verb_has_cases() -> None:
    calls = " | ".join(
        f"{words} " for case in CASES for words in case.calls if "--help" not in words
    )
    assert [verb for verb in every_verb() if f"{verb} " not in calls] == []


def test_every_golden_has_a_case(request: pytest.FixtureRequest) -> None:
    found = {path for path in FOLDER.rglob("*") if path.is_file()}
    strange = found - {case.path for case in CASES}
    if request.config.getoption("--renew"):
        for path in strange:
            path.unlink()
        strange = set()
    assert not strange
    assert len({case.name for case in CASES}) == len(CASES)
