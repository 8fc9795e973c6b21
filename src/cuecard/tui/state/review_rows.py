"""What a review shows as a document: the task with marks and comments, or what changed in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuecard.annotate.authoring.changes import Change
from cuecard.annotate.authoring.trees import parse_place
from cuecard.annotate.review.comments import Thread
from cuecard.core.i18n import _
from cuecard.core.review import GoldCheck, PinnedComment
from cuecard.core.text import one_line
from cuecard.tui.glyphs import CHECK
from cuecard.tui.state.change_entries import entry_of
from cuecard.tui.state.document import Element, owner_of
from cuecard.tui.state.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.state.review import inside

MARK_TONE: dict[str, Tone] = {"right": "good", "wrong": "bad", "unsure": "strong", "": "stage"}


@dataclass(frozen=True)
class Row:
    """`place`: what a comment made here is pinned to; `item`: the gold item that it is, or is of."""

    place: str
    entry: Entry
    item: str = ""


@dataclass(frozen=True)
class Notes:
    """What stands below elements: comments of this review, and what was said before. `labels` names
    dimensions; `names`: whether people are named, which a reviewer is not shown.
    """

    comments: Sequence[PinnedComment] = ()
    threads: Sequence[Thread] = ()
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    me: str = ""
    names: bool = False

    def under(self, owner: str, owners: Collection[str] = ()) -> list[Paragraph]:
        """What is pinned to an element or inside it, other than to one of `owners` inside it."""
        found = [self.of_comment(c, owner) for c in self.comments if _at(c.place, owner, owners)]
        for thread in self.threads:
            if thread.place is not None and _at(thread.place, owner, owners):
                found += self.of_thread(thread, owner)
        return found

    def of_comment(self, comment: PinnedComment, owner: str = "") -> Paragraph:
        return Paragraph(f"✎ {self._about(comment, owner)}{comment.text}", "user", indent=2)

    def of_thread(self, thread: Thread, owner: str = "") -> list[Paragraph]:
        said = thread.comment
        who = self.who(said.by, author=False)
        mark = "✔" if said.resolved else "✎"
        head = _("{who}, revision {n}").format(who=who, n=said.revision)
        pinned = PinnedComment(place=thread.place or "", text=said.text, dimension=said.dimension)
        tone: Tone = "muted" if said.resolved else "agent"
        lines = [Paragraph(f"{mark} {head}: {self._about(pinned, owner)}{said.text}", tone, 2)]
        for reply in said.answers:
            who = self.who(reply.by, author=reply.by != said.by)
            turned = {"resolved": _("resolved"), "open": _("opened again")}.get(reply.turns, "")
            text = ": ".join(filter(None, (turned, reply.text)))
            lines.append(Paragraph(f"↳ {who}: {text}", "muted", indent=4))
        return lines

    def who(self, name: str, *, author: bool) -> str:
        """How somebody is called here."""
        if name == self.me:
            return _("you")
        if self.names and name:
            return one_line(name)
        return _("author") if author else _("reviewer")

    def _about(self, comment: PinnedComment, owner: str) -> str:
        part = comment.place[len(owner) :].lstrip(".") if owner else comment.place
        about = " · ".join(filter(None, (part, self.labels.get(comment.dimension, ""))))
        return f"[{about}] " if about else ""


def task_rows(
    document: Sequence[Element],
    notes: Notes,
    marks: Mapping[str, Sequence[str]],
    changed: Collection[str] = (),
) -> list[Row]:
    """The whole task, the comments on it as a whole first. `marks`: glyphs' keys by gold item."""
    rows: list[Row] = []
    places = [element.place for element in document]
    if overall := notes.under("", places):
        head = Entry("work", 0, (Piece(_("The whole task"), "stage"),), tuple(overall))
        rows.append(Row("", head))
    for element in document:
        entry, place = element.entry, element.place
        head = (*mark_pieces(marks.get(place)), *entry.head)
        if place in changed:
            head = (*head, Piece(f"  ± {_('changed')}", "good"))
        body = (*entry.body, *notes.under(place))
        rows.append(
            Row(place, replace(entry, head=head, body=body), place if place in marks else "")
        )
    return rows


def change_rows(
    changes: Sequence[Change],
    document: Sequence[Element],
    notes: Notes,
    marks: Mapping[str, Sequence[str]],
) -> list[Row]:
    """What changed, in the order of the document, each with what was said about it; then what was said
    about what did not change, or is gone.
    """
    rows: list[Row] = []
    told: set[str] = set()
    for change in changes:
        there = place_now(change)
        owner = owner_of(document, there) or there
        entry = entry_of(change)
        lines: list[Paragraph] = []
        if owner and owner not in told:
            told.add(owner)
            lines = notes.under(owner)
        item = owner if owner in marks else ""
        head = (*mark_pieces(marks[item]), *entry.head) if item else entry.head
        rows.append(Row(there, replace(entry, head=head, body=(*entry.body, *lines)), item))
    for thread in notes.threads:
        owner = owner_of(document, thread.place or "")
        if owner in told:
            continue
        state = _("its element is gone") if thread.place is None else _("not changed since")
        head = (Piece(_("Comment"), "stage"), Piece(f"  {state}", "muted"))
        quoted = one_line(thread.then or "", 120)
        body = [Paragraph(f"“{quoted}”", "muted", 2)] if quoted else []
        body += notes.of_thread(thread)
        rows.append(Row(thread.place or "", Entry("work", 0, head, tuple(body)), ""))
    return rows


def mark_pieces(keys: Sequence[str] | None) -> tuple[Piece, ...]:
    """The marks in front of a gold item: one, or one for each reviewer; none for no gold item. "-" is
    an item that need not be marked and is not.
    """
    if keys is None:
        return ()
    glyphs = [
        Piece(CHECK[key][0] if key in CHECK else "·", MARK_TONE.get(key, "muted")) for key in keys
    ]
    return (*glyphs, Piece(" "))


def marks_of_form(
    items: Iterable[str], sample: Collection[str], marks: Mapping[str, str]
) -> dict[str, Sequence[str]]:
    """The mark of each gold item while a review is written."""
    return {item: (marks.get(item, "" if item in sample else "-"),) for item in items}


def marks_of_reviews(
    items: Iterable[str], checks: Sequence[Sequence[GoldCheck]]
) -> dict[str, Sequence[str]]:
    """The marks of each gold item in reviews that are in, in the order of the reviews."""
    by_review = [{check.place: check.mark for check in given} for given in checks]
    if not any(by_review):
        return {}
    return {item: [marks.get(item, "-") for marks in by_review] for item in items}


def changed_elements(changes: Sequence[Change], document: Sequence[Element]) -> frozenset[str]:
    """The elements that say something else than before; what only moved has not changed."""
    said = [change for change in changes if change.kind != "moved"]
    found = {owner_of(document, place_now(change)) for change in said}
    return frozenset(place for place in found if place)


def place_now(change: Change) -> str:
    """Where a change stands in the new task; "" for an item that is not there any more."""
    path = parse_place(change.place)
    cell = path[:2] == ("gold", "rows") and len(path) == 4
    item = bool(path) and isinstance(path[-1], int) and not cell
    return "" if item and change.kind == "removed" else change.place


def _at(place: str, owner: str, owners: Collection[str]) -> bool:
    if owner:
        return inside(place, owner)
    return not any(inside(place, other) for other in owners)
