"""Trials as files name them, and what their items say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.annotate.labels_io.words import comparable
from cuecard.core.events import AgentSpoke, Event, UserSpoke
from cuecard.core.prediction import Prediction, TriplesPrediction
from cuecard.core.tasks import Graph, Table, Task
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Item, ItemKind
from cuecard.lab.items import gold_item
from cuecard.store.records import TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

SHORT = 12
"""So much of a trial's uid names it in file names."""
FEWEST = 8
"""Less of a uid names no trial."""
_SEPARATOR = " — "


class TrialItems:
    """The items of one trial, read when they are asked for."""

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
        """What the item says, a triple by its parts; None if the trial has no such item."""
        gold = self.task.gold
        match item.kind:
            case ItemKind.TRIPLE:
                if not isinstance(gold, Graph) or item.index >= len(gold.triples):
                    return None
                return gold.named(gold.triples[item.index])
            case ItemKind.PREDICTED:
                found = self.prediction
                if not isinstance(found, TriplesPrediction) or item.index >= len(found.triples):
                    return None
                triple = found.triples[item.index]
                return triple.head, triple.relation, triple.tail
            case ItemKind.CELL | ItemKind.ROW:
                if not isinstance(gold, Table) or item.index >= len(gold.rows):
                    return None
                named = item.kind is ItemKind.ROW or item.column in gold.column_names
                return (gold_item(self.task, item).text,) if named else None
            case ItemKind.ANSWER:
                unfit = isinstance(gold, Graph | Table) or item.index
                return None if unfit else (gold_item(self.task, item).text,)
            case ItemKind.STATUS | ItemKind.CUE | ItemKind.LEAK:
                return self._said(item)

    def fits(self, item: Item, texts: Sequence[str]) -> bool:
        """Whether a file that says `texts` of the item speaks of what is here."""
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
        """The trial with this uid, with the one uid that begins so, or with this number here."""
        if name in self._by_uid:
            return self._by_uid[name]
        if name.isascii() and name.isdigit() and len(name) < FEWEST:
            return self.by_id.get(int(name))
        found = [uid for uid in self._by_uid if len(name) >= FEWEST and uid.startswith(name)]
        return self._by_uid[found[0]] if len(found) == 1 else None

    def in_name(self, name: str) -> TrialItems | None:
        """The one trial whose uid begins a file's name tells, in 12 characters."""
        found = [items for uid, items in self._by_uid.items() if uid[:SHORT] in name]
        return found[0] if len(found) == 1 else None

    def graphs(self) -> Iterable[TrialItems]:
        return (items for items in self.all if items.trial.family == "graph")
