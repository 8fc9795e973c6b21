"""Labelling and reviewing line by line: what they print is among the goldens; here, what they load."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

PROGRAM = """
import sys
from cuecard.tui.commands.main import run
code = run()
loaded = {name.split(".")[0] for name in sys.modules}
print("LOADED", *sorted(loaded & {"textual", "textual_speedups"}), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("words", "typed", "told"),
    [
        (["label", "--plain", "--run", "1"], "y\n?\nq\n", "1 item labelled"),
        (["review", "--plain"], "r\na\nq\n", "goes on here"),
    ],
)
def test_a_person_who_works_line_by_line_loads_no_screen(
    judged: Path, words: list[str], typed: str, told: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "--db", str(judged), "--as", "Ben", *words],
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert told in done.stdout + done.stderr
    assert done.stderr.strip().splitlines()[-1] == "LOADED"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("words", "typed"),
    [(["label", "--plain", "--run", "1"], "t\nm\ny\n?\nq\n"), (["review", "--plain"], "?\nr\nq\n")],
)
def test_lines_end_between_words_and_where_han_may(
    judged: Path, words: list[str], typed: str, language: str
) -> None:
    def told(columns: int) -> list[str]:
        place = judged.parent / str(columns)
        place.mkdir()
        database = shutil.copyfile(judged, place / "cuecard.db")
        done = subprocess.run(
            [sys.executable, "-m", "cuecard", "--db", str(database), "--as", "Ben", *words],
            input=typed,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ
            | {"COLUMNS": str(columns), "CUECARD_LANG": language, "HOME": str(place)},
        )
        return done.stdout.splitlines()

    narrow, whole = told(60), set(re.findall(r"[A-Za-z]+", "\n".join(told(2000))))
    assert 50 < max(cell_len(line) for line in narrow if "://" not in line) <= 60
    for line in narrow:
        assert not set(re.findall(r"[A-Za-z]+", line)) - whole, line
        assert line.lstrip()[:1] not in set("，。、；：？！）》”"), line


def test_an_answer_to_a_question_of_a_review_is_kept_at_once_and_can_be_taken_back(
    judged: Path,
) -> None:
    words = ["-m", "cuecard", "--db", str(judged), "--as", "Ben", "review", "--plain"]

    def told(typed: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, *words], input=typed, capture_output=True, text=True, check=True
        )
        return re.findall(r"(\d) of \d checked", done.stdout)

    assert told("r\nr\nz\nq\n") == ["0", "1", "2", "1"]
    with subprocess.Popen(
        [sys.executable, "-u", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdin is not None
        assert killed.stdout is not None
        killed.stdin.write("r\n")
        killed.stdin.flush()
        while "2 of" not in killed.stdout.readline():
            pass
        killed.kill()
    assert told("q\n") == ["2"]
