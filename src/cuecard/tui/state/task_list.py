"""The lines of the task list, and which of them are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from cuecard.core.text import normalise

if TYPE_CHECKING:
    from cuecard.store.records import Draft, TaskSummary, ThrownDraft

FAMILIES = ("graph", "table", "checkpoints", "facts")
LANGUAGES = ("en", "zh")
STATES = ("draft", "in_review", "returned", "approved", "retired")
T = TypeVar("T")


@dataclass(frozen=True)
class TaskLine:
    """One line; revision 0 is a task of mine that was never saved. `draft`: I have unsaved edits.
    `thrown`: the id of the draft that I threw away, where that is all there is. `comments`: how many
    are open on a task of mine that was returned. `forks`: newest revisions beside this one. `building`: I
    am building its gold independently.
    """

    id: str
    title: str
    family: str
    language: str
    domain: str
    difficulty: str
    revision: int
    state: str
    author: str
    updated_at: datetime
    draft: bool = False
    thrown: int = 0
    forks: int = 0
    comments: int = 0
    building: bool = False

    @property
    def archived(self) -> bool:
        """Out of use, and to be had back."""
        return self.state == "retired"


@dataclass(frozen=True)
class TaskFilter:
    """What must hold of a line to be shown. Archived tasks show only when asked for by state."""

    text: str = ""
    family: str = ""
    language: str = ""
    state: str = ""

    @property
    def active(self) -> bool:
        return self != TaskFilter()

    def next_family(self) -> TaskFilter:
        return replace(self, family=_next(FAMILIES, self.family))

    def next_language(self) -> TaskFilter:
        return replace(self, language=_next(LANGUAGES, self.language))

    def next_state(self) -> TaskFilter:
        return replace(self, state=_next(STATES, self.state))

    def turned_to_archived(self) -> TaskFilter:
        """Only what is archived, or what is in use again."""
        return replace(self, state="" if self.state == "retired" else "retired")

    def keeps(self, line: TaskLine) -> bool:
        """Every word typed must occur in the line's id, title, domain or author."""
        if line.archived and self.state != "retired":
            return False
        wanted = (
            (self.family, line.family),
            (self.language, line.language),
            (self.state, line.state),
        )
        if any(want and want != has for want, has in wanted):
            return False
        text = normalise(" ".join((line.id, line.title, line.domain, line.author)))
        return all(word in text for word in normalise(self.text).split())


def task_lines(
    summaries: Iterable[TaskSummary],
    drafts: Iterable[Draft],
    thrown: Iterable[ThrownDraft] = (),
    comments: Mapping[str, int] | None = None,
    building: Collection[str] = (),
) -> list[TaskLine]:
    """All tasks, mine that were never saved first; `drafts` are one person's, `thrown` those of tasks
    that were never saved, the last first, `comments` those that are open, by task, `building` tasks whose gold they
    build a second time.
    """
    own = {draft.task_id: draft for draft in drafts}
    lines: list[TaskLine] = []
    for task in summaries:
        lines.append(
            TaskLine(
                id=task.id,
                title=task.title,
                family=task.family,
                language=task.language,
                domain=task.domain,
                difficulty=task.difficulty or "",
                revision=task.revision,
                state=task.state.value,
                author=task.author,
                updated_at=task.updated_at,
                draft=own.pop(task.id, None) is not None,
                forks=task.forks,
                comments=(comments or {}).get(task.id, 0),
                building=task.id in building,
            )
        )
    last: dict[str, ThrownDraft] = {}
    for draft in thrown:
        last.setdefault(draft.task_id, draft)
    return [
        *(_unsaved(draft) for draft in own.values()),
        *lines,
        *(_unsaved(draft, draft.id) for draft in last.values()),
    ]


def shown(lines: Sequence[TaskLine], chosen: TaskFilter) -> list[TaskLine]:
    return [line for line in lines if chosen.keeps(line)]


def _unsaved(draft: Draft | ThrownDraft, thrown: int = 0) -> TaskLine:
    data = draft.data
    gold = data.get("gold")
    family = gold.get("family") if isinstance(gold, dict) else ""
    return TaskLine(
        id=draft.task_id,
        title=str(data.get("title") or draft.task_id),
        family=str(family),
        language=str(data.get("language") or ""),
        domain=str(data.get("domain") or ""),
        difficulty=str(data.get("difficulty") or ""),
        revision=0,
        state="retired" if thrown else "draft",
        author=draft.person,
        updated_at=draft.updated_at,
        draft=not thrown,
        thrown=thrown,
    )


def _next(values: Sequence[str], current: str) -> str:
    """The value after `current`, and after the last one "" again."""
    circle = ("", *values)
    return circle[(circle.index(current) + 1) % len(circle)]


def moment(when: datetime) -> str:
    """A time as the person's clock shows it."""
    return when.astimezone().strftime("%Y-%m-%d %H:%M")
