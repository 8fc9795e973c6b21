"""What travels of labelling: circumstances of labels, reveals, adjudications and sets, in any order."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from apart import held
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.label_records import LabelValue, SetItem
from cuecard.core.records import TrialRecord
from cuecard.core.verdicts import Item, ItemKind, Judgement
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]
Judged = Callable[..., Judgement]
FIRST, SECOND = (Item(kind=ItemKind.TRIPLE, index=index) for index in range(2))
STATUS = Item(kind=ItemKind.STATUS, index=1)
PEOPLE = ("Ana", "Ben", "Cy")


def _picture(workspace: Workspace) -> dict[str, Any]:
    """Everything that was said of items, without local numbers."""
    labels = [
        (
            label.model_dump(exclude={"verdict_id"}),
            workspace.runs.trial(label.trial_id).uid,
        )
        for label in workspace.verdicts.item_labels(phase=None)
    ]
    decided = [a.model_dump() for a in workspace.adjudications.newest()]
    sets = [
        (found.model_dump(exclude={"id"}), workspace.label_sets.items(found.id))
        for found in sorted(workspace.label_sets.all(), key=lambda found: found.uid)
    ]
    return {"labels": sorted(labels, key=str), "adjudications": decided, "sets": sets}


def test_labelling_comes_to_the_same_in_any_order(
    workspace: Workspace, make_trial: MakeTrial, judged: Judged, tmp_path: Path
) -> None:
    if workspace.url.startswith("postgres"):
        pytest.skip("a copy is a file")
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 2))
    workspace.close()
    origin, chance = Path(workspace.public_url), random.Random(3)
    with ExitStack() as stack:

        def copy(name: str) -> Workspace:
            shutil.copy(origin, tmp_path / f"{name}.db")
            return stack.enter_context(Workspace.open(tmp_path / f"{name}.db"))

        apart = {name: copy(name) for name in PEOPLE}
        ana, ben, cy = (apart[name] for name in PEOPLE)
        ana.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.YES, "ok", seconds=2.5)
        ana.verdicts.note_reveal(trial.id, FIRST, "Ana")
        ana.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.NO, gold_wrong=True)
        ana.label_sets.create(
            name="set",
            created_by="Ana",
            plan={"seed": 7},
            items=[
                SetItem(trial_id=trial.id, item=item, stratum="s", probability=0.5, raters=2)
                for item in (SECOND, FIRST)
            ],
        )
        ben.verdicts.label_item(trial.id, STATUS, "Ben", CheckpointStatus.SEARCH_ONLY, source="f")
        ben.verdicts.label_item(trial.id, FIRST, "Ben", LabelValue.UNSURE)
        # The later decision counts, whichever comes in last.
        ben.adjudications.add(trial.id, FIRST, "Ben", LabelValue.YES, "human_slip")
        cy.adjudications.add(trial.id, FIRST, "Cy", LabelValue.NO, "alias", "two names")
        bundles = [held(space.exchange.bundle(name)) for name, space in apart.items()]
        pictures: list[dict[str, Any]] = []
        for n in range(3):
            target = copy(f"target{n}")
            for bundle in chance.sample(bundles, 3):
                target.exchange.import_([bundle], by="Eve")
            pictures.append(_picture(target))
            again = target.exchange.import_(chance.sample(bundles, 3), by="Eve")
            assert (again.added, again.left_out) == (0, ())
            assert [held(target.exchange.bundle(name)) for name in PEOPLE] == bundles
            # Who has seen the decision there has seen it here.
            later = target.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.YES)
            assert later.phase == "revealed"
        for space in apart.values():
            space.exchange.import_(chance.sample(bundles, 3), by="Ana")
            pictures.append(_picture(space))
        assert all(picture == pictures[0] for picture in pictures)
        assert [a["by"] for a in pictures[0]["adjudications"]] == ["Cy"]


def test_a_set_comes_whole_or_not_at_all(
    workspace: Workspace, make_trial: MakeTrial, tmp_path: Path
) -> None:
    trial = make_trial()
    workspace.label_sets.create(
        name="s", created_by="Ana", items=[SetItem(trial_id=trial.id, item=FIRST)]
    )
    workspace.adjudications.add(trial.id, FIRST, "Ana", LabelValue.YES)
    workspace.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.YES)
    workspace.verdicts.note_reveal(trial.id, FIRST, "Ana")
    with Workspace.open(tmp_path / "other.db") as other:
        report = other.exchange.import_([workspace.exchange.bundle("Ana")], by="Ben")
        assert {(left.kind, left.count) for left in report.left_out} == {
            ("label", 1),
            ("adjudication", 1),
            ("label_set", 1),
        }
        assert other.label_sets.all() == []
        assert report.added == 0


def test_what_was_seen_in_two_workspaces_does_not_keep_a_pack_out(
    workspace: Workspace, make_trial: MakeTrial, tmp_path: Path
) -> None:
    """Whichever was seen first, and whichever comes in last."""
    if workspace.url.startswith("postgres"):
        pytest.skip("a copy is a file")
    trial = make_trial()
    workspace.close()
    paths = [tmp_path / f"{name}.db" for name in ("early", "late")]
    for path in paths:
        shutil.copy(workspace.public_url, path)
    with Workspace.open(paths[0]) as early, Workspace.open(paths[1]) as late:
        for space in (early, late):
            space.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.NO)
            space.verdicts.note_reveal(trial.id, FIRST, "Ana")
        for source, target in ((early, late), (late, early)):
            report = target.exchange.import_([source.exchange.bundle("Ana")], by="Ana")
            arrived = {one.kind: (one.added, one.known) for one in report.arrived}
            assert arrived["reveal"] == (0, 1)
            label = target.verdicts.label_item(trial.id, FIRST, "Ana", LabelValue.YES)
            assert label.phase == "revealed"
