"""Places in a trial: their names, notes on them, going back after a jump, and stepping through events."""

from bisect import bisect_right
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    ModelReplied,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
)
from cuecard.core.evaluation.items import gold_item
from cuecard.core.families.registry import facts_of
from cuecard.core.i18n import _, ngettext
from cuecard.core.records import TrialNote
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.present.keyboard import hint
from cuecard.tui.present.transcript import Fold
from cuecard.tui.present.trial_panes import PaneLine, PaneText, work_entry


def words_of_place(place: str, task: Task, events: Sequence[Event]) -> str:
    """A note's place (see `TrialNote`) in a few words."""
    kind, _slash, rest = place.partition("/")
    if kind == "verdict":
        return _of_verdict(rest, task)
    if not rest.isdigit():
        return _("the whole trial") if not place else one_line(place, 40)
    number = int(rest)
    match kind:
        case "turn":
            return _("turn {n}").format(n=number + 1)
        case "stage":
            return _("stage {n}").format(n=number)
        case "step":
            return _("step {n}").format(n=number + 1)
        case "fact":
            facts = facts_of(task)
            return one_line(facts[number].key, 60) if number < len(facts) else one_line(place, 40)
        case "event":
            found = next((event for event in events if event.seq == number), None)
            return _of_event(found) if found else one_line(place, 40)
        case _:
            return one_line(place, 40)


def _of_verdict(key: str, task: Task) -> str:
    try:
        item = Item.of_key(key)
        if item.kind is ItemKind.PREDICTED:
            return _("handed in {n}").format(n=item.index + 1)
        if item.kind is ItemKind.ANSWER and task.gold.answers:
            return _("the answer")
        return _("verdict: {item}").format(item=one_line(gold_item(task, item).text, 60))
    except (ValueError, LookupError):
        return one_line(key, 40)


def _of_event(event: Event) -> str:
    body = event.body
    match body:
        case ToolAnswered():
            told = _("turn {n}, call of {tool}")
            return told.format(n=body.turn + 1, tool=one_line(body.call.name, 40))
        case ModelReplied():
            return _("turn {n}, model call").format(n=body.turn + 1)
        case AgentSpoke():
            return _("turn {n}, the agent").format(n=body.turn + 1)
        case UserSpoke():
            return _("turn {n}, the user").format(n=body.turn + 1)
        case Concluded():
            return _("what was handed in")
        case TrialEnded():
            return _("the end")
        case _:
            turn = getattr(body, "turn", None)
            return _("turn {n}").format(n=turn + 1) if turn is not None else _("the start")


BOOKMARK, COMMENT = "◆", "✎"


def notes_text(
    notes: Sequence[TrialNote],
    me: str,
    words: Callable[[str], str],
    seq_of: Callable[[str], int | None],
) -> PaneText:
    """Everybody's notes in the order of the trial; what stands at no event comes after. `words` says what a
    place is called, `seq_of` at which event it is.
    """
    if not notes:
        return PaneText(
            hint(
                _(
                    "Nobody has noted anything here: {TAGS} sets a bookmark, {COMMENT} writes a comment."
                )
            )
        )
    said = ngettext("{n} note", "{n} notes", len(notes)).format(n=len(notes))
    lines = [_line(note, me, words(note.place), seq_of(note.place)) for note in notes]
    lines.sort(key=lambda line: (line.seq is None, line.seq or 0))
    return PaneText(said, lines)


def _line(note: TrialNote, me: str, place: str, seq: int | None) -> PaneLine:
    mark = BOOKMARK if note.kind == "bookmark" else COMMENT
    head = [Piece(f"{mark} ", "stage"), Piece(place, "strong")]
    if note.person != me:
        head.append(Piece(f" · {one_line(note.person, 40)}", "user"))
    first, *rest = note.text.strip().split("\n", 1) if note.text.strip() else [""]
    if first:
        head.append(Piece(f" · {one_line(first, 300)}"))
    when = note.at.astimezone().strftime("%Y-%m-%d %H:%M")
    fold = [Paragraph(note.text.strip(), indent=4)] if rest else []
    fold.append(Paragraph(f"{one_line(note.person, 60)} · {when}", "muted", 4))
    return PaneLine(work_entry(head, *fold), seq=seq, place=note.place, note=note.uid)


def margin(notes: Sequence[TrialNote], seq_of: Callable[[str], int | None]) -> dict[int, str]:
    """The glyph beside each event with notes; a comment goes before a bookmark."""
    marks: dict[int, str] = {}
    for note in notes:
        seq = seq_of(note.place)
        if seq is not None and marks.get(seq) != COMMENT:
            marks[seq] = BOOKMARK if note.kind == "bookmark" else COMMENT
    return marks


def my_bookmark(notes: Sequence[TrialNote], me: str, place: str) -> TrialNote | None:
    """The bookmark that `me` has at a place."""
    mine = (n for n in notes if n.kind == "bookmark" and n.person == me and n.place == place)
    return next(mine, None)


def next_marked(marks: Sequence[int], now: int, step: int) -> int | None:
    """The next event with notes after (`step` 1) or before (-1) event `now`, round the end."""
    ordered = sorted(set(marks))
    if not ordered:
        return None
    if step > 0:
        return next((seq for seq in ordered if seq > now), ordered[0])
    return next((seq for seq in reversed(ordered) if seq < now), ordered[-1])


MOST = 50


@dataclass(frozen=True)
class Spot:
    """A place to come back to: the pane ("" for the transcript), its line, and the transcript's entry."""

    pane: str
    line: int
    entry: int
    top: int


class JumpHistory:
    """The spots that were jumped away from, the last `MOST` of them."""

    def __init__(self) -> None:
        self._spots: list[Spot] = []

    def __len__(self) -> int:
        return len(self._spots)

    def leave(self, spot: Spot) -> None:
        if not self._spots or self._spots[-1] != spot:
            self._spots = [*self._spots[-MOST + 1 :], spot]

    def back(self) -> Spot | None:
        return self._spots.pop() if self._spots else None


class Stepping:
    """A trial up to one of its events. `at` counts from 0."""

    def __init__(self, events: Sequence[Event], task: Task, at: int = 0) -> None:
        self._events, self._task = events, task
        self._spoken = [
            n for n, event in enumerate(events) if isinstance(event.body, UserSpoke | AgentSpoke)
        ]
        self.at = max(0, min(at, len(events) - 1))

    @property
    def total(self) -> int:
        return len(self._events)

    @property
    def seq(self) -> int:
        """The number of the event that is shown last."""
        return self._events[self.at].seq

    def move(self, by: int) -> None:
        """By events; not past the ends."""
        self.at = max(0, min(self.at + by, self.total - 1))

    def move_said(self, by: int) -> None:
        """To the next words that somebody says (`by` 1), or those before (-1); else to the end."""
        if by > 0:
            self.at = next((n for n in self._spoken if n > self.at), self.total - 1)
        else:
            self.at = next((n for n in reversed(self._spoken) if n < self.at), 0)

    def go_to(self, seq: int) -> None:
        """To event `seq`, or the last before it."""
        self.at = max(0, bisect_right(self._events, seq, key=lambda event: event.seq) - 1)

    def entries(
        self, whole: Sequence[Entry], events: Sequence[Event], left_out: Container[int]
    ) -> list[Entry]:
        """Of the entries of the whole trial, those that had begun by then: the last as far as it had come.
        `events` and `left_out` as the entries were made of.
        """
        known = [entry for entry in whole if entry.events and entry.events[0] <= self.seq]
        if not known or known[-1].events[-1] <= self.seq:
            return known
        begun = set(known[-1].events)
        fold = Fold(self._task, left_out)
        for event in events:
            if event.seq in begun and event.seq <= self.seq:
                fold.add(event)
        return [*known[:-1], *fold.entries()]
