"""What was decided on an item, for the person who has labelled it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.labelling.session_views import Revealed, Target
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.prediction import Prediction
from cuecard.core.verdicts import Decision, Verdict
from cuecard.lab.decisions import decisions_of
from cuecard.lab.items import predicted_items
from cuecard.store.label_records import Label, LabelValue

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


def revealed_of(
    workspace: Workspace,
    target: Target,
    person: str,
    mine: Label | None,
    prediction: Prediction,
    judge: str = "",
) -> Revealed:
    """The decision of `judge` ("": of the first there is) or of the user part, and that `person` has now
    seen it. Raises `NotAllowed` before they have labelled the item.
    """
    workspace.verdicts.note_reveal(target.trial_id, target.item, person)
    found = _verdict(workspace, target, judge)
    if found is not None:
        by, verdict = found
        every = predicted_items(prediction, target.item.column)
        return Revealed(
            judge=by,
            decision=verdict.decision,
            supporting=tuple(every[i] for i in verdict.supporting if 0 <= i < len(every)),
            rationale=verdict.rationale,
            agrees=_agrees(mine, verdict.decision),
        )
    decided = decisions_of(workspace, target.trial_id, [target.item.kind], judge)
    decision = next((d for d in decided if d.item == target.item), None)
    if decision is None:
        return Revealed(judge=None, decision=Decision.UNJUDGED)
    return Revealed(
        judge=decision.by,
        decision=decision.value,
        rationale=decision.rationale,
        agrees=_agrees(mine, decision.value),
    )


def _verdict(workspace: Workspace, target: Target, judge: str) -> tuple[PlayerRef, Verdict] | None:
    """The newest verdict of the judge; of the judge whose judgement is the first if none is named."""
    records = workspace.verdicts.of_trial(target.trial_id)
    name = judge or (records[-1].judgement.judge.name if records else "")
    newest = next((r.judgement for r in records if r.judgement.judge.name == name), None)
    if newest is None:
        return None
    verdict = next((v for v in newest.verdicts if v.item == target.item), None)
    return (newest.judge, verdict) if verdict else None


def _agrees(mine: Label | None, decision: Decision | CheckpointStatus) -> bool | None:
    if mine is None or mine.value is LabelValue.UNSURE or decision is Decision.UNJUDGED:
        return None
    return mine.value.value == decision.value
