"""Quality control from the command line, with a model on a socket and without any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cuecard as cuecard_package
from openai_server import Request, running, text

CONFIG = """\
models:
  big: {{base_url: "{url}", model: big, retries: 0, price: {{prompt: 1.0, completion: 1.0}}}}
qc: {{closed_book: 2}}
"""
CHAIN, FACTS = "checkpoints-highest-mountain", "facts-night-train"


def _knows(request: Request) -> Any:
    return text("Final answer: Delfo Cabrera")


NAMES = (CHAIN, FACTS, "table-us-states", "facts-lunar-station-zh")


@pytest.fixture
def samples(begun):
    """A workspace with four of the sample tasks."""
    folder = Path(cuecard_package.__file__).parent / "sample_tasks"
    files = [str(folder / f"{name}.yaml") for name in NAMES]
    assert begun("--as", "Ann", "import", *files).code == 0
    return begun


def test_wrong_usage(samples):
    for words in ((), (CHAIN, "--all"), (CHAIN, "--stage", "taste"), (CHAIN, "--budget", "0")):
        assert samples("qc", *words).code == 2
    assert samples("qc", "nothing").code == 1
    rules = samples("qc", "--rules", "--json").data["rules"]
    assert [rule["proposes"] for rule in rules] == sorted(
        (rule["proposes"] for rule in rules), key=("remove", "revise", "keep").index
    )
    assert "in most attempts" in " ".join(samples("qc", "--rules").out.split())


def test_without_models_everything_is_said_and_nothing_flagged(samples):
    done = samples("--as", "Ann", "qc", "--all")
    assert done.code == 0
    assert "keep so far" in done.out
    assert "0 of 4 tasks are flagged." in done.err
    one = samples("--as", "Ann", "qc", CHAIN)
    assert "No model: name one in cuecard.yaml." in " ".join(one.out.split())
    assert "1 result of an offline baseline, not counted" in " ".join(one.out.split())


def test_leakage_is_flagged_and_paid_for_once(samples, tmp_path: Path):
    with running(_knows) as server:
        config = tmp_path / "cuecard.yaml"
        config.write_text(CONFIG.format(url=server.url), encoding="utf-8")
        refused = samples("--as", "Ann", "qc", CHAIN, "--stage", "closed_book")
        assert refused.code == 2
        assert "2 trials are to be played, with big." in " ".join(refused.err.split())
        assert not server.requests
        words = ("--as", "Ann", "qc", CHAIN, "--stage", "closed_book", "--budget", "1", "--json")
        done = samples(*words)
        assert done.code == 1
        asked = len(server.requests)
        (task,) = done.data["tasks"]
        (stage,) = task["stages"]
        assert (stage["state"], stage["n"], stage["models"]) == ("flagged", 2, ["big"])
        assert stage["cost"] > 0
        assert [result["findings"] for result in stage["results"]] == [
            ["answered: Delfo Cabrera"],
            ["answered: Delfo Cabrera"],
        ]
        assert task["signals"]["leaked"] == "most"
        assert (task["proposal"]["verdict"], task["proposal"]["rules"]) == ("remove", ["known"])
        assert done.data["flagged"] == [CHAIN]
        # What is recorded needs no leave and no call; the task is still there.
        again = samples("--as", "Ann", "qc", CHAIN, "--stage", "closed_book", "--json")
        assert again.data["tasks"] == done.data["tasks"]
        assert len(server.requests) == asked
    told = samples("--as", "Ann", "qc", CHAIN, "--known", "--stage", "verdict")
    assert told.code == 0
    assert "Proposed: remove so far, because" in told.out
    assert "Models know the answer" in told.out


def test_a_spent_budget_stops_and_is_told(samples, tmp_path: Path):
    with running(_knows) as server:
        config = tmp_path / "cuecard.yaml"
        config.write_text(CONFIG.format(url=server.url), encoding="utf-8")
        words = ("--as", "Ann", "qc", FACTS, CHAIN, "--stage", "closed_book")
        stopped = samples(*words, "--budget", "0.00001")
        assert stopped.code == 1
        assert "Not everything was played: The budget is spent" in " ".join(stopped.err.split())
        asked = len(server.requests)
        assert 0 < asked < 8
        assert samples(*words, "--yes", "--json").data["stopped"] == ""
        assert len(server.requests) == 8
