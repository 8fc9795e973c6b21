"""The state of a review being written: ratings, comments, marks, what is missing, and texts beside the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import ValidationError
from rich.cells import cell_len, set_cell_size

from cuecard.annotate.review.assignment import next_line, queue_for
from cuecard.annotate.review.queue_rows import QueueRow, coordinator_rows, lines_for, queue_rows
from cuecard.annotate.review.reviewing import GOLD, ReviewContext, marks_of, unmarked
from cuecard.annotate.review.workflow import Dimension, Protocol
from cuecard.core.contributions import CheckMark, GoldCheck, PinnedComment, Rating, ReviewDecision
from cuecard.core.i18n import _, headed, ngettext
from cuecard.core.records import Review
from cuecard.core.text import one_line
from cuecard.tui.present.entries import Paragraph, Piece, Tone
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.labels import CHECK, RATING, VOTE

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class QueueSnapshot:
    """The contents of the queue screen. `todo` for this person, `done` by them; `skipped`: how many they skipped, shown
    or not; `next_id`: the task to take next, "" if none is clearly theirs.
    """

    todo: list[QueueRow] = field(default_factory=list[QueueRow])
    done: list[QueueRow] = field(default_factory=list[QueueRow])
    skipped: int = 0
    coordinates: bool = False
    next_id: str = ""


def queue_snapshot(
    workspace: Workspace, person: str, protocol: Protocol, with_skipped: bool
) -> QueueSnapshot:
    """What this person can review and what they may read; runs in a thread."""
    now = datetime.now(UTC)
    done = [QueueRow(task) for task in workspace.reviews.reviewed(person)]
    if person in protocol.coordinators:
        lines = lines_for(workspace, person, protocol, now)
        return QueueSnapshot(coordinator_rows(lines, now), done, coordinates=True)
    queue = queue_for(workspace, person, protocol, now, with_skipped=True)
    shown = [line for line in queue if with_skipped or not line.skipped]
    begun = frozenset(workspace.review_forms.of(person))
    best = next_line(shown)
    return QueueSnapshot(
        queue_rows(shown, begun, workspace.reviews.skills().get(person), now),
        done,
        skipped=sum(line.skipped for line in queue),
        next_id=best.task.id if best else "",
    )


RATINGS: tuple[Rating, ...] = ("pass", "fail", "cannot_judge")
MARKS: tuple[CheckMark, ...] = ("right", "wrong", "unsure")


@dataclass
class ReviewForm:
    """Ratings by dimension key, comments in the order in which they were made (one for each place and
    dimension), marks on gold items and the pages opened for them by place, seconds of work. `sample`:
    the gold items that must be marked.
    """

    task_id: str
    revision: int
    reviewer: str
    sample: tuple[str, ...] = ()
    ratings: dict[str, Rating] = field(default_factory=dict[str, Rating])
    comments: list[PinnedComment] = field(default_factory=list[PinnedComment])
    marks: dict[str, CheckMark] = field(default_factory=dict[str, CheckMark])
    opened: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    seconds: float = 0.0
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]], compare=False)
    """What was said after each change, the last one last, so that it can be taken back."""

    def step(self) -> bool:
        """Take note of what is said now; gives whether that is something else than before."""
        said = {key: self.to_data()[key] for key in ("ratings", "comments", "marks")}
        changed = self.steps[-1:] != [said]
        if changed:
            self.steps.append(said)
        return changed

    def undo(self) -> bool:
        """Take the last change back; gives whether there was one."""
        if len(self.steps) < 2:
            return False
        self.steps.pop()
        self.load({**self.to_data(), **self.steps[-1]})
        return True

    def comment(self, place: str, text: str, dimension: str = "") -> None:
        """Pin a comment in place of the one there is; an empty text takes that away."""
        text = text.strip()
        for index, known in enumerate(self.comments):
            if (known.place, known.dimension) == (place, dimension):
                if text:
                    self.comments[index] = known.model_copy(update={"text": text})
                else:
                    del self.comments[index]
                return
        if text:
            self.comments.append(PinnedComment(place=place, text=text, dimension=dimension))

    def comment_at(self, place: str, dimension: str = "") -> str:
        for known in self.comments:
            if (known.place, known.dimension) == (place, dimension):
                return known.text
        return ""

    def explained(self, dimension: str) -> bool:
        """Whether a comment says why a dimension fails."""
        return any(comment.dimension == dimension for comment in self.comments)

    def mark(self, place: str, mark: CheckMark) -> None:
        """Mark a gold item; the mark that it carries already is taken off."""
        if self.marks.get(place) == mark:
            del self.marks[place]
        else:
            self.marks[place] = mark

    def note_opened(self, place: str, url: str) -> None:
        """A page was opened for a gold item."""
        urls = self.opened.setdefault(place, [])
        if url not in urls:
            urls.append(url)

    @property
    def checks(self) -> tuple[GoldCheck, ...]:
        """The marks, each with the pages that were opened for it."""
        return tuple(
            GoldCheck(place=place, mark=mark, opened=tuple(self.opened.get(place, ())))
            for place, mark in self.marks.items()
        )

    @property
    def left_to_mark(self) -> tuple[str, ...]:
        """What of the sample carries no mark yet."""
        return unmarked(self.sample, self.checks)

    @property
    def unexplained_wrong(self) -> tuple[str, ...]:
        """Items marked wrong at which, and inside which, no comment is pinned."""
        said = [comment.place for comment in self.comments]
        return tuple(
            place
            for place, mark in self.marks.items()
            if mark == "wrong" and not any(inside(there, place) for there in said)
        )

    def to_review(self, decision: ReviewDecision) -> Review:
        return Review(
            task_id=self.task_id,
            revision=self.revision,
            reviewer=self.reviewer,
            ratings=dict(self.ratings),
            decision=decision,
            comments=tuple(self.comments),
            checks=self.checks,
            sample=self.sample,
            seconds=round(self.seconds, 1),
            created_at=datetime.now(UTC),
        )

    def to_data(self) -> dict[str, Any]:
        return {
            "ratings": dict(self.ratings),
            "comments": [comment.model_dump() for comment in self.comments],
            "marks": dict(self.marks),
            "opened": {place: list(urls) for place, urls in self.opened.items()},
            "seconds": self.seconds,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Take up what was kept; what does not fit is left out."""
        ratings, marks = _mapping(data.get("ratings")), _mapping(data.get("marks"))
        self.ratings = {key: value for key, value in ratings.items() if value in RATINGS}
        self.marks = {place: mark for place, mark in marks.items() if mark in MARKS}
        self.opened = {
            place: [str(url) for url in cast(list[Any], urls)]
            for place, urls in _mapping(data.get("opened")).items()
            if isinstance(urls, list)
        }
        seconds = data.get("seconds")
        self.seconds = float(seconds) if isinstance(seconds, int | float) else 0.0
        self.comments = []
        comments = data.get("comments")
        for kept in cast(list[Any], comments) if isinstance(comments, list) else ():
            try:
                self.comments.append(PinnedComment.model_validate(kept))
            except ValidationError:
                continue
        self.step()


def inside(place: str, owner: str) -> bool:
    """Whether a place is an element or a part of it; everything is inside the whole task ""."""
    return not owner or place == owner or place.startswith((f"{owner}.", f"{owner}["))


def _mapping(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


@dataclass(frozen=True)
class Need:
    """What is missing for a decision. `said` tells the person. `kind`: what they are led to do: rate `dimension`, say
    why it fails, mark the item at `place`, say what is wrong there, say anything at all; or nothing ("stop").
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


RATING_TONE: dict[str, Tone] = {"pass": "good", "fail": "bad", "cannot_judge": "strong"}
_MOST_CELLS = 14


def progress(form: ReviewForm, dimensions: Sequence[Dimension], *, plain: bool = False) -> str:
    """How far the review is, in one short line; `plain`: where there are no keys."""
    rated = sum(d.key in form.ratings for d in dimensions)
    parts = [_("{n} of {all} rated").format(n=rated, all=len(dimensions))]
    if form.sample:
        done = len(form.sample) - len(form.left_to_mark)
        text = (
            _("{n} of {all} checked (<review_task.next>)")
            if form.left_to_mark and not plain
            else _("{n} of {all} checked")
        )
        parts.append(hint(text, n=done, all=len(form.sample)))
    if n := len(form.comments):
        parts.append(ngettext("{n} comment", "{n} comments", n).format(n=n))
    if form.seconds >= 60:
        parts.append(minutes(form.seconds))
    return " · ".join(parts)


def minutes(seconds: float) -> str:
    return _("{n} min").format(n=round(seconds / 60))


def hints(context: ReviewContext) -> dict[str, str]:
    """How each dimension was rated by the same person in the round before, to be seen, never taken
    over.
    """
    return {key: _("was {mark}").format(mark=RATING[was][0]) for key, was in context.last.items()}


def wants(form: ReviewForm, dimensions: Sequence[Dimension]) -> dict[str, str]:
    """What is still to be done about a dimension, by its key."""
    found: dict[str, str] = {}
    for dimension in dimensions:
        if form.ratings.get(dimension.key) == "fail" and not form.explained(dimension.key):
            found[dimension.key] = hint(_("say why: {COMMENT}"))
        elif dimension.key == GOLD and dimension.key not in form.ratings and form.left_to_mark:
            done = len(form.sample) - len(form.left_to_mark)
            text = _("spot check {n}/{all}: <review_task.next>")
            found[dimension.key] = hint(text, n=done, all=len(form.sample))
    return found


def writing_paragraphs(
    context: ReviewContext, form: ReviewForm, words: Callable[[str], str]
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
    labels = {d.key: _(d.label) for d in context.sheet.dimensions}
    if form.comments:
        n = len(form.comments)
        lines.append(Paragraph(ngettext("{n} comment", "{n} comments", n).format(n=n), "strong"))
        for comment in form.comments:
            why = labels.get(comment.dimension, "")
            about = " · ".join(filter(None, (words(comment.place), why)))
            lines.append(Paragraph(headed(f"✎ {about}", comment.text), indent=2))
    else:
        lines.append(
            Paragraph(
                hint(_("No comments yet: {COMMENT} comments on the place under the cursor.")),
                "muted",
            )
        )
    if context.sheet.previous_number:
        lines += [Paragraph(""), *_before(context)]
    return lines


def _before(context: ReviewContext) -> list[Paragraph]:
    n = context.sheet.previous_number
    head = _("You reviewed revision {n}").format(n=n)
    changes = len(context.changes)
    told = ngettext("{n} change since", "{n} changes since", changes).format(n=changes)
    lines = [Paragraph(head, "strong"), Paragraph(told, indent=2)]
    mine = [thread for thread in context.threads if not thread.comment.resolved]
    if context.threads:
        text = ngettext("{n} comment open", "{n} comments open", len(mine)).format(n=len(mine))
        settled = len(context.threads) - len(mine)
        more = ngettext("{n} resolved", "{n} resolved", settled).format(n=settled)
        lines.append(Paragraph(_(", ").join((text, more)), indent=2))
        lines.append(
            Paragraph(hint(_("{DETAILS}: all comments with their answers")), "muted", indent=2)
        )
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


def given_paragraphs(
    given: Review, dimensions: Sequence[Dimension], words: Callable[[str], str]
) -> list[Paragraph]:
    """A review as the author receives it: each rating, the marks on gold items, the comments. `words` names places."""
    lines: list[Paragraph] = []
    labels = {d.key: _(d.label) for d in dimensions}
    for key, label in labels.items():
        rating = given.ratings.get(key, "")
        glyph, _colour, told = RATING[rating]
        lines.append(
            Paragraph(f"{glyph} {label}{_(': ')}{_(told)}", RATING_TONE.get(rating, "muted"), 2)
        )
    counts = marks_of(given.checks)
    if said := "  ".join(
        f"{CHECK[mark][0]} {n} {_(CHECK[mark][2])}" for mark, n in counts.items() if n
    ):
        lines.append(Paragraph(_("Gold items marked: {counts}").format(counts=said), "muted", 2))
    for check in given.checks:
        if check.mark != "right":
            tone: Tone = "bad" if check.mark == "wrong" else "strong"
            glyph, _colour, told = CHECK[check.mark]
            lines.append(
                Paragraph(f"{glyph} {words(check.place)}{_(': ')}{_(told)}", tone, indent=2)
            )
    for comment in given.comments:
        about = " · ".join(filter(None, (words(comment.place), labels.get(comment.dimension, ""))))
        lines.append(Paragraph(f"✎ {about}{_(': ')}{comment.text}", indent=2))
    return lines


def reading_paragraphs(context: ReviewContext, *, split: bool) -> list[Paragraph]:
    """Above the reviews that are in: why there is nothing to fill in, and what can be done."""
    lines = [Paragraph(context.sheet.obstacle, "muted")]
    if split:
        lines.append(Paragraph(_("The reviewers disagree."), "bad"))
    if context.may_ask_third:
        lines.append(
            Paragraph(
                hint(_("<review_task.third> asks a third person instead of changing the task.")),
                "muted",
            )
        )
    return lines


def disagreeing(reviews: Sequence[Review]) -> bool:
    return len({given.decision for given in reviews}) > 1
