"""Servers and harnesses that repeat every secret are played with, judged, exported, packed and shown; then every file
that came of it is searched.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from canary import DATABASE, config_text, echoing, environment, forms, found_in, planted


@pytest.mark.parametrize("streams", ["always", "never"])
def test_no_secret_reaches_any_file_or_word(samples, tmp_path: Path, streams: str) -> None:
    dice = random.Random(streams)
    canaries = planted(dice)
    address = DATABASE.format(password=canaries["PASSWORD"], second=canaries["PARAMETER"])
    said: list[str] = []

    def told(*words: str) -> None:
        done = samples(*words)
        said.append(done.out + done.err)

    with environment(canaries), echoing(canaries, dice) as url:
        (tmp_path / "known.json").write_text(json.dumps(list(canaries.values())))
        text = config_text(url, canaries).replace(
            "retries: 0, api", f"retries: 0, stream: {streams}, api"
        )
        (tmp_path / "cuecard.yaml").write_text(text)
        # First of all, so that this password is a secret too when the servers repeat it.
        told("--db", address, "runs")
        told("--db", address, "doctor", "--offline", "--json")
        told("doctor")
        graph = ("run", "espresso", "--max-turns", "1", "--judge", "strict", "--json-lines")
        facts = ("run", "facts-night-train", "--max-turns", "1", "--json")
        told(*graph, "--agent", "live", "--user", "sim", "--world", "web")
        told(*graph, "--agent", "far")
        told(*facts, "--agent", "harness", "--agent", "dying")
        told(*facts, "--agent", "lost")
        for run in ("1", "2", "3"):
            told("export", "--run", run, "--format", "jsonl", "-o", f"out/jsonl{run}")
            told("pack", "--run", run, "-o", f"run{run}.cuepack")
        told("export", "--run", "1", "--format", "inspect", "-o", "out/inspect")
        told("export", "--run", "2", "--format", "otel", "--content", "-o", "out/otel")
        told("report", "1", "2", "-o", "report.html")
    heard = [path.read_text() for path in sorted((tmp_path / "out").glob("*/*.jsonl"))]
    assert len(heard) == 4
    for text in heard:
        assert "<CANARY_MODEL>" in text
    assert (tmp_path / "report.html").exists()
    assert any("<password of the database>" in text for text in said)
    assert found_in(tmp_path, canaries, *said) == []


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    canaries = planted(random.Random(1))
    for number, canary in enumerate(canaries.values()):
        for form in forms(canary):
            (tmp_path / f"{number}.txt").write_text(f"x{form}y")
            assert len(found_in(tmp_path, canaries)) == number + 1
    assert found_in(tmp_path, canaries, canaries["MODEL"])[-1].startswith("text 0: MODEL")
