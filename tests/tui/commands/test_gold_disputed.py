"""Runs that stand on gold which adjudication found wrong say so on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apart import fresh
from cuecard.annotate.labelling.adjudication import adjudicate
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item, ItemKind
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples


def test_runs_and_scores_name_disputed_gold(cuecard: Any, tmp_path: Path) -> None:
    with fresh(tmp_path / "cuecard.db") as workspace:
        run = ended_run(workspace, graph_task(), [triples(*GOLD)])
        [trial] = workspace.runs.trials(run)
    assert "disputed" not in cuecard("runs").out
    assert cuecard("runs", "--json").data["runs"][0]["gold_disputed"] == 0
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        item = Item(kind=ItemKind.TRIPLE, index=0)
        adjudicate(workspace, trial.id, item, "Di", LabelValue.NO, "gold_wrong")
    assert "disputed" in cuecard("runs").out
    assert cuecard("runs", "--json").data["runs"][0]["gold_disputed"] == 1
    assert "Gold disputed: 1 item" in cuecard("score", str(run)).err
    assert cuecard("score", str(run), "--json").data["gold_disputed"] == 1
