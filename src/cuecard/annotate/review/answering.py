"""Answering comments: who may say something to one, settle it, open it again."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.review import (
    Answered,
    Commented,
    Contribution,
    Reviewed,
    TaskLog,
    TaskState,
    standing_of,
)

if TYPE_CHECKING:
    from cuecard.annotate.review.comments import Thread
    from cuecard.store.records import Comment
    from cuecard.store.workspace import Workspace

Turn = Literal["", "resolved", "open"]


def answer(
    workspace: Workspace,
    comment: Comment,
    by: str,
    text: str,
    *,
    turns: Turn = "",
    at: datetime | None = None,
) -> Contribution:
    """Say something to a comment, and with `turns` settle it or open it again. Raises `NotAllowed`."""
    said = Answered(comment=comment.id, text=text.strip(), turns=turns)
    return workspace.reviews.act(
        comment.task_id,
        by,
        said,
        revision=comment.revision,
        guard=lambda log: check_answer(log, by, said),
        at=at,
    )


def check_answer(log: TaskLog, by: str, said: Answered) -> None:
    """Whether `by` may say this now: authors answer and settle, who wrote the comment answers and opens
    it again. Raises `NotAllowed`; of a comment that `by` must not see it says no more than that there
    is none.
    """
    title = _("This is not possible now")
    standing = standing_of(log)
    entry = _entry(log, said.comment)
    authors = {author for node in log.revisions for author in node.authors}
    if entry is None or not _visible(entry, by, authors, log):
        raise NotAllowed(title, _("There is no such comment."))
    if by not in authors and by != entry.by:
        raise NotAllowed(title, _("Only the task's authors and who wrote a comment answer it."))
    if by not in authors and standing.state is TaskState.IN_REVIEW:
        # The other reviewers must not learn what one of them thinks of the new revision.
        raise NotAllowed(
            title,
            _("The task is in review again."),
            _("Say it in your review, pinned to the same place."),
        )
    settled = turn_of(log, said.comment) == "resolved"
    if said.turns == "resolved" and settled:
        raise NotAllowed(title, _("The comment is resolved already."))
    if said.turns == "open" and not settled:
        raise NotAllowed(title, _("The comment is open."))
    if said.turns != "resolved" and not said.text:
        raise NotAllowed(title, _("Please say something."))


def turn_of(log: TaskLog, comment: str) -> Turn:
    """What the answers made of a comment; "" if nothing was decided yet."""
    turn: Turn = ""
    for entry in sorted(log.contributions, key=lambda entry: entry.order):
        body = entry.body
        if isinstance(body, Answered) and body.comment == comment and body.turns:
            turn = body.turns
    return turn


def may_turn(
    thread: Thread, person: str, authors: Collection[str], state: TaskState
) -> tuple[Turn, ...]:
    """What this person could make of a comment, for the keys of a screen."""
    if person not in authors and (person != thread.comment.by or state is TaskState.IN_REVIEW):
        return ()
    return ("", "resolved") if thread.open else ("", "open")


def _entry(log: TaskLog, comment: str) -> Contribution | None:
    """The entry in which the comment is."""
    uid, _hash, index = comment.partition("#")
    for entry in log.contributions:
        if entry.uid != uid:
            continue
        body = entry.body
        if isinstance(body, Commented) and not index:
            return entry
        if isinstance(body, Reviewed) and index.isdecimal() and int(index) < len(body.comments):
            return entry
    return None


def _visible(entry: Contribution, by: str, authors: Collection[str], log: TaskLog) -> bool:
    """Whether `by` may read a comment; nobody answers one of a round that is not over, not even who
    wrote it.
    """
    if isinstance(entry.body, Commented):
        return True
    round_ = standing_of(log).of(entry.revision)
    if round_.seen == "party":
        return by in authors or by in round_.reviewers
    return round_.seen == "all"
