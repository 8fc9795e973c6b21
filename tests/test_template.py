"""The package in docs/template, built as a wheel, installed, and used as its page says, without a line changed in Cuecard."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import forked

TEMPLATE = Path(__file__).parent.parent / "docs" / "template"
README = (TEMPLATE / "README.md").read_text(encoding="utf-8")


def run(*words: str, folder: Path, **more: str) -> str:
    # Pip is no program of Cuecard.
    start = forked.run if words[0] == "cuecard" else subprocess.run
    done = start(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "LANG": "C.UTF-8", "COLUMNS": "200", **more},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "searched" not in done.stdout + done.stderr, "what its agent prints is on the screen"
    return done.stdout


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of the page were followed, with the package installed below it."""
    folder = tmp_path_factory.mktemp("template")
    shutil.copytree(TEMPLATE, folder / "source")
    pip = ("pip", "--disable-pip-version-check")
    here = ("--no-build-isolation",) if importlib.util.find_spec("hatchling") else ()
    run(*pip, "wheel", "-q", "--no-deps", *here, "-w", "wheels", "./source", folder=folder)
    (wheel,) = (folder / "wheels").glob("*.whl")
    install = (*pip, "install", "-q", "--no-deps", "--no-index", "--target", "installed")
    run(*install, str(wheel), folder=folder)
    config, commands = re.findall(
        r"^```(?:yaml)?\n((?:# cuecard|cuecard init).*?)^```", README, re.S | re.M
    )
    (folder / "cuecard.yaml").write_text(config, encoding="utf-8")
    for line in commands.splitlines():
        said = run(*shlex.split(line), folder=folder, PYTHONPATH="installed")
        (folder / f"said by {shlex.split(line)[1]}").write_text(said, encoding="utf-8")
    return folder


def cuecard(used: Path, *words: str) -> str:
    return run("cuecard", *words, folder=used, PYTHONPATH="installed")


def test_doctor_loads_everything_that_it_registers(used: Path) -> None:
    checks = json.loads(cuecard(used, "doctor", "--offline", "--json"))["checks"]
    states = {check["name"]: check["state"] for check in checks if ":" in check["name"]}
    groups = {name.partition(":")[2].partition("/")[0] for name in states if "/" in name}
    parts = ("agents", "users", "worlds", "judges", "formats", "exports", "measures")
    assert groups == {f"cuecard.{part}" for part in parts}
    assert {"agent:mine", "user:calm", "world:shelf", "judge:strict"} <= states.keys()
    assert {*states.values()} == {"ok"}


def test_its_players_play_and_are_judged(used: Path) -> None:
    (trial,) = json.loads(cuecard(used, "score", "1", "--json", "--judge", "strict"))["results"]
    assert (trial["pass_at_1"], trial["words_per_reply"]) == (1.0, 18.0)
    exported = (used / "replies" / "mine" / "replies.jsonl").read_text(encoding="utf-8")
    said = "BN 7 was late. Boreal Nightlink owes 36 euros."
    assert json.loads(exported) == {"task": "facts-night-train", "said": [f"{said}\n{said}"]}


def test_what_its_agent_prints_is_in_the_log(used: Path) -> None:
    cuecard(used, "export", "--run", "1", "-o", "lines")
    assert "searched 2 times" in (used / "lines" / "trials.jsonl").read_text(encoding="utf-8")


def test_they_appear_in_scores_and_reports(used: Path) -> None:
    shown = (used / "said by score").read_text(encoding="utf-8")
    assert re.search(r"Words per reply +18 +1", shown)
    report = cuecard(used, "report", "1")
    assert "agent mine, judge strict, user calm, world shelf" in report
    assert "| mine (baseline) | 1 | 1 | 18.0 |" in report


def test_its_format_is_read_and_told_by_its_suffix(used: Path) -> None:
    assert (used / "tasks" / "facts-night-train.task").is_file()
    told = cuecard(used, "import", "tasks", "tasks/facts-night-train.task")
    assert told.count("(taskfile): 0 new, 0 revised, 1 unchanged") == 2
