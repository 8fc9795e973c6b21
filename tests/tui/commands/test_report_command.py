"""`cuecard report`: every figure in the file is one of `cuecard score --json`."""

from __future__ import annotations

import pytest

from apart import fresh
from cuecard.core.families.checkpoints.score import DETECTION_MEASURES
from cuecard.core.tasks.gold import FAMILIES
from planted_results import AGENTS, plant
from report_pages import looked_up, page_of
from report_runs import hostile_run

# The judge covers 16 of 27 items, Bertha 15 of these: 26/27 alike; by chance (16·15 + 11·12) / 27² for kappa, and
# 2p(1 - p) with p = 15.5/27 for AC1.
KEYLESS = ["0.962", "0.924", "0.927"]


def checkpoints_and_facts(workspace):
    return plant(workspace, agents=AGENTS[:2], copies=3, samples=1, families=FAMILIES[2:])


@pytest.mark.parametrize(
    ("entered", "keyless"), [(hostile_run, KEYLESS), (checkpoints_and_facts, [])]
)
def test_every_figure_of_a_report_is_one_of_the_json(cuecard, tmp_path, entered, keyless):
    with fresh(tmp_path / "cuecard.db") as workspace:
        run = entered(workspace)
    made = cuecard("report", str(run), "-o", "report.html")
    assert (made.code, made.out) == (0, "")
    assert made.err.endswith("Written to report.html.\n")
    data = cuecard("score", str(run), "--json").data
    cells = page_of((tmp_path / "report.html").read_text(encoding="utf-8")).cells
    figures = [cell for cell, _text in cells if cell.keys() & {"data-key", "data-value"}]
    assert len(figures) > 200
    intervals = 0
    # Agreement of the judge with people is what `cuecard agree` tells: percent, kappa and AC1 have no key.
    keyed = [cell for cell in figures if "data-key" in cell]
    assert [cell["data-value"][:5] for cell in figures if cell not in keyed] == keyless
    for cell in keyed:
        found = looked_up(data, cell["data-key"])
        told = cell.get("data-value")
        assert found == (None if told is None else float(told)), cell
        if "data-low" in cell:
            ends = [float(cell["data-low"]), float(cell["data-high"])]
            assert interval_of(data, cell["data-key"]) == ends, cell
            intervals += 1
    assert intervals > 20
    pooled = {cell["data-key"] for cell in keyed if cell["data-key"].endswith("/pooled")}
    told = {key.split("/")[4] for key in pooled}
    assert told == (set() if entered is hostile_run else set(DETECTION_MEASURES))
    shown = cuecard("report", str(run), "--format", "csv", "--no-plots").out.splitlines()
    assert shown[0].startswith("\ufefftable,line,column,text,value")
    assert cuecard("report", str(run)).out.startswith("# ")


def interval_of(data, key):
    """Beside the value of a table's cell, or under the name of how samples were taken together."""
    place, _slash, name = key.rpartition("/")
    beside = looked_up(data, place)
    return [beside["low"], beside["high"]] if name == "value" else beside["interval"][name]


def test_a_report_that_cannot_be_says_why(cuecard, tmp_path):
    with fresh(tmp_path / "cuecard.db"):
        pass
    unknown = cuecard("report", "7", "-o", "a.html")
    assert unknown.code == 1
    assert "7" in unknown.err
    assert not (tmp_path / "a.html").exists()
    nowhere = cuecard("report", "7", "-o", "no/such/a.html")
    assert nowhere.code == 1
    assert "there is no such folder" in nowhere.err
    (tmp_path / "folder.md").mkdir()
    assert "it is a folder" in cuecard("report", "7", "-o", "folder.md").err
    strange = cuecard("report", "7", "-o", "a.pdf")
    assert strange.code == 2
    assert "--format" in strange.err
