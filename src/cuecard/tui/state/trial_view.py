"""The Trial screen without the screen: what is shown of a trial, up to which moment, as judged by whom."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Literal

from cuecard.annotate.labelling.session_transcript import without_decisions
from cuecard.core.events import Event, UserSpoke
from cuecard.core.i18n import _
from cuecard.core.tasks import CheckpointChain
from cuecard.core.verdicts import Item, ItemKind
from cuecard.results.trial.context import ContextSize, context_size
from cuecard.results.trial.disclosure import (
    StageSeen,
    StepSeen,
    stage_until,
    stages_seen,
    steps_seen,
)
from cuecard.results.trial.opening import OpenedTrial
from cuecard.results.trial.places import Course, Found, given_parts, parts_of, seq_of
from cuecard.store.result_records import TrialNote
from cuecard.tui.state.entries import Entry
from cuecard.tui.state.transcript import entries_of
from cuecard.tui.state.trial_context import context_text
from cuecard.tui.state.trial_hits import hits_text
from cuecard.tui.state.trial_judged import JudgedTrial
from cuecard.tui.state.trial_jumps import Stepping
from cuecard.tui.state.trial_lines import PaneText
from cuecard.tui.state.trial_notes import notes_text
from cuecard.tui.state.trial_places import words_of_place
from cuecard.tui.state.trial_stages import stages_text, steps_text

PaneName = Literal["stages", "gold", "verdicts", "hits", "context", "notes", "measures"]
PANES: tuple[PaneName, ...] = (
    "stages",
    "gold",
    "verdicts",
    "hits",
    "context",
    "notes",
    "measures",
)
_OF_VERDICTS = ("gold", "verdicts", "measures")


class TrialState(JudgedTrial):
    """`whole` holds events with their large texts, by number."""

    def __init__(self, opened: OpenedTrial, person: str) -> None:
        super().__init__(opened)
        self.person = person
        self.whole: dict[int, Event] = {}
        self.stepping: Stepping | None = None
        self.uncovered = False

    def reopen(self, opened: OpenedTrial) -> None:
        """The trial went on: what was chosen stays."""
        self.opened = opened
        for name in ("events", "entries", "stages", "steps", "hits", "context"):
            self.__dict__.pop(name, None)
        self._forget_judge()
        if self.stepping:
            self.stepping = Stepping(self.events, opened.task, self.stepping.at)

    def complete(self, events: Sequence[Event]) -> None:
        """Take in events with their large texts."""
        self.whole |= {event.seq: event for event in events}
        self.__dict__.pop("entries", None)

    # What happened

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The course as this person may see it."""
        events = self.opened.events
        return without_decisions(events) if self.hides_decisions else events

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """The whole transcript."""
        return entries_of(self._read, self.opened.task, self._left_out)

    @property
    def shown_entries(self) -> Sequence[Entry]:
        """The transcript up to the moment that is shown."""
        if self.stepping is None:
            return self.entries
        return self.stepping.entries(self.entries, self._read, self._left_out)

    @cached_property
    def stages(self) -> tuple[StageSeen, ...]:
        return stages_seen(self.opened.task.stages, self.events)

    @cached_property
    def steps(self) -> tuple[StepSeen, ...]:
        gold = self.opened.task.gold
        return steps_seen(gold, self.events) if isinstance(gold, CheckpointChain) else ()

    @cached_property
    def context(self) -> ContextSize:
        return context_size(self.opened.events)

    @property
    def is_chain(self) -> bool:
        return isinstance(self.opened.task.gold, CheckpointChain)

    # What must not be seen yet

    @property
    def hides_decisions(self) -> bool:
        return self.opened.hides_decisions and not self.uncovered

    def covers(self, pane: str) -> bool:
        """Whether the person is still to label, in a labelling set, what the pane would show."""
        if self.uncovered:
            return False
        if pane in _OF_VERDICTS:
            return self.opened.hides_verdicts
        if pane == "notes":
            return len(self.notes) < len(self._every_note)
        return pane == "stages" and self.opened.hides_decisions

    @property
    def notes(self) -> tuple[TrialNote, ...]:
        """Those that may be seen: what others wrote can tell what was decided."""
        if self.uncovered or not self.opened.waiting:
            return self._every_note
        return tuple(note for note in self._every_note if note.person == self.person)

    @property
    def _every_note(self) -> tuple[TrialNote, ...]:
        return self.opinions.notes if self.opinions else ()

    def uncover(self) -> None:
        self.uncovered = True
        for name in ("events", "entries", "stages", "steps"):
            self.__dict__.pop(name, None)

    # Panes

    @property
    def now(self) -> int | None:
        """The event up to which everything is shown; None: to the end."""
        return self.stepping.seq if self.stepping else None

    def text(self, pane: PaneName) -> PaneText:
        """A pane of lines; `table` gives the gold pane of a table."""
        opened, now = self.opened, self.now
        if self.covers(pane):
            return PaneText(_covered(len(opened.waiting)))
        match pane:
            case "stages":
                return self._stages(now)
            case "hits":
                hits = self.hits if now is None else self.hits.until(now)
                return hits_text(opened.task, hits)
            case "context":
                return context_text(self.context if now is None else self.context.until(now))
            case "notes":
                return notes_text(self.notes, self.person, self.words_of, self.seq_of)
            case "verdicts":
                return self.verdict_text()
            case "gold":
                return self.gold_text()
            case "measures":
                return PaneText("")

    # Places

    def seq_of(self, place: str) -> int | None:
        return seq_of(place, self.events, self.stages, self.steps)

    def words_of(self, place: str) -> str:
        return words_of_place(place, self.opened.task, self.events)

    def place_of(self, entry: Entry) -> str:
        """Where a note on an entry of the transcript is pinned."""
        if self.stepping:
            return f"event/{self.stepping.seq}"
        if entry.role == "user":
            return f"turn/{entry.turn}"
        return f"event/{entry.events[0]}" if entry.events else ""

    def find(self, course: Course, item: Item) -> Found | None:
        """Where an item was first named; of an answer that was never named, the one that was given."""
        opened = self.opened
        supporting = next(
            (v.verdict.supporting for v in self.verdicts if v.verdict.item == item), ()
        )
        found = course.first(parts_of(opened.task, item, opened.prediction, supporting), self.now)
        if found is None and item.kind is ItemKind.ANSWER:
            found = course.first(given_parts(opened.prediction), self.now)
        return found

    def turn_of(self, seq: int) -> frozenset[int]:
        """The events of the turn that event `seq` is of."""
        turns = {event.seq: getattr(event.body, "turn", None) for event in self.opened.events}
        return frozenset(at for at, turn in turns.items() if turn == turns.get(seq))

    def items_in(self, course: Course, seqs: Collection[int]) -> tuple[Item, ...]:
        """The items with a verdict that these events name, as far as agent and tools go."""
        opened = self.opened
        items = [view.verdict for view in self.verdicts]
        parts = [
            (v.item, parts_of(opened.task, v.item, opened.prediction, v.supporting)) for v in items
        ]
        return course.items_in(seqs, parts)

    def _stages(self, now: int | None) -> PaneText:
        gold, user = self.opened.task.gold, self.opened.trial.user
        if isinstance(gold, CheckpointChain):
            steps = [step if now is None else step.until(now) for step in self.steps]
            return steps_text(gold, steps, user)
        seen = [stage if now is None else stage_until(stage, now) for stage in self.stages]
        return stages_text(self.opened.task.stages, seen, user)

    @property
    def _read(self) -> list[Event]:
        if not self.whole:
            return list(self.events)
        hidden = self.hides_decisions
        return [
            event
            if hidden and isinstance(event.body, UserSpoke)
            else self.whole.get(event.seq, event)
            for event in self.events
        ]

    @property
    def _left_out(self) -> frozenset[int]:
        return self.opened.left_out - self.whole.keys()


def _covered(waiting: int) -> str:
    return _(
        "You are still to label {n} items of this trial in a labelling set. What was decided stays covered"
        " until you have, or until you press x: labels that you give after that count as not blind."
    ).format(n=waiting)
