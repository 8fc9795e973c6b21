"""What verbs and exports tell a labeller: no more than the screens do, and what they tell is remembered."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest

from apart import fresh, workspaces
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples
from verbs_play import EXPORTS, RUN_EXPORTS, LabelGame, quick_verbs, run_verb


@pytest.mark.parametrize("seed", [1, 2])
def test_no_verb_tells_a_labeller_what_waits_for_them(seed: int) -> None:
    """`bench/blindness.py` plays longer games."""
    dice = random.Random(seed)
    with quick_verbs(), workspaces(1) as [ws]:
        game = LabelGame.begin(ws, dice)
        for _ in range(24):
            game.step(dice)
        for verb in (*EXPORTS, *RUN_EXPORTS):
            game.look("Lia", dice, verb)
        for key in game.keys[:8]:
            game.label("Lia", key, dice)


@pytest.fixture
def drawn(tmp_path: Path) -> Path:
    """Triples 0 to 2 are Lia's to label; Max labelled the first two, and a judge decided on all."""
    path = tmp_path / "w.db"
    with fresh(path) as workspace:
        run = ended_run(workspace, graph_task(), [triples(*GOLD[:2])])
        (trial,) = workspace.runs.trials(run)
        items = [Item(kind=ItemKind.TRIPLE, index=index) for index in range(4)]
        verdicts = tuple(
            Verdict(item=item, decision=Decision.YES, rationale=f"because-{item.index}")
            for item in items
        )
        judge = PlayerRef(name="strict", kind="model")
        workspace.verdicts.add(trial.id, Judgement(judge=judge, verdicts=verdicts))
        for item in (items[0], items[1], items[3]):
            workspace.verdicts.label_item(trial.id, item, "Max", LabelValue.NO, f"max-{item.index}")
        workspace.label_sets.create(
            name="s",
            created_by="Cleo",
            items=[SetItem(trial_id=trial.id, item=item, people=("Lia",)) for item in items[:3]],
        )
    return path


def rows(text: str) -> dict[str, dict[str, str]]:
    return {row["item"]: row for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff")))}


def test_an_export_of_a_set_holds_nothing_of_what_waits(drawn: Path) -> None:
    words = [
        "labels",
        "export",
        "--set",
        "1",
        "--format",
        "csv",
        "--with-verdicts",
        "-o",
        "out.csv",
    ]
    told = run_verb(drawn, "Lia", words)
    assert told.code == 0
    for row in rows(told.files["out.csv"]).values():
        assert {row["label"], row["comment"], row["person"]} == {""}
    assert "max-" not in told.text
    assert "yes" not in told.files["out.csv"]
    assert "What was decided on 3 items is held back" in told.printed
    seen = run_verb(drawn, "Lia", [*words, "--reveal"])
    found = rows(seen.files["out.csv"])
    assert (found["triple/0"]["label"], found["triple/0"]["comment"]) == ("no", "max-0")
    with Workspace.open(drawn) as workspace:
        given = [
            workspace.verdicts.label_item(
                1, Item(kind=ItemKind.TRIPLE, index=n), "Lia", LabelValue.YES
            )
            for n in (0, 3)
        ]
        assert [label.phase for label in given] == ["revealed", "blind"]


def test_what_is_not_in_a_set_is_told_and_remembered(drawn: Path) -> None:
    told = run_verb(
        drawn, "Lia", ["labels", "export", "--run", "1", "--format", "jsonl", "-o", "out.jsonl"]
    )
    lines = [json.loads(line) for line in told.files["out.jsonl"].splitlines()]
    assert [(line["item"], line["comment"]) for line in lines if line["label"]] == [
        ("triple/3", "max-3")
    ]
    assert "Lia counts as having seen what was decided on 1 item" in told.printed
    with Workspace.open(drawn) as workspace:
        item = Item(kind=ItemKind.TRIPLE, index=3)
        assert workspace.verdicts.label_item(1, item, "Lia", LabelValue.NO).phase == "revealed"
        assert workspace.verdicts.label_item(1, item, "Noa", LabelValue.NO).phase == "blind"


def test_trials_that_wait_stay_behind_when_a_run_is_exported(drawn: Path) -> None:
    words = ["export", "--run", "1", "--format", "jsonl", "-o", "out"]
    refused = run_verb(drawn, "Lia", words)
    assert (refused.code, refused.files) == (1, {})
    assert "--reveal" in refused.printed
    given = run_verb(drawn, "Lia", [*words, "--reveal", "--json"])
    assert (given.code, "because-0" in given.text) == (0, True)
    with Workspace.open(drawn) as workspace:
        item = Item(kind=ItemKind.PREDICTED, index=0)
        assert workspace.verdicts.label_item(1, item, "Lia", LabelValue.NO).phase == "revealed"


def test_labels_beside_a_decision_are_not_blind_unless_it_is_said(
    drawn: Path, tmp_path: Path
) -> None:
    words = ["labels", "export", "--run", "1", "--format", "csv", "--unlabelled", "--with-verdicts"]
    text = run_verb(drawn, "Cleo", [*words, "-o", "out.csv"]).files["out.csv"]
    filled = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    for row in filled:
        row.update(label="yes", person="Noa", comment="", at="", phase="", source="")
    file = tmp_path / "filled.csv"
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(filled[0]))
        writer.writeheader()
        writer.writerows(filled[:2])
    assert run_verb(drawn, "Noa", ["labels", "import", str(file)]).code == 0
    with Workspace.open(drawn) as workspace:
        given = [
            label for label in workspace.verdicts.item_labels(phase=None) if label.person == "Noa"
        ]
        assert {label.phase for label in given} == {"revealed"}
