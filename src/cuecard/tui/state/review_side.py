"""What stands beside the document: how far a review is, or the reviews that are in, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size

from cuecard.annotate.review.desk import ReviewDesk
from cuecard.annotate.review.dimensions import Dimension
from cuecard.annotate.review.spot_check import GOLD, marks_of
from cuecard.core.i18n import _, ngettext
from cuecard.core.review import ReviewDecision
from cuecard.core.text import one_line
from cuecard.store.records import Review
from cuecard.tui.glyphs import CHECK, RATING, VOTE
from cuecard.tui.state.entries import Paragraph, Piece, Tone
from cuecard.tui.state.review import ReviewForm

RATING_TONE: dict[str, Tone] = {"pass": "good", "fail": "bad", "cannot_judge": "strong"}
_MOST_CELLS = 14


def progress(form: ReviewForm, dimensions: Sequence[Dimension]) -> str:
    """How far the review is, in one short line."""
    rated = sum(d.key in form.ratings for d in dimensions)
    parts = [_("{n} of {all} rated").format(n=rated, all=len(dimensions))]
    if form.sample:
        done = len(form.sample) - len(form.left_to_mark)
        text = _("{n} of {all} checked (n)") if form.left_to_mark else _("{n} of {all} checked")
        parts.append(text.format(n=done, all=len(form.sample)))
    if n := len(form.comments):
        parts.append(ngettext("{n} comment", "{n} comments", n).format(n=n))
    if form.seconds >= 60:
        parts.append(minutes(form.seconds))
    return " · ".join(parts)


def minutes(seconds: float) -> str:
    return _("{n} min").format(n=round(seconds / 60))


def hints(desk: ReviewDesk) -> dict[str, str]:
    """How each dimension was rated by the same person in the round before, to be seen, never taken
    over.
    """
    return {key: _("was {mark}").format(mark=RATING[was][0]) for key, was in desk.last.items()}


def wants(form: ReviewForm, dimensions: Sequence[Dimension]) -> dict[str, str]:
    """What is still to be done about a dimension, by its key."""
    found: dict[str, str] = {}
    for dimension in dimensions:
        if form.ratings.get(dimension.key) == "fail" and not form.explained(dimension.key):
            found[dimension.key] = _("say why: c")
        elif dimension.key == GOLD and dimension.key not in form.ratings and form.left_to_mark:
            done = len(form.sample) - len(form.left_to_mark)
            text = _("spot check {n}/{all}: n")
            found[dimension.key] = text.format(n=done, all=len(form.sample))
    return found


def writing_paragraphs(
    desk: ReviewDesk, form: ReviewForm, words: Callable[[str], str]
) -> list[Paragraph]:
    """Below the dimensions while a review is written. `words` names places."""
    lines: list[Paragraph] = []
    if form.sample:
        counts = marks_of(form.checks)
        said = "  ".join(f"{CHECK[mark][0]} {n}" for mark, n in counts.items() if n)
        done = len(form.sample) - len(form.left_to_mark)
        text = _("Spot check: {n} of {all} marked").format(n=done, all=len(form.sample))
        lines.append(Paragraph(text, "good" if done == len(form.sample) else "strong"))
        if said:
            lines.append(Paragraph(said, indent=2))
    labels = {d.key: _(d.label) for d in desk.sheet.dimensions}
    if form.comments:
        n = len(form.comments)
        lines.append(Paragraph(ngettext("{n} comment", "{n} comments", n).format(n=n), "strong"))
        for comment in form.comments:
            why = labels.get(comment.dimension, "")
            about = " · ".join(filter(None, (words(comment.place), why)))
            lines.append(Paragraph(f"✎ {about}: {comment.text}", indent=2))
    else:
        lines.append(
            Paragraph(_("No comments yet: c comments on the place under the cursor."), "muted")
        )
    if desk.sheet.previous_number:
        lines += [Paragraph(""), *_before(desk)]
    return lines


def _before(desk: ReviewDesk) -> list[Paragraph]:
    n = desk.sheet.previous_number
    head = _("You reviewed revision {n}").format(n=n)
    changes = len(desk.changes)
    told = ngettext("{n} change since", "{n} changes since", changes).format(n=changes)
    lines = [Paragraph(head, "strong"), Paragraph(told, indent=2)]
    mine = [thread for thread in desk.threads if not thread.comment.resolved]
    if desk.threads:
        text = ngettext("{n} comment open", "{n} comments open", len(mine)).format(n=len(mine))
        settled = len(desk.threads) - len(mine)
        more = ngettext("{n} resolved", "{n} resolved", settled).format(n=settled)
        lines.append(Paragraph(f"{text}, {more}", indent=2))
        lines.append(Paragraph(_("m: all comments with their answers"), "muted", indent=2))
    return lines


def compared(
    reviews: Sequence[Review], dimensions: Sequence[Dimension], me: str, width: int
) -> list[list[Piece]]:
    """Reviews of one revision, at least one, side by side: a line for each dimension, a column for each reviewer."""
    names = [_("you") if given.reviewer == me else one_line(given.reviewer) for given in reviews]
    rows: list[tuple[str, list[tuple[str, Tone]], Tone]] = [
        (
            _("revision {n}").format(n=reviews[0].revision),
            [(name, "strong") for name in names],
            "muted",
        )
    ]
    for dimension in dimensions:
        given = [review.ratings.get(dimension.key, "") for review in reviews]
        marks: list[tuple[str, Tone]] = [(RATING[r][0], RATING_TONE.get(r, "muted")) for r in given]
        rows.append((_(dimension.label), marks, "strong" if len(set(given)) > 1 else "plain"))
    votes: list[tuple[str, Tone]] = []
    for review in reviews:
        glyph, _colour, label = VOTE[review.decision.value]
        approves = review.decision is ReviewDecision.APPROVE
        votes.append((f"{glyph} {_(label)}", "good" if approves else "bad"))
    rows.append((_("Decision"), votes, "strong"))
    rows.append((_("Checked"), [(str(len(review.checks)), "plain") for review in reviews], "plain"))
    rows.append((_("Time"), [(minutes(review.seconds), "muted") for review in reviews], "plain"))
    cells = [
        min(max(cell_len(values[column][0]) for _label, values, _tone in rows), _MOST_CELLS)
        for column in range(len(reviews))
    ]
    label_width = max(width - sum(cells) - 2 * len(cells), 8)
    lines: list[list[Piece]] = []
    for label, values, tone in rows:
        pieces = [Piece(_fitted(one_line(label), label_width), tone)]
        for (text, value_tone), wide in zip(values, cells, strict=True):
            pieces.append(Piece("  " + set_cell_size(text, wide), value_tone))
        lines.append(pieces)
    return lines


def _fitted(text: str, width: int) -> str:
    """Text in just so many cells, with an ellipsis where it is cut."""
    cut = f"{set_cell_size(text, width - 1).rstrip()}…" if cell_len(text) > width else text
    return set_cell_size(cut, width)


def reading_paragraphs(desk: ReviewDesk, *, split: bool) -> list[Paragraph]:
    """Above the reviews that are in: why there is nothing to fill in, and what can be done."""
    lines = [Paragraph(desk.sheet.obstacle, "muted")]
    if split:
        lines.append(Paragraph(_("The reviewers disagree."), "bad"))
    if desk.may_ask_third:
        lines.append(Paragraph(_("T asks a third person instead of changing the task."), "muted"))
    return lines


def disagreeing(reviews: Sequence[Review]) -> bool:
    return len({given.decision for given in reviews}) > 1
