"""`cuecard fidelity`."""

from __future__ import annotations

from pathlib import Path

import pytest

from apart import fresh
from fidelity_planted import planted


@pytest.fixture
def sessions(tmp_path: Path) -> None:
    with fresh(tmp_path / "cuecard.db") as workspace:
        planted(workspace)


def test_a_report_in_sections(cuecard, sessions: None):
    blind = cuecard("--as", "Zoe", "fidelity", "--json")
    assert (blind.data["worst"], "Zoe has not labelled them" in blind.err) == ([], True)
    shown = cuecard("fidelity", "--worst", "2", "--reveal")
    assert (shown.code, "counts as having seen" in shown.err) == (0, True)
    assert "29 user turns of 4 trials, of which people played 4." in shown.out
    assert "Cues met or not: simulators and people" in shown.out
    assert "Worst turns: 2 of 28" in shown.out
    assert "sloppy (small) (not met): Is it in there that Luigi Bezzera" in shown.out
    worst = cuecard(
        "fidelity", "1", "--user", "sloppy", "--section", "worst", "--markdown", "--reveal"
    ).out
    assert "### trial 1, turn 5 · sloppy (small): gives gold away (Luigi Bezzera)" in worst
    assert "- Ann (not met): Let's not skip anybody." in worst
    assert "Findings," not in worst
    data = cuecard(
        *("fidelity", "--user", "sloppy", "--json", "--worst", "1"),
        *("--section", "cues", "--section", "worst", "--reveal"),
    ).data
    assert "findings" not in data
    whole = next(a for a in data["agreements"] if a["simulator"]["name"] == "sloppy")
    assert (whole["by"], whole["n"]) == (None, 19)
    assert whole["percent"]["value"] == pytest.approx(15 / 19)
    assert [turn["findings"] for turn in data["worst"]] == [
        [{"kind": "leak", "found": "Luigi Bezzera", "flagged": False}]
    ]
    nobody = cuecard("fidelity", "--user", "nobody", "--task", "no-such")
    assert (nobody.code, "Play a session" in nobody.err) == (0, True)


def test_sizes_need_no_workspace_and_errors_are_said(cuecard):
    sizes = cuecard("fidelity", "--correlation", "0.3", "--json")
    assert sizes.data["sessions"] == [{"correlation": 0.3, "spearman": 89, "kendall": 40}]
    shown = cuecard("fidelity", "--correlation", "0.3", "--power", "0.9")
    assert (shown.code, "with a power of 90%" in shown.out) == (0, True)
    assert cuecard("fidelity", "--correlation", "1.5").code == 2
    assert cuecard("fidelity", "--correlation", "0.3", "--power", "1").code == 2
    assert cuecard("fidelity", "--json", "--markdown").code == 2
    assert cuecard("fidelity").code == 1
