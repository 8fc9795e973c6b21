"""What people hold of the items of trials: what was adjudicated, else what most of them labelled blind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.adjudication.disputes import majority
from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision
from cuecard.store.label_records import Adjudication, Label, LabelValue

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

ItemId = tuple[int, str]
"""Trial and key of an item."""


class Said(Frozen):
    """`value` None: people say nothing that counts, as they cannot tell or are split evenly.
    `gold_wrong`: somebody holds the gold item itself for wrong.
    """

    value: Decision | CheckpointStatus | None
    adjudicated: bool = False
    gold_wrong: bool = False


def said_by_people(workspace: Workspace, trial_ids: Collection[int]) -> dict[ItemId, Said]:
    """Every item of these trials that has a blind label or an adjudication."""
    return settle(
        workspace.verdicts.item_labels(trial_ids), workspace.adjudications.newest(trial_ids)
    )


def settle(labels: Iterable[Label], adjudications: Iterable[Adjudication]) -> dict[ItemId, Said]:
    """An adjudication goes before labels; of labels the most frequent counts, «cannot tell» being none.
    `labels` has one of each person on an item.
    """
    votes: dict[ItemId, list[Decision | CheckpointStatus]] = defaultdict(list)
    flagged: set[ItemId] = set()
    for label in labels:
        key = (label.trial_id, label.item_key)
        votes[key] += filter(None, [_decided(label.value)])
        if label.gold_wrong:
            flagged.add(key)
    found = {
        key: Said(value=_most(counted), gold_wrong=key in flagged) for key, counted in votes.items()
    }
    for record in adjudications:
        key = (record.trial_id, record.item_key)
        wrong = record.cause == "gold_wrong"
        found[key] = Said(value=_decided(record.value), adjudicated=True, gold_wrong=wrong)
    return found


def _decided(value: LabelValue | CheckpointStatus) -> Decision | CheckpointStatus | None:
    match value:
        case CheckpointStatus():
            return value
        case LabelValue.YES:
            return Decision.YES
        case LabelValue.NO:
            return Decision.NO
        case LabelValue.UNSURE:
            return None


def _most(
    given: Sequence[Decision | CheckpointStatus],
) -> Decision | CheckpointStatus | None:
    most = majority(given)
    return next((value for value in given if value == most), None)
