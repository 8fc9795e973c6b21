"""What a file of labels says: an entry for each line, words for decisions, and safe CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cuecard.annotate.families.registry import element_of
from cuecard.core.engine.events import AgentSpoke, Event, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.engine.trial import prediction_of
from cuecard.core.errors import FileProblem, FileProblems, system_words
from cuecard.core.evaluation.items import gold_item
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _, listed
from cuecard.core.label_records import LabelValue, Phase
from cuecard.core.predictions import Prediction, triples_of
from cuecard.core.records import TrialRecord
from cuecard.core.tables.texts import unguarded
from cuecard.core.tasks.models import Task
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


Value = LabelValue | CheckpointStatus

_WORDS: dict[LabelValue, tuple[str, ...]] = {
    LabelValue.YES: ("yes", "y", "true", "1", "covered", "valid", "是"),
    LabelValue.NO: ("no", "n", "false", "0", "not covered", "not valid", "否", "不是"),
    LabelValue.UNSURE: ("unsure", "u", "?", "cannot tell", "不确定", "无法判断"),
}
_VALUES = {word: value for value, words in _WORDS.items() for word in words}
_STATUSES = {status.value: status for status in CheckpointStatus}
CHINESE = {LabelValue.YES: "是", LabelValue.NO: "否", LabelValue.UNSURE: "不确定"}


def value_of(word: str, kind: ItemKind) -> Value | None:
    """The decision that a word in a file means, None for a blank. Raises `ValueError` for an unknown word."""
    plain = " ".join(unicodedata.normalize("NFKC", word).casefold().split())
    if not plain:
        return None
    if plain in _VALUES:
        return _VALUES[plain]
    if kind is ItemKind.STATUS and plain in _STATUSES:
        return _STATUSES[plain]
    raise ValueError(word)


def comparable(text: str) -> str:
    """A text normalised for comparison after a spreadsheet: one form of accents, single blanks."""
    return " ".join(unicodedata.normalize("NFC", unguarded(text)).split())


Format = Literal["vibesearch", "csv", "jsonl", "labelstudio"]


@dataclass(frozen=True)
class Entry:
    """A label in a file. `line` from 1; `trial` as the file names it, "" if it does not; `texts`: the item's text, in
    parts or whole, empty if missing; `value` None: not labelled. `person`, `phase` and `at`: if the file has them;
    `account`: the number that stands for the person in another program.
    """

    line: int
    item: Item
    trial: str = ""
    texts: tuple[str, ...] = ()
    person: str = ""
    account: str = ""
    value: Value | None = None
    comment: str = ""
    seconds: float = 0
    gold_wrong: bool = False
    phase: Phase | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class LabelFile:
    """A file that was read. `sheet`: the kind of meta-evaluation sheet, whose entries name no trial. `shows_judge`: the
    judge's decision stands beside the label.
    """

    path: str
    name: str
    format: Format
    entries: tuple[Entry, ...]
    sheet: Literal["", "recall", "precision"] = ""
    shows_judge: bool = False


class Problems:
    """Collects everything that is wrong with one file."""

    MOST = 50

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[FileProblem] = []

    def add(self, line: int | None, reason: str, place: str = "") -> None:
        where = _("line {line}").format(line=line) if line else ""
        where = listed(part for part in (where, place) if part)
        self.found.append(FileProblem(self.file, where, reason, line))

    def raise_any(self) -> None:
        """Raises `FileProblems` if there is anything."""
        if self.found:
            raise refused(self.found)


def refused(problems: Sequence[FileProblem]) -> FileProblems:
    shown = list(problems[: Problems.MOST])
    if len(problems) > len(shown):
        text = _("and {n} more problems").format(n=len(problems) - len(shown))
        shown.append(FileProblem(problems[-1].file, "", text))
    return FileProblems(
        _("These labels cannot be taken"), shown, _("Nothing was imported, from none of the files.")
    )


_DELIMITERS = (",", ";", "\t")
_MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Rows:
    """A table with column names. `rows`: the line number (from 1) and the cells by column; every row has every column."""

    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]


def read_text(path: Path) -> str:
    """The file's text, UTF-8 with or without BOM. Raises `FileProblems`."""
    problems = Problems(str(path))
    text = ""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            problems.add(None, _("is larger than {n} MB").format(n=_MOST_BYTES >> 20))
        else:
            text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        problems.add(None, _("is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8)"))
    except OSError as error:
        problems.add(None, system_words(error))
    problems.raise_any()
    return text


def parse_rows(text: str, problems: Problems) -> Rows:
    """A table with a header; commas, semicolons or tabs. What is wrong is added to `problems`."""
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    rows: list[tuple[int, dict[str, str]]] = []
    try:
        line = 1
        for cells in reader:
            at, line = line, reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not columns:
                columns = _columns(cells, at, problems)
                continue
            if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
                problems.add(at, _("has more cells than there are columns"))
                continue
            padded = [*cells, *[""] * (len(columns) - len(cells))]
            rows.append((at, dict(zip(columns, padded, strict=False))))
    except csv.Error as error:
        problems.add(reader.line_num, str(error))
    if not columns and not problems.found:
        problems.add(None, _("is empty"))
    return Rows(tuple(columns), tuple(rows))


def _columns(cells: Sequence[str], line: int, problems: Problems) -> list[str]:
    columns = [cell.strip().casefold() for cell in cells]
    while columns and not columns[-1]:
        columns.pop()
    for name in dict.fromkeys(columns):
        if columns.count(name) > 1:
            problems.add(line, _("column {name} stands twice").format(name=one_line(name, 40)))
    return columns


SHORT = 12
"""How many characters of a trial's uid stand in file names."""
FEWEST = 8
"""A shorter beginning of a uid does not identify a trial."""
_SEPARATOR = " — "


class TrialItems:
    """The items of one trial, read on demand."""

    def __init__(self, workspace: Workspace, trial: TrialRecord, tasks: dict[str, Task]) -> None:
        self.trial = trial
        self._workspace = workspace
        self._tasks = tasks

    @property
    def task(self) -> Task:
        key = f"{self.trial.task_id}@{self.trial.revision}"
        if key not in self._tasks:
            revision = self._workspace.tasks.revision(self.trial.task_id, self.trial.revision)
            self._tasks[key] = revision.task
        return self._tasks[key]

    @cached_property
    def prediction(self) -> Prediction:
        return prediction_of(self._events)

    @cached_property
    def _events(self) -> Sequence[Event]:
        return self._workspace.runs.events(self.trial.id)

    def texts(self, item: Item) -> tuple[str, ...] | None:
        """The item's text, a triple in three parts; None if the trial has no such item."""
        match item.kind:
            case ItemKind.PREDICTED:
                triples = triples_of(self.prediction) or ()
                if item.index >= len(triples):
                    return None
                triple = triples[item.index]
                return triple.head, triple.relation, triple.tail
            case ItemKind.STATUS | ItemKind.CUE | ItemKind.LEAK:
                return self._said(item)
            case _:
                element = element_of(self.task, item)
                if element is None:
                    return None
                return element.parts or (gold_item(self.task, item).text,)

    def fits(self, item: Item, texts: Sequence[str]) -> bool:
        """Whether `texts` in a file match the item."""
        here = self.texts(item)
        if here is None or not texts:
            return here is not None
        if len(texts) == len(here):
            return all(comparable(a) == comparable(b) for a, b in zip(texts, here, strict=True))
        return comparable(_SEPARATOR.join(texts)) == comparable(_SEPARATOR.join(here))

    def _said(self, item: Item) -> tuple[str, ...] | None:
        """What the status, the cue or the leak is about: the agent's turn, or the user's reply."""
        agent = ""
        for event in self._events:
            match event.body:
                case AgentSpoke(reply=reply):
                    agent = reply.text
                case UserSpoke(turn=turn, reply=reply) if turn == item.index:
                    return (reply.text if item.kind is ItemKind.LEAK else agent,)
                case _:
                    pass
        return None


class Trials:
    """The trials of a run, or of all runs, found by number, uid or its beginning."""

    def __init__(self, workspace: Workspace, run_id: int | None = None) -> None:
        """Raises `NotFound` for an unknown run."""
        if run_id is not None:
            workspace.runs.get(run_id)
        runs = [run_id] if run_id is not None else [run.id for run in workspace.runs.all()]
        tasks: dict[str, Task] = {}
        self.all = [
            TrialItems(workspace, trial, tasks)
            for number in runs
            for trial in workspace.runs.trials(number)
        ]
        self.by_id = {items.trial.id: items for items in self.all}
        self._by_uid = {items.trial.uid: items for items in self.all}

    def named(self, name: str) -> TrialItems | None:
        """The trial with this uid, with a unique uid that begins so, or with this number in the workspace."""
        if name in self._by_uid:
            return self._by_uid[name]
        if name.isascii() and name.isdigit() and len(name) < FEWEST:
            return self.by_id.get(int(name))
        found = [uid for uid in self._by_uid if len(name) >= FEWEST and uid.startswith(name)]
        return self._by_uid[found[0]] if len(found) == 1 else None

    def in_name(self, name: str) -> TrialItems | None:
        """The trial the beginning of whose uid (12 characters) stands in a file's name, if it is the only one."""
        found = [items for uid, items in self._by_uid.items() if uid[:SHORT] in name]
        return found[0] if len(found) == 1 else None

    def of_triples(self) -> Iterable[TrialItems]:
        """Those in which triples are handed in."""
        return (items for items in self.all if CORE[items.trial.family].handed_in == "triples")
