"""Labelling and reviewing line by line: what they print is among the goldens; here, what they load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
