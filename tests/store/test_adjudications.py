"""What adjudicators decide, what they have seen by then, and which runs stand on wrong gold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cuecard.core.errors import NotFound
from cuecard.core.label_records import LabelValue
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Item, ItemKind, Judgement
from cuecard.store.workspace import Workspace

MakeTrial = Callable[..., TrialRecord]
ONE, TWO = (Item(kind=ItemKind.TRIPLE, index=index) for index in (0, 1))


def test_who_adjudicates_has_seen_and_labels_no_longer_blind(
    workspace: Workspace, make_trial: MakeTrial, judged: Callable[..., Judgement]
) -> None:
    trial = make_trial()
    workspace.verdicts.add(trial.id, judged("a", 2))
    adjudications = workspace.adjudications
    assert adjudications.seen("Cy") == frozenset()
    assert adjudications.open(trial.id, ONE, "Cy") == []
    assert adjudications.seen("Cy") == {(trial.id, ONE.key)}
    assert adjudications.seen("Di") == frozenset()
    decided = adjudications.add(trial.id, ONE, "Cy", LabelValue.NO, "alias")
    assert adjudications.open(trial.id, ONE, "Cy") == [decided]
    labels = [
        workspace.verdicts.label_item(trial.id, item, person, LabelValue.NO)
        for item, person in ((ONE, "Cy"), (TWO, "Cy"), (ONE, "Di"))
    ]
    assert [label.phase for label in labels] == ["revealed", "blind", "blind"]
    with pytest.raises(NotFound):
        adjudications.open(99, ONE, "Cy")


def test_wrong_gold_disputes_every_run_on_that_revision_while_it_counts(
    workspace: Workspace, make_trial: MakeTrial, make_task: Callable[..., Task]
) -> None:
    one, two = make_trial(), make_trial()
    make_trial(task_id="other")
    adjudications = workspace.adjudications
    assert adjudications.runs_on_disputed() == {}
    adjudications.add(one.id, ONE, "Cy", LabelValue.NO, "gold_wrong")
    adjudications.add(two.id, ONE, "Cy", LabelValue.NO, "alias")
    [dispute] = adjudications.gold_wrong()
    assert (dispute.task_id, dispute.revision, dispute.trial_id) == ("t", 1, one.id)
    assert adjudications.runs_on_disputed() == {("t", 1): {one.run_id, two.run_id}}
    workspace.tasks.save(make_task("t", title="mended"), author="Ann")
    later = make_trial()
    assert later.revision > 1
    assert later.run_id not in adjudications.runs_on_disputed()["t", 1]
    adjudications.add(one.id, ONE, "Di", LabelValue.YES, "")
    assert adjudications.gold_wrong() == []
    assert adjudications.runs_on_disputed() == {}
