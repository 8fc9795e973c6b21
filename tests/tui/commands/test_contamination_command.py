"""`cuecard contamination`: what pages gave away, and an exit code for pipelines."""

from __future__ import annotations

import shutil

from cuecard.store.workspace import Workspace
from web_trials import pages_seen


def test_the_verb_tells_and_fails_where_it_is_asked_to(cuecard, made_once, tmp_path):
    path = shutil.copyfile(made_once("pages-seen", pages_seen), tmp_path / "cuecard.db")
    with Workspace.open(path) as workspace:
        run = str(max(run.id for run in workspace.runs.all()))
    told = cuecard("contamination", run, "--json")
    assert told.code == 0
    levels = {trial["level"] for trial in told.data["trials"]}
    assert levels == {"answer", "metadata", "none", "question"}
    shown = cuecard("contamination", run)
    assert "holds the answer beside it" in shown.out
    assert cuecard("contamination", run, "--fail-if-any").code == 1
    report = cuecard("report", run, "--no-plots")
    assert "Contamination" in report.out
