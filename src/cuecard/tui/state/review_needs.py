"""What a review still needs before it can be handed in, one thing after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.review.dimensions import Dimension
from cuecard.annotate.review.spot_check import GOLD
from cuecard.core.i18n import _, ngettext
from cuecard.core.review import ReviewDecision
from cuecard.tui.state.review import ReviewForm


@dataclass(frozen=True)
class Need:
    """`said` tells the person. `kind` is where they are led: to rate `dimension`, to say why it fails,
    to mark the item at `place`, to say what is wrong there, to say anything at all; nowhere ("stop").
    """

    kind: Literal["rate", "why", "mark", "wrong", "say", "stop"]
    said: str
    dimension: str = ""
    place: str = ""


def obstacle_to_gold(form: ReviewForm) -> Need | None:
    """Why the gold cannot pass yet."""
    if left := form.left_to_mark:
        n = len(left)
        text = ngettext(
            "The gold passes once your spot check is done: {n} item is left to mark.",
            "The gold passes once your spot check is done: {n} items are left to mark.",
            n,
        )
        return Need("mark", text.format(n=n), place=left[0])
    wrong = [place for place, mark in form.marks.items() if mark == "wrong"]
    if wrong:
        text = ngettext(
            "You marked {n} item wrong, so the gold does not pass.",
            "You marked {n} items wrong, so the gold does not pass.",
            len(wrong),
        )
        return Need("rate", text.format(n=len(wrong)), dimension=GOLD)
    return None


def next_need(
    form: ReviewForm, dimensions: Sequence[Dimension], decision: ReviewDecision
) -> Need | None:
    """The first thing that is missing for this decision; None: nothing is."""
    for dimension in dimensions:
        if dimension.key not in form.ratings:
            text = _("Not rated yet: {names}.").format(names=_(dimension.label))
            return Need("rate", text, dimension.key)
    failed = [d for d in dimensions if form.ratings[d.key] == "fail"]
    if failed and decision is ReviewDecision.APPROVE:
        text = _("A task that fails in “{name}” cannot be approved.")
        return Need("stop", text.format(name=_(failed[0].label)))
    for dimension in failed:
        if not form.explained(dimension.key):
            text = _("Say in a comment why “{name}” fails.").format(name=_(dimension.label))
            return Need("why", text, dimension.key)
    gold_passes = form.ratings.get(GOLD) == "pass"
    if gold_passes and (need := obstacle_to_gold(form)):
        return need
    if decision is ReviewDecision.APPROVE and (left := form.left_to_mark):
        text = ngettext(
            "{n} item of your spot check is left to mark.",
            "{n} items of your spot check are left to mark.",
            len(left),
        )
        return Need("mark", text.format(n=len(left)), place=left[0])
    if unexplained := form.unexplained_wrong:
        return Need("wrong", _("Say what is wrong here."), place=unexplained[0])
    if decision is ReviewDecision.APPROVE and "wrong" in form.marks.values():
        return Need("stop", _("A task with an item marked wrong cannot be approved."))
    if decision is ReviewDecision.RETURN and not form.comments:
        return Need("say", _("Say in a comment what the author should change."))
    return None
