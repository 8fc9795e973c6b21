"""The board as lists: the tasks of a state or a person, and what is open with whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rich.text import Text

from cuecard.annotate.review.board import STATES, Board, BoardTask, PersonLoad, waiting
from cuecard.core.contributions import TaskState
from cuecard.core.i18n import _, age, ngettext, plural
from cuecard.core.text import one_line
from cuecard.tui.grid import GridCell
from cuecard.tui.present.entries import Paragraph
from cuecard.tui.present.labels import TASK_STATE, badge


def waits_cell(task: BoardTask, reader: str) -> GridCell:
    """Whom a task waits for."""
    tone = "accent" if reader in task.waits_for else "warn" if task.forks else "plain"
    return GridCell(waiting(task, reader), tone)


def name_cell(load: PersonLoad, reader: str) -> GridCell:
    name = _("{name} (you)").format(name=load.name) if load.name == reader else load.name
    return GridCell(name, "strong" if load.open else "muted")


def number_cell(number: int) -> GridCell:
    return GridCell(str(number), "plain" if number else "muted")


@dataclass(frozen=True)
class BoardView:
    """The board narrowed to a `state`, a `person`, or not."""

    board: Board
    now: datetime
    state: TaskState | None = None
    person: str = ""

    @property
    def tasks(self) -> tuple[BoardTask, ...]:
        return self.board.of(self.state, self.person)

    def of_person(self, name: str) -> BoardView:
        return replace(self, person=name, state=None)

    def next_state(self) -> BoardView:
        """Only the next state that has tasks, after the last of them all."""
        counts = replace(self, state=None).counts()
        there = [state for state in STATES if counts[state]]
        at = there.index(self.state) + 1 if self.state is not None and self.state in there else 0
        return replace(self, state=there[at] if at < len(there) else None)

    def counts(self) -> dict[TaskState, int]:
        """Of the person, if there is one."""
        tasks = self.board.of(None, self.person)
        return {state: sum(task.state is state for task in tasks) for state in STATES}

    def heading(self, variables: Mapping[str, str]) -> Text:
        """How many tasks there are of each state; the one that is shown stands out."""
        parts: list[Text] = []
        if self.person:
            parts.append(Text(one_line(self.person), "bold"))
        for state, count in self.counts().items():
            part = badge(TASK_STATE, state.value, variables)
            part.append(f" {count}")
            if self.state is state:
                part.stylize("reverse")
            elif self.state is not None or not count:
                part.stylize("dim")
            parts.append(part)
        return Text("  ").join(parts)

    def about_task(self, task: BoardTask) -> list[Paragraph]:
        """A task in words, below the list."""
        facts = [
            _("{state} · {age}").format(
                state=_(TASK_STATE[task.state.value][2]), age=age(task.since, self.now)
            ),
            _("revision {n}").format(n=task.task.revision),
            task.task.domain,
        ]
        lines = [
            Paragraph(task.task.title, "strong"),
            Paragraph(" · ".join(filter(None, facts)), "muted"),
            Paragraph(self._author(task)),
        ]
        if task.state is TaskState.IN_REVIEW:
            lines.append(Paragraph(_round(task, self.board.reader)))
        if task.forks:
            n = task.forks
            told = ngettext(
                "{n} revision made elsewhere waits to be merged: open the task.",
                "{n} revisions made elsewhere wait to be merged: open the task.",
                n,
            )
            lines.append(Paragraph(told.format(n=n), "bad"))
        return lines

    def about_person(self, load: PersonLoad) -> list[Paragraph]:
        lines = [Paragraph(load.name, "strong")]
        if not load.open:
            lines.append(Paragraph(_("Nothing is open."), "muted"))
        elif load.oldest:
            lines.append(
                Paragraph(
                    _("The longest waits for {age}.").format(age=age(load.oldest, self.now)),
                    "muted",
                )
            )
        if not self.board.complete and load.name != self.board.reader:
            lines.append(
                Paragraph(_("Without what you must not know while tasks are in review."), "muted")
            )
        return lines

    def _author(self, task: BoardTask) -> str:
        if not task.authors:
            return _("Its author is hidden from those who may review it.")
        names = (_("you") if name == self.board.reader else name for name in task.authors)
        return _("By {names}").format(names=", ".join(names))


def _round(task: BoardTask, reader: str) -> str:
    """How far the reviews of a task are; who gives them only as far as the reader may know."""

    def listed(names: Sequence[str]) -> str:
        return ", ".join(_("you") if name == reader else name for name in names)

    parts = [_("{n} of {needed} reviews in").format(n=task.reviews, needed=task.needed)]
    if task.reviewed:
        parts[0] += f" ({listed(task.reviewed)})"
    if task.claims:
        part = plural("{n} has it to review", "{n} have it to review", task.claims)
        parts.append(f"{part} ({listed(task.reviewing)})" if task.reviewing else part)
    if task.free:
        parts.append(ngettext("{n} place free", "{n} places free", task.free).format(n=task.free))
    if task.third:
        parts.append(_("two disagree, a third decides"))
    return " · ".join(parts)
