"""The entries of a dialogue that grows: what happened is taken in one by one, and only the tail changes."""

from __future__ import annotations

from collections.abc import Sequence

from cuecard.core.events import AgentSpoke, Concluded, Event, TrialEnded, TrialReopened, kept_by
from cuecard.core.tasks import Task
from cuecard.tui.state.entries import Entry, Paragraph
from cuecard.tui.state.markdown import Segment, Segments
from cuecard.tui.state.transcript import Fold, writing


class TranscriptState:
    """`follow` what happened and `write` what is streamed; `entries` is what a `Transcript` loads.

    Entries that did not change are the same objects in each answer, and so are the paragraphs of the
    reply that is being written, but for its last.
    """

    def __init__(self, task: Task | None = None) -> None:
        self._task = task
        self._course: list[Event] = []
        self._fold = Fold(task)
        self._turn: int = 0
        self._written = Segments()
        self._paragraphs: list[Paragraph] = []

    @property
    def course(self) -> Sequence[Event]:
        """The events that stand."""
        return self._course

    @property
    def is_writing(self) -> bool:
        """Whether something was written that is not in the log yet."""
        return bool(self._written.closed or self._written.open)

    @property
    def entries(self) -> Sequence[Entry]:
        entries = self._fold.entries()
        return [*entries, writing(self._turn, self._body())] if self.is_writing else entries

    def follow(self, event: Event) -> None:
        """Take in an event; a `TrialReopened` takes back what its course leaves out."""
        body = event.body
        if isinstance(body, AgentSpoke | Concluded | TrialEnded | TrialReopened):
            self._written, self._paragraphs = Segments(), []
        if isinstance(body, TrialReopened):
            self._course = kept_by(self._course, body)
            self._fold = Fold(self._task)
            for kept in self._course:
                self._fold.add(kept)
            return
        self._course.append(event)
        self._fold.add(event)

    def write(self, turn: int, text: str) -> None:
        """Take in a piece of the reply as it is written."""
        if turn != self._turn:
            self._turn, self._written, self._paragraphs = turn, Segments(), []
        self._written.add(text)

    def _body(self) -> tuple[Paragraph, ...]:
        closed, last = self._written.closed, self._written.open
        self._paragraphs += map(_paragraph, closed[len(self._paragraphs) :])
        return (*self._paragraphs, _paragraph(last)) if last else tuple(self._paragraphs)


def _paragraph(segment: Segment) -> Paragraph:
    return Paragraph(segment.text, segment=segment)
