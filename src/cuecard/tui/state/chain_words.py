"""A chain and its trial in words."""

from __future__ import annotations

from cuecard.annotate.authoring.chain_ladder import ChainCounts, Rung
from cuecard.annotate.authoring.chain_trial import Taken
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.text import one_line
from cuecard.core.users.moves import ADVANCING
from cuecard.tui.state.entries import Paragraph, Piece
from cuecard.tui.state.labels import status_label
from cuecard.tui.state.transcript import Tone

DIFFICULTY = {"easy": N_("easy"), "medium": N_("medium"), "hard": N_("hard")}


def rung_cells(rung: Rung) -> tuple[str, ...]:
    """Number, kind of ambiguity, question, target, and what is missing."""
    missing = ", ".join(_(name) for name in rung.missing)
    lacks = _("lacks {what}").format(what=missing) if missing else ""
    return str(rung.number), rung.ambiguity, rung.question, rung.target, lacks


def counts_said(counts: ChainCounts) -> list[list[Piece]]:
    """Steps, ambiguous ones, and the difficulty that this means beside the one that the task says."""
    steps = ngettext("{n} step", "{n} steps", counts.steps).format(n=counts.steps)
    ambiguous = _("{n} ambiguous").format(n=counts.ambiguous)
    first = [Piece(steps), Piece(f" · {ambiguous}", "stage" if counts.ambiguous else "bad")]
    if counts.means is None:
        said = _("1, 2 or 3 make a task easy, medium or hard")
        return [first, [Piece(said, "muted" if counts.ambiguous else "bad")]]
    means = _(DIFFICULTY[counts.means])
    if counts.agrees:
        return [first, [Piece(_("which is {difficulty}").format(difficulty=means), "muted")]]
    says = _(DIFFICULTY.get(counts.says, counts.says))
    said = _("which is {means}; the brief says {says}").format(means=means, says=says)
    return [first, [Piece(said, "bad")]]


def trial_said(taken: Taken | None, later: Taken | None) -> list[Paragraph]:
    """How the responder takes what was typed; `later`, once the clue is out, where that differs."""
    if taken is None:
        said = _("Type what an agent might ask or answer at this step. Below stands how the scripted responder takes it, and whether the clue is released.")  # fmt: skip
        return [Paragraph(said, "muted")]
    tone: Tone = "good" if taken.released or taken.status in ADVANCING or taken.status.value == "task_completed" else "bad"  # fmt: skip
    said = [Paragraph(status_label(taken.status), tone)]
    if taken.heard:
        names = ", ".join(one_line(name, 40) for name in taken.heard)
        said.append(Paragraph(_("heard: {names}").format(names=names), "muted", 2))
    released = _("The clue is released:") if taken.released else _("No clue. The user says:")
    said.append(Paragraph(released, "strong"))
    said.append(Paragraph(one_line(taken.says), "user" if taken.released else "plain", 2))
    if later is not None and later.status is not taken.status:
        after = _("Once the clue is out: {status}").format(status=status_label(later.status))
        said.append(Paragraph(after, "muted"))
    return said
