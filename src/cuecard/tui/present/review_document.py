"""A task under review as a document, in full or only its changes, with marks and comments at their places."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from cuecard.annotate.authoring.changes import Change, place_in_words, shape_of
from cuecard.annotate.authoring.schema import Items, Record, Shape, is_blank, mapping
from cuecard.annotate.authoring.task_data import Path, get, parse_place
from cuecard.annotate.review.comments import Comments, Thread
from cuecard.annotate.review.reviewing import ReviewContext, sources_of
from cuecard.annotate.review.workflow import Protocol
from cuecard.core.contributions import GoldCheck, PinnedComment, ReviewDecision
from cuecard.core.i18n import _, headed, ngettext
from cuecard.core.text import one_line
from cuecard.core.validation import format_place
from cuecard.tui.present.changes import entry_of, in_words
from cuecard.tui.present.entries import Entry, Paragraph, Piece, Tone
from cuecard.tui.present.labels import CHECK, VOTE
from cuecard.tui.present.review import ReviewForm, given_paragraphs, inside
from cuecard.tui.present.tasks import Element, document_of, owner_of


def pin_places(place: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """`place`, the parts of it that say something, and "" for the task as a whole."""
    path = parse_place(place)
    try:
        value = get(data, path) if path else None
    except LookupError:
        return ("",)
    found = [place, *(format_place(inner) for inner in _parts(_shape_at(path, data), value, path))]
    return tuple(dict.fromkeys([*found, ""]))


def words_of(place: str, data: Mapping[str, Any]) -> str:
    """A place as people call it."""
    return place_in_words(place, data) or place or _("The whole task")


def _parts(shape: Shape | None, value: Any, path: Path) -> Iterator[Path]:
    if path[:2] == ("gold", "rows") and len(path) == 3 and isinstance(value, list):
        yield from ((*path, at) for at in range(len(cast(list[Any], value))))
    elif isinstance(shape, Record):
        for name, inner in shape.fields.items():
            held = mapping(value).get(name)
            if is_blank(held):
                continue
            if isinstance(inner, Record):
                yield from _parts(inner, held, (*path, name))
            else:
                yield (*path, name)


def _shape_at(path: Path, data: Mapping[str, Any]) -> Shape | None:
    shape: Shape | None = shape_of(data)
    for step in path:
        if isinstance(shape, Items):
            shape = shape.item
        elif isinstance(shape, Record):
            shape = shape.fields.get(str(step))
        else:
            return None
    return shape


def review_paragraphs(comments: Comments, protocol: Protocol) -> list[Paragraph]:
    """The reviews of a task as its author reads them beside the comments, which stand there already."""
    dimensions = protocol.dimensions(comments.task.family)
    lines: list[Paragraph] = []
    for given in comments.reviews:
        glyph, _colour, told = VOTE[given.decision.value]
        head = _("{reviewer}, revision {n}: {decision}").format(
            reviewer=one_line(given.reviewer) or _("reviewer"),
            n=given.revision,
            decision=f"{glyph} {_(told)}",
        )
        approves = given.decision is ReviewDecision.APPROVE
        bare = given.model_copy(update={"comments": ()})
        lines.append(Paragraph(head, "good" if approves else "bad"))
        lines += given_paragraphs(bare, dimensions, lambda place: words_of(place, comments.data))
    return lines


_QUOTE = 300


def thread_entries(
    threads: Sequence[Thread],
    data: Mapping[str, Any],
    me: str,
    labels: Mapping[str, str],
) -> list[Entry]:
    """`data`: the newest revision; `labels` names dimensions."""
    return [thread_entry(thread, data, me, labels) for thread in threads]


def thread_entry(
    thread: Thread, data: Mapping[str, Any], me: str, labels: Mapping[str, str]
) -> Entry:
    """Where it is, whether it is open, its element's text, what was said."""
    said = thread.comment
    state = Piece("○ ", "bad") if thread.open else Piece("✔ ", "good")
    gone = thread.place is None
    place = said.place if thread.place is None else words_of(thread.place, data)
    head = [state, Piece(place, "muted" if gone else "strong")]
    if gone:
        head.append(Piece(f"  {_('its element is gone')}", "muted"))
    elif thread.changed:
        head.append(Piece(f"  ± {_('changed since')}", "good"))
    if label := labels.get(said.dimension):
        head.append(Piece(f"  {label}", "stage"))
    who = _("you") if said.by == me else one_line(said.by)
    told = _("{who}, revision {n}").format(who=who or _("reviewer"), n=said.revision)
    body = [*_quote(thread), Paragraph(headed(told, said.text), indent=2)]
    for reply in said.answers:
        turned = {"resolved": _("resolved"), "open": _("opened again")}.get(reply.turns, "")
        text = headed(turned, reply.text)
        who = _("you") if reply.by == me else one_line(reply.by)
        body.append(Paragraph(headed(f"↳ {who or _('author')}", text), "agent", indent=4))
    return Entry("work", 0, tuple(head), tuple(body))


def counted(threads: Sequence[Thread]) -> str:
    """How many are open, of how many."""
    n = sum(thread.open for thread in threads)
    text = ngettext("{n} comment open", "{n} comments open", n).format(n=n)
    return _("{open}, of {all}").format(open=text, all=len(threads))


def _quote(thread: Thread) -> list[Paragraph]:
    """What the element said; with what it says now if that is something else."""
    then, now = one_line(thread.then, _QUOTE), one_line(thread.now, _QUOTE)
    if not then and not now:
        return []
    if not now or not then or then == now:
        return [Paragraph(f"“{then or now}”", "muted", indent=2)]
    before, after = in_words(then, now, "muted")
    return [
        Paragraph(then, "muted", 2, (Piece("− ", "bad"), *before)),
        Paragraph(now, "muted", 2, (Piece("+ ", "good"), *after)),
    ]


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
        lines = [
            Paragraph(headed(f"{mark} {head}", f"{self._about(pinned, owner)}{said.text}"), tone, 2)
        ]
        for reply in said.answers:
            who = self.who(reply.by, author=reply.by != said.by)
            turned = {"resolved": _("resolved"), "open": _("opened again")}.get(reply.turns, "")
            text = headed(turned, reply.text)
            lines.append(Paragraph(headed(f"↳ {who}", text), "muted", indent=4))
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


@dataclass
class ReviewView:
    """`only_changes`: what changed since this person's last review, instead of the whole task."""

    context: ReviewContext
    form: ReviewForm
    only_changes: bool = False
    rows: list[Row] = field(default_factory=list[Row], init=False)

    def __post_init__(self) -> None:
        sheet = self.context.sheet
        self.data: dict[str, Any] = sheet.task.model_dump(mode="json")
        self.document: list[Element] = document_of(sheet.task)
        self.changed = changed_elements(self.context.changes, self.document)
        self.only_changes = bool(self.context.changes) and not self.context.reading
        self.refresh()

    def refresh(self) -> None:
        """Make the rows anew."""
        context, form = self.context, self.form
        labels = {d.key: _(d.label) for d in context.sheet.dimensions}
        if context.reading:
            newest = max((given.revision for given in context.sheet.visible), default=0)
            given = [
                g for g in context.sheet.visible if g.revision == newest == context.sheet.revision
            ]
            marks = marks_of_reviews(context.items, [review.checks for review in given])
            notes = Notes((), context.threads, labels, form.reviewer, names=True)
        else:
            marks = marks_of_form(context.items, context.sample, form.marks)
            mine = [t for t in context.threads if t.comment.by == form.reviewer]
            notes = Notes(form.comments, mine, labels, form.reviewer)
        if self.only_changes:
            self.rows = change_rows(context.changes, self.document, notes, marks)
        else:
            changed = () if context.reading else self.changed
            self.rows = task_rows(self.document, notes, marks, changed)

    def row_at(self, index: int) -> Row | None:
        return self.rows[index] if 0 <= index < len(self.rows) else None

    def row_of(self, place: str) -> int | None:
        """The row that shows a place; the first that shows something of its element."""
        owner = owner_of(self.document, place) or place
        for index, row in enumerate(self.rows):
            if row.place == place or (place and inside(row.place, owner)):
                return index
        return None

    def next_to_mark(self, cursor: int) -> str | None:
        """The next unmarked item of the sample behind row `cursor`, or from the start again."""
        left = set(self.form.left_to_mark)
        order = [element.place for element in self.document]
        row = self.row_at(cursor)
        here = owner_of(self.document, row.place) if row else None
        at = order.index(here) if here in order else -1
        return next(
            (place for place in [*order[at + 1 :], *order[: at + 1]] if place in left), None
        )

    def places(self, place: str) -> list[tuple[str, str]]:
        """What a comment made at `place` can be pinned to, with how it is called."""
        return [(value, self.words(value)) for value in pin_places(place, self.data)]

    def words(self, place: str) -> str:
        return words_of(place, self.data)

    def sources(self, row: Row) -> tuple[str, ...]:
        """The pages that can be opened at a row."""
        return sources_of(self.context.sheet.task, row.item)

    @property
    def title(self) -> str:
        parts = [_("revision {n}").format(n=self.context.sheet.revision)]
        if n := len(self.context.changes):
            parts.append(ngettext("{n} change", "{n} changes", n).format(n=n))
        return " · ".join([one_line(self.context.sheet.task.title), *parts])

    @property
    def pane_title(self) -> str:
        if self.only_changes:
            n = self.context.sheet.previous_number
            return _("Changed since revision {n}").format(n=n)
        return _("Task")
