"""`cuecard agree --effect`."""

from __future__ import annotations

from pathlib import Path

import pytest

from apart import fresh
from effect_runs import judged_run, label


@pytest.fixture
def labelled(tmp_path: Path) -> None:
    with fresh(tmp_path / "cuecard.db") as workspace:
        _run, trials = judged_run(workspace, {"alpha": ["yyyn"] * 6, "be|ta": ["yynn"] * 6})
        for n in range(6):
            label(workspace, trials["alpha", n], "n--y" if n < 2 else "yyyn")


def test_scores_with_peoples_labels(cuecard, labelled: None) -> None:
    shown = cuecard("agree", "--effect", "--run", "1", "--judge", "strict")
    assert (shown.code, shown.err) == (0, "")
    assert "People decided on 20 items, otherwise than the judge on 4." in shown.out
    assert "no known support" in shown.out
    assert "alpha to be|ta" in shown.out
    data = cuecard("agree", "--effect", "--run", "1", "--judge", "strict", "--json").data
    measures = {one["name"]: one for one in data["groups"][0]["measures"]}
    assert measures["triplet_recall"]["people"]["value"] == pytest.approx(0.75)
    assert measures["triplet_precision"]["difference"]["value"] == pytest.approx(-0.5 / 6)
    assert data["rankings"][0]["agents"][0]["agent"] == "alpha"
    written = cuecard("agree", "--effect", "--run", "1", "--judge", "strict", "--markdown")
    assert "| be\\|ta | 0.500 | 2 | 0.500 | 2 |" in written.out


def test_what_stands_in_the_way_is_said(cuecard, labelled: None) -> None:
    assert "has judged none" in cuecard("agree", "--effect", "--run", "1").out
    assert cuecard("agree", "--effect").code == 2
    # Agreement is of all judges, so that naming one is refused, and not passed over.
    alone = cuecard("agree", "--run", "1", "--judge", "strict")
    assert (alone.code, "needs --effect" in alone.err) == (2, True)
    assert cuecard("agree", "--effect", "--run", "9").code == 1


def test_a_score_has_one_interval_wherever_it_stands(cuecard, tmp_path: Path) -> None:
    """The judge's figure beside a corrected one is that of the table, not one with an interval made otherwise."""
    with fresh(tmp_path / "cuecard.db") as workspace:
        said = ("yyyn", "ynnn", "yynn", "yyyy", "yyyn", "ynnn")
        _run, trials = judged_run(workspace, {"alpha": said})
        for n, of in enumerate(said):
            label(workspace, trials["alpha", n], of[:-1] + "y")
    (line,) = cuecard("score", "1", "--judge", "strict", "--json").data["scores"]["lines"]
    figure, corrected = line["figures"]["triplet_f1.avg"], line["corrected"]["triplet_f1.avg"]
    assert corrected["judge"]["interval"] == figure["interval"]
    assert corrected["judge"]["value"] == figure["value"] < corrected["corrected"]["value"]
