"""One person labels verdicts, one after the other, blind until each is labelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.prediction import Prediction, UnusablePrediction
from cuecard.core.tasks import Family, Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.trial import prediction_of
from cuecard.core.verdicts import Decision
from cuecard.lab.items import (
    GoldItem,
    PredictedItem,
    closest_items,
    gold_item,
    predicted_items,
)
from cuecard.store.records import Label, LabelValue, VerdictItem

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

_BATCH = 200


class LabelView(Frozen):
    """What a labeller may see of a verdict: the gold item and what the agent handed in that looks
    most like it. `predicted` counts all the agent's items, `unusable` says why there are none.
    `mine` is this person's own label, once given.
    """

    verdict_id: int
    trial_id: int
    task_id: str
    revision: int
    title: str
    family: Family
    query: str
    gold: GoldItem
    closest: tuple[PredictedItem, ...]
    predicted: int
    unusable: str
    mine: Label | None


class Revealed(Frozen):
    """What the judge decided and on what grounds; only for those who have labelled."""

    judge: PlayerRef
    decision: Decision
    supporting: tuple[PredictedItem, ...]
    rationale: str
    agrees: bool | None


class LabelSession:
    """Walks through the verdicts that `person` has not labelled, of one run or trial or of all.

    Synchronous; keeps only the order of the walk, labels are in the workspace at once. Nothing it
    shows before `label` comes from the judge.
    """

    def __init__(
        self,
        workspace: Workspace,
        person: str,
        run_id: int | None = None,
        trial_id: int | None = None,
    ) -> None:
        self._workspace = workspace
        self._person = person
        self._run_id, self._trial_id = run_id, trial_id
        self._items: list[VerdictItem] = []
        self._labels: dict[int, Label] = {}
        self._evidence: dict[int, tuple[Task, str, Prediction]] = {}
        self._position = 0
        self._waiting = workspace.verdicts.waiting(person, run_id=run_id, trial_id=trial_id)
        self._refill()

    @property
    def current(self) -> LabelView | None:
        """The item to label now; None when nothing is left."""
        if self._position >= len(self._items):
            return None
        item = self._items[self._position]
        task, title, prediction = self._evidence_of(item)
        return LabelView(
            verdict_id=item.verdict_id,
            trial_id=item.trial_id,
            task_id=item.task_id,
            revision=item.revision,
            title=title,
            family=task.family,
            query=task.query,
            gold=gold_item(task, item.item),
            closest=closest_items(task, item.item, prediction),
            predicted=len(predicted_items(prediction)),
            unusable=prediction.reason if isinstance(prediction, UnusablePrediction) else "",
            mine=self._labels.get(item.verdict_id),
        )

    @property
    def position(self) -> int:
        """How many items lie before the current one in this walk."""
        return self._position

    @property
    def total(self) -> int:
        """Items in this walk: those that had no label when it began, and any that came since."""
        return max(self._waiting, len(self._items))

    @property
    def labelled(self) -> int:
        """Items labelled in this session."""
        return len(self._labels)

    def all_predicted(self) -> tuple[PredictedItem, ...]:
        """Everything the agent handed in, in its order, for who wants to look further."""
        item = self._current_item()
        return predicted_items(self._evidence_of(item)[2], item.item.column)

    def label(self, value: LabelValue | CheckpointStatus, comment: str = "") -> Label:
        """Label the current item (again); the walk stays on it so that it can be revealed.

        Raises `NotAllowed` when nothing is left to label.
        """
        item = self._current_item()
        given = self._workspace.verdicts.label(item.verdict_id, self._person, value, comment)
        self._labels[item.verdict_id] = given
        return given

    def reveal(self) -> Revealed:
        """The judge's decision on the current item. Raises `NotAllowed` before it is labelled."""
        item = self._current_item()
        record = self._workspace.verdicts.reveal(item.verdict_id, self._person)
        every = self.all_predicted()
        mine = self._labels.get(item.verdict_id)
        judged = record.decision is not Decision.UNJUDGED
        sure = mine is not None and mine.value is not LabelValue.UNSURE
        return Revealed(
            judge=record.judge,
            decision=record.decision,
            supporting=tuple(every[i] for i in record.supporting if 0 <= i < len(every)),
            rationale=record.rationale,
            agrees=mine.value.value == record.decision.value if mine and judged and sure else None,
        )

    def next(self) -> LabelView | None:
        """Go on to the next item, labelled or not; what was skipped comes up in a later session."""
        self._position = min(self._position + 1, len(self._items))
        if self._position >= len(self._items):
            self._refill()
        return self.current

    def back(self) -> LabelView | None:
        """Go back to the item before, to look again or to label it anew."""
        self._position = max(self._position - 1, 0)
        return self.current

    def _current_item(self) -> VerdictItem:
        if self._position >= len(self._items):
            raise NotAllowed(_("Nothing to label"), _("Every verdict here has your label."))
        return self._items[self._position]

    def _refill(self) -> None:
        seen = {item.verdict_id for item in self._items}
        waiting = self._workspace.verdicts.queue(
            self._person,
            run_id=self._run_id,
            trial_id=self._trial_id,
            limit=_BATCH + len(seen),
        )
        self._items += [item for item in waiting if item.verdict_id not in seen]

    def _evidence_of(self, item: VerdictItem) -> tuple[Task, str, Prediction]:
        if item.trial_id not in self._evidence:
            task = self._workspace.tasks.revision(item.task_id, item.revision).task
            prediction = prediction_of(self._workspace.runs.events(item.trial_id))
            self._evidence[item.trial_id] = (task, task.title, prediction)
        return self._evidence[item.trial_id]
