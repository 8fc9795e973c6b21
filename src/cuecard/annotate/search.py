"""One search over everything that a person may see: tasks and their parts, comments, runs, people, trials, judges' reasons.

It goes through what the screens go through: reviews, names, second golds and what must be labelled blind stay hidden. What
is few is held in memory (`Finder`); what is many is asked of the database (`store.search`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple, cast

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.authoring.task_data import Path, leaves, parse_place
from cuecard.annotate.independent_gold.building import under_way
from cuecard.core.i18n import N_, _
from cuecard.core.records import Comment
from cuecard.core.validation import format_place
from cuecard.core.verdicts import Item
from cuecard.store.reviews import comments_in
from cuecard.store.search import words_in
from cuecard.store.workspace import Sight, Workspace

EACH = 30
"""Places of one kind that are told at most."""
_BEFORE = 24
"""Characters of a snippet before the first word."""
_LONG = 240


class Kind(StrEnum):
    """What was found, in the order in which it is told."""

    TASK = "task"
    GOLD = "gold"
    SOURCE = "source"
    COMMENT = "comment"
    RUN = "run"
    PERSON = "person"
    COMMAND = "command"
    TRANSCRIPT = "transcript"
    REASON = "reason"

    @property
    def label(self) -> str:
        return _(_LABELS[self])


_LABELS = {
    Kind.TASK: N_("Task"),
    Kind.GOLD: N_("Gold"),
    Kind.SOURCE: N_("Source"),
    Kind.COMMENT: N_("Comment"),
    Kind.RUN: N_("Run"),
    Kind.PERSON: N_("Person"),
    Kind.COMMAND: N_("Command"),
    Kind.TRANSCRIPT: N_("Transcript"),
    Kind.REASON: N_("Rationale"),
}


@dataclass(frozen=True)
class SearchHit:
    """A place that was found: what it belongs to (`title`), a `snippet` of it with the words at `marks`, and where it is:
    a `place` of a task (`where`: in words) or of a trial, an event `seq`, a run, a person, the command of this number, or a comment by its id.
    """

    kind: Kind
    title: str
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    task_id: str = ""
    place: str = ""
    where: str = ""
    trial_id: int = 0
    seq: int | None = None
    run_id: int = 0
    number: int = 0
    comment: str = ""


class _Passage(NamedTuple):
    """A text in memory; `folded` is searched, the title with it."""

    found: SearchHit
    text: str
    folded: str
    inside: Any = None

    @classmethod
    def of(cls, found: SearchHit, text: str) -> _Passage:
        return cls(found, text, f"{found.title}\n{text}".casefold())


class Finder:
    """What is few of what one person may see, read by `load` and kept as long as it stays the same, with `commands` beside
    it: labels of what can be done here. `asked`: what was looked for last. Methods block; they may be called from several
    threads.
    """

    def __init__(self, person: str) -> None:
        self.person = person
        self.asked = ""
        self.commands: Sequence[str] = ()
        self._tasks: dict[tuple[str, int], list[_Passage]] = {}
        self._passages: list[_Passage] = []

    def load(self, ws: Workspace) -> None:
        """Read anew what was changed since. Raises `CuecardError`."""
        hidden = under_way(ws, self.person)
        lines = [
            line
            for line in ws.tasks.summaries(include_retired=True, viewer=self.person)
            if line.id not in hidden
        ]
        titles = {line.id: line.title for line in lines}
        made: dict[tuple[str, int], list[_Passage]] = {}
        drafts = {draft.task_id: draft.data for draft in ws.drafts.of(self.person)}
        for task_id in drafts.keys() - hidden:
            made[task_id, -1] = list(_passages(task_id, drafts[task_id]))
        missing = list[str]()
        for line in lines:
            key = line.id, line.revision
            if line.id in drafts:
                continue
            if key in self._tasks:
                made[key] = self._tasks[key]
            else:
                missing.append(line.id)
        for revision in ws.tasks.newest(missing):
            task = revision.task
            key = task.id, revision.number
            made[key] = list(_passages(task.id, task.model_dump(mode="json")))
        self._tasks = made
        few = [*_comments(ws, self.person, titles), *self._notes(ws), *_runs(ws)]
        people = (
            _Passage.of(SearchHit(Kind.PERSON, each.name, place=each.name), "")
            for each in ws.people.all()
        )
        self._passages = [*(each for task in made.values() for each in task), *few, *people]

    def few(self, words: Sequence[str]) -> list[SearchHit]:
        """Where all words (`words_in`) occur in one passage of what is held in memory, the best of each kind first."""
        if not words:
            return []
        commands = [
            _Passage.of(SearchHit(Kind.COMMAND, label, number=at), "")
            for at, label in enumerate(self.commands)
        ]
        hits = [
            passage
            for passage in (*self._passages, *commands)
            if all(word in passage.folded for word in words)
        ]
        order = list(Kind)
        hits.sort(key=lambda hit: (order.index(hit.found.kind), _rank(hit, words)))
        return [_shown(hit, words) for hit in hits]

    def said(self, ws: Workspace, words: Sequence[str]) -> list[SearchHit]:
        """Where it was said in trials, the newest first. Raises `CuecardError`."""
        hits = ws.search.said(words, EACH)
        names = _trials(ws, [hit.trial_id for hit in hits])
        return [
            _shown(
                _Passage(
                    SearchHit(
                        Kind.TRANSCRIPT, names[hit.trial_id], trial_id=hit.trial_id, seq=hit.seq
                    ),
                    hit.text,
                    "",
                ),
                words,
            )
            for hit in hits
            if hit.trial_id in names
        ]

    def reasons(
        self, ws: Workspace, words: Sequence[str], before: int | None = None
    ) -> tuple[list[SearchHit], int]:
        """Judges' reasons, but not on items that the person is still to label; see `Search.reasons`. What is told counts as
        seen: a label that is given later is not blind. Raises `CuecardError`.
        """
        hits, before = ws.search.reasons(words, EACH, before)
        names = _trials(ws, [hit.trial_id for hit in hits])
        sight = Sight(ws, self.person)
        found = [
            _shown(
                _Passage(
                    SearchHit(
                        Kind.REASON, f"{names[hit.trial_id]} · {hit.judge}", trial_id=hit.trial_id, place=f"verdict/{hit.item_key}"
                    ),
                    hit.text,
                    "",
                ),
                words,
            )
            for hit in hits
            if hit.trial_id in names and sight.may_tell(hit.trial_id, Item.of_key(hit.item_key))
        ]  # fmt: skip
        sight.record()
        return found, before

    def _notes(self, ws: Workspace) -> Iterator[_Passage]:
        sight = Sight(ws, self.person)
        notes = [
            note for note in ws.trial_notes.of() if note.text and sight.may_open(note.trial_id)
        ]
        names = _trials(ws, [note.trial_id for note in notes])
        for note in notes:
            found = SearchHit(
                Kind.COMMENT, names.get(note.trial_id, ""), trial_id=note.trial_id, place=note.place
            )
            yield _Passage.of(found, note.text)


def find(
    ws: Workspace,
    person: str,
    query: str,
    tell: Callable[[int], None] = lambda left: None,
    seconds: float = 1.0,
) -> list[SearchHit]:
    """Everything that is found, by kind. Brings the index of trials up to date first and, every so many `seconds`, tells
    how many events are left. Raises `CuecardError`.
    """
    finder, words = Finder(person), words_in(query)
    finder.load(ws)
    before = 0
    while (left := ws.search.catch_up(seconds)) and left != before:
        tell(left)
        before = left
    found = [*finder.few(words), *finder.said(ws, words)]
    reasons, before = finder.reasons(ws, words)
    while before and len(reasons) < EACH:
        more, before = finder.reasons(ws, words, before)
        reasons += more
    return [*found, *reasons]


def snippet(text: str, words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece of the text, on one line, that begins shortly before the first of the words; and where they are in it."""
    if not words:
        return " ".join(text[:_LONG].split()), ()
    pattern = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))), re.I)
    first = pattern.search(text)
    at = first.start() - _BEFORE if first and first.start() > 2 * _BEFORE else 0
    piece = " ".join(text[at : at + _LONG].split())
    piece = f"…{piece}" if at else piece
    return piece, tuple(match.span() for match in pattern.finditer(piece))


_NAMES = {"id", "title", "language", "family", "silenced", "foreign", "kind", "stage", "difficulty"}
"""What of a task is no text of its own."""


def _passages(task_id: str, data: Mapping[str, Any]) -> Iterator[_Passage]:
    """A task by its elements: a triple, a row, a stage each."""
    title = str(data.get("title") or task_id)
    yield _Passage.of(SearchHit(Kind.TASK, title, task_id=task_id), task_id)
    for path, value in _elements(data, ()):
        text = " · ".join(
            said
            for deeper, said in leaves(value)
            if said.strip() and not (deeper and deeper[-1] in ("kind", "family"))
        )
        if text:
            kind = {"gold": Kind.GOLD, "sources": Kind.SOURCE}.get(str(path[0]), Kind.TASK)
            found = SearchHit(kind, title, task_id=task_id, place=format_place(path))
            yield _Passage(found, text, text.casefold(), data)


def _elements(data: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    for name, value in data.items():
        here = (*path, name)
        if isinstance(value, list):
            for at, item in enumerate(cast(list[Any], value)):
                if name not in _NAMES:
                    yield (*here, at), item
        elif isinstance(value, dict):
            if name not in _NAMES:
                yield from _elements(cast(dict[str, Any], value), here)
        elif isinstance(value, str) and name not in _NAMES:
            yield here, value


def _comments(ws: Workspace, person: str, titles: Mapping[str, str]) -> Iterator[_Passage]:
    for task_id, log in ws.reviews.seen_logs(person).items():
        if task_id not in titles:
            continue
        said: list[Comment] = comments_in(sorted(log.contributions, key=lambda entry: entry.order))
        for comment in said:
            found = SearchHit(
                Kind.COMMENT, titles[task_id], task_id=task_id, place=comment.place, comment=comment.id
            )  # fmt: skip
            for text in (comment.text, *(answer.text for answer in comment.answers)):
                if text:
                    yield _Passage(found, text, text.casefold())


def _runs(ws: Workspace) -> Iterator[_Passage]:
    for run in ws.runs.all():
        yield _Passage.of(
            SearchHit(Kind.RUN, run.name, run_id=run.id), f"{run.id} · {run.created_by}"
        )


def _trials(ws: Workspace, ids: Iterable[int]) -> dict[int, str]:
    """What these trials are called: task, agent, number."""
    trials = ws.runs.some_trials(set(ids))
    return {trial.id: f"{trial.title} · {trial.agent.name} · {trial.id}" for trial in trials}


def _rank(hit: _Passage, words: Sequence[str]) -> tuple[bool, bool, int]:
    """Whole words and titles first, then what is short."""
    title = hit.found.title.casefold()
    begins = re.search(rf"(?<!\w){re.escape(words[0])}", hit.folded) is not None
    return not title.startswith(words[0]), not begins, len(hit.folded)


def _shown(hit: _Passage, words: Sequence[str]) -> SearchHit:
    piece, marks = snippet(hit.text, words)
    found = hit.found
    path = parse_place(found.place)
    if hit.inside is None:
        return replace(found, snippet=piece, marks=marks)
    inside = leaves(reduce(getitem, path, hit.inside), path)
    here = (p for p, text in inside if any(w in text.casefold() for w in words))
    place = format_place(next(here, path))
    where = place_in_words(place, hit.inside)
    return replace(found, snippet=piece, marks=marks, place=place, where=where)
