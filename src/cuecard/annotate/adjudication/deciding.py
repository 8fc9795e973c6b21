"""An adjudicator's decision: a record of its own beside labels and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cuecard.annotate.adjudication.gold import GOLD_WRONG, comment_on_gold
from cuecard.core.i18n import N_
from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.label_records import Adjudication, Cause, LabelValue

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Why = Cause | Literal[""]
JUDGE_CAUSES: tuple[Cause, ...] = ("alias", "granularity", "composition", "contradiction", "format")
"""The causes that are errors of the judge."""

CAUSES: dict[Why, tuple[str, str, str]] = {
    "alias": ("a", N_("alias"), N_("judge: another name of the same thing")),
    "granularity": ("g", N_("granularity"), N_("judge: one side is coarser or finer")),
    "composition": ("c", N_("composition"), N_("judge: one item follows from several")),
    "contradiction": ("o", N_("contradiction"), N_("judge: whether the two sides contradict")),
    "format": ("f", N_("format"), N_("judge: spelling, units or dates")),
    "gold_wrong": ("w", N_("gold wrong"), N_("the gold itself; its authors are told")),
    "prompt_ambiguous": ("p", N_("prompt ambiguous"), N_("the judge's instructions leave it open")),
    "human_slip": ("h", N_("human slip"), N_("a wrong key, or something misread")),
    "": ("e", N_("nobody erred"), N_("both readings can be held")),
}
"""By cause: its letter, its name and what it means."""


class Outcome(Frozen):
    """`told`: the decision opened a comment on the task."""

    adjudication: Adjudication
    told: bool = False


def adjudicate(
    workspace: Workspace,
    trial_id: int,
    item: Item,
    by: str,
    value: LabelValue | CheckpointStatus,
    cause: Why = "",
    comment: str = "",
) -> Outcome:
    """Record a decision; labels, verdicts and earlier decisions stay. Where the gold was found wrong, the
    task's authors are told by a comment. Raises `NotFound`.
    """
    decided = workspace.adjudications.add(trial_id, item, by, value, cause, comment.strip())
    told = cause == GOLD_WRONG and comment_on_gold(workspace, trial_id, item, by, comment)
    return Outcome(adjudication=decided, told=bool(told))
