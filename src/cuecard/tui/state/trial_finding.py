"""What a comment for a task's authors begins with: what was seen in a trial."""

from __future__ import annotations

from cuecard.core.i18n import _
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item
from cuecard.tui.state.entries import Entry
from cuecard.tui.state.trial_view import TrialState

MOST = 600


def finding_text(state: TrialState, place: str, entry: Entry) -> str:
    """What stands under the cursor; of a verdict, with what the judge said."""
    lines = [one_line("".join(piece.text for piece in entry.head), MOST)]
    lines += [one_line(paragraph.text, MOST) for paragraph in entry.body]
    if place.startswith("verdict/"):
        lines = lines[:1] + _of_judge(state, place.removeprefix("verdict/"))
    return "\n".join(filter(None, lines))


def _of_judge(state: TrialState, key: str) -> list[str]:
    try:
        item = Item.of_key(key)
    except ValueError:
        return []
    view = next((view for view in state.verdicts if view.verdict.item == item), None)
    judgement = state.judgement
    if view is None or judgement is None:
        return []
    said = one_line(view.verdict.rationale, MOST) or _("no reason was given")
    lines = [f"{one_line(judgement.judge.name, 40)}: {said}"]
    lines += [f"← {one_line(each.cell or each.text, 200)}" for each in view.supporting]
    return lines
