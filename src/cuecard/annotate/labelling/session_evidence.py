"""What items are labelled by, read once for each trial and kept for the trials that were looked at last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from cuecard.annotate.labelling.session_views import LabelView, Target
from cuecard.core.i18n import _
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.tasks import Task
from cuecard.core.trial import prediction_of
from cuecard.lab.items import GoldItem, closest_items, predicted_items
from cuecard.lab.subjects import said_around, subject_of
from cuecard.store.records import Outline

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")
_TASKS, _TRIALS, _VIEWS = 50, 60, 400
_CLOSEST = 8


class Recent(Generic[KeyT, ValueT]):
    """The values that were asked for last. Two threads may make the same one; neither harms."""

    def __init__(self, make: Callable[[KeyT], ValueT], limit: int) -> None:
        self._make, self._limit = make, limit
        self._kept: OrderedDict[KeyT, ValueT] = OrderedDict()

    def __contains__(self, key: KeyT) -> bool:
        return key in self._kept

    def get(self, key: KeyT) -> ValueT:
        if key in self._kept:
            return self._kept[key]
        value = self._kept[key] = self._make(key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
        return value


@dataclass(frozen=True)
class Evidence:
    """A trial's revision, what the agent handed in, and its course without large texts."""

    task: Task
    revision: int
    prediction: Prediction
    outline: Outline


class EvidenceRoom:
    """Reads evidence and makes views of it."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tasks: Recent[tuple[str, int], Task] = Recent(
            lambda key: workspace.tasks.revision(*key).task, _TASKS
        )
        self._trials: Recent[int, Evidence] = Recent(self._read, _TRIALS)
        self._views: Recent[Target, LabelView] = Recent(self._view, _VIEWS)

    def of(self, trial_id: int) -> Evidence:
        """Raises `NotFound`."""
        return self._trials.get(trial_id)

    def view(self, target: Target) -> LabelView:
        """The item as it is before anybody labels it. Raises `NotFound`."""
        return self._views.get(target)

    def has(self, target: Target) -> bool:
        """Whether the view is there at once."""
        return target in self._views

    def _read(self, trial_id: int) -> Evidence:
        trial = self._workspace.runs.trial(trial_id)
        outline = self._workspace.runs.outline(trial_id)
        return Evidence(
            task=self._tasks.get((trial.task_id, trial.revision)),
            revision=trial.revision,
            prediction=prediction_of(outline.events),
            outline=outline,
        )

    def _view(self, target: Target) -> LabelView:
        evidence, item = self.of(target.trial_id), target.item
        task, prediction, events = evidence.task, evidence.prediction, evidence.outline.events
        unusable = isinstance(prediction, UnusablePrediction)
        try:
            gold = subject_of(task, item, prediction, events)
            closest = closest_items(task, item, prediction, _CLOSEST)
            said = said_around(item, events)
        except (IndexError, ValueError):
            # Labels may come from outside, on items that this revision or trial does not have.
            gold = GoldItem(
                item=item, text=_("{item}: there is no such item").format(item=item.key)
            )
            closest, said = (), ()
        return LabelView(
            verdict_id=target.verdict_id,
            trial_id=target.trial_id,
            task_id=task.id,
            revision=evidence.revision,
            title=task.title,
            family=task.family,
            query=task.query,
            gold=gold,
            closest=closest,
            said=said,
            predicted=len(predicted_items(prediction)),
            unusable=prediction.reason if unusable else "",
        )
