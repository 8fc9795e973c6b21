"""A person's walk through a queue of items to label, blind until each is labelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from cuecard.annotate.authoring.session import IDLE, WorkedTime
from cuecard.annotate.labelling.views import (
    BlindTranscript,
    Draft,
    Drafts,
    EvidenceRoom,
    GoldAround,
    LabelView,
    MemoryDrafts,
    Pace,
    Revealed,
    Target,
    gold_around,
    revealed_of,
    turn_of,
    visible,
)
from cuecard.core.engine.events import Event
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import DatabaseAway, NotAllowed
from cuecard.core.evaluation.items import PredictedItem, predicted_items
from cuecard.core.evaluation.plans import no_exam
from cuecard.core.i18n import _
from cuecard.core.label_records import Label, LabelValue
from cuecard.core.verdicts import ItemKind

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


class Source(Protocol):
    """A queue of items. `judge`: whose decisions are revealed, "" for the first there is."""

    judge: str

    def waiting(self) -> int:
        """How many items wait for the person."""
        ...

    def next(self, limit: int) -> list[Target]:
        """The first `limit` items of the queue, in the person's own order."""
        ...


class VerdictSource:
    """Items that judges decided on and `person` has not labelled."""

    judge = ""

    def __init__(
        self, workspace: Workspace, person: str, run_id: int | None, trial_id: int | None
    ) -> None:
        if run_id is not None:
            no_exam(workspace.runs.get(run_id))
        self._verdicts, self._person = workspace.verdicts, person
        self._run_id, self._trial_id = run_id, trial_id

    def waiting(self) -> int:
        return self._verdicts.waiting(self._person, run_id=self._run_id, trial_id=self._trial_id)

    def next(self, limit: int) -> list[Target]:
        found = self._verdicts.queue(
            self._person, run_id=self._run_id, trial_id=self._trial_id, limit=limit
        )
        return [Target(trial_id=v.trial_id, item=v.item, verdict_id=v.verdict_id) for v in found]


class SetSource:
    """The items of a labelling set that wait for `person`."""

    def __init__(self, workspace: Workspace, person: str, set_id: int) -> None:
        self._sets, self._person, self._set_id = workspace.label_sets, person, set_id
        judge = self._sets.get(set_id).plan.get("judge")
        self.judge = judge if isinstance(judge, str) else ""

    def waiting(self) -> int:
        return self._sets.left(self._person).get(self._set_id, 0)

    def next(self, limit: int) -> list[Target]:
        found = self._sets.queue(self._set_id, self._person, limit=limit)
        return [Target(trial_id=s.trial_id, item=s.item) for s in found]


class ListSource:
    """A given list of items, in its order, labelled or not."""

    judge = ""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = list(dict.fromkeys(targets))

    def waiting(self) -> int:
        return len(self._targets)

    def next(self, limit: int) -> list[Target]:
        return self._targets[:limit]


_BATCH = 200
_LOW = 60
"""With fewer items ahead, more are fetched."""
_AHEAD = 4
"""How many items ahead have their evidence read."""


class LabelSession:
    """One person's walk through items they have not labelled: of one run or trial, of all verdicts, of a labelling set
    (`over_set`), or of a list (`over_items`).

    Blocks on the database. Labels are saved at once; only the order of the walk is kept here. Before `label`, nothing
    shows decisions of machines or other people. `prepare` may run on another thread than the rest.
    """

    def __init__(
        self,
        workspace: Workspace,
        person: str,
        run_id: int | None = None,
        trial_id: int | None = None,
        *,
        source: Source | None = None,
        drafts: Drafts | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._workspace, self._person = workspace, person
        self._source = source or VerdictSource(workspace, person, run_id, trial_id)
        self._drafts = drafts or MemoryDrafts()
        self._clock = clock
        self._worked = WorkedTime(idle=IDLE, portion=float("inf"))
        self._evidence = EvidenceRoom(workspace)
        self._growing = threading.Lock()
        self._items: list[Target] = []
        self._known: set[Target] = set()
        self._labels: dict[Target, Label] = {}
        self._given: set[Target] = set()
        self._timed: set[Target] = set()
        self._revealed: set[Target] = set()
        self._position = 0
        self._all_seen = False
        self._seconds = 0.0
        self._waiting = self._source.waiting()
        self._refill()

    @classmethod
    def over_set(
        cls, workspace: Workspace, person: str, set_id: int, *, drafts: Drafts | None = None
    ) -> LabelSession:
        """A walk through what waits for `person` in a labelling set. Raises `NotFound`."""
        return cls(workspace, person, source=SetSource(workspace, person, set_id), drafts=drafts)

    @classmethod
    def over_items(
        cls,
        workspace: Workspace,
        person: str,
        targets: Sequence[Target],
        *,
        drafts: Drafts | None = None,
    ) -> LabelSession:
        """A walk through given items, whether or not `person` has labelled them before."""
        session = cls(workspace, person, source=ListSource(targets), drafts=drafts)
        for target in session._items:
            if past := workspace.verdicts.item_history(target.trial_id, target.item, person):
                session._labels[target] = past[-1]
        return session

    @property
    def current(self) -> LabelView | None:
        """The item to label now; None when nothing is left."""
        if self._position >= len(self._items):
            return None
        target = self._items[self._position]
        view = self._evidence.view(target)
        return view.model_copy(
            update={
                "mine": self._labels.get(target),
                "draft": self._drafts.load(target),
                "revealed": target in self._revealed,
            }
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
        return len(self._given)

    @property
    def skipped(self) -> int:
        """Items that were passed without a label in this walk."""
        passed = self._items[: self._position]
        return sum(target not in self._labels for target in passed)

    @property
    def pace(self) -> Pace:
        return Pace(timed=len(self._timed), seconds=self._seconds)

    def touch(self) -> None:
        """Note that the person is at work (a key was pressed, an item came up), for the time taken."""
        self._worked.key(self._clock())

    def all_predicted(self) -> tuple[PredictedItem, ...]:
        """Everything the agent handed in, in its order."""
        target = self._target()
        return predicted_items(self._evidence.of(target.trial_id).prediction, target.item.column)

    def gold_around(self) -> GoldAround:
        """The neighbourhood of the item in the gold, and the whole gold."""
        target = self._target()
        task = self._evidence.of(target.trial_id).task
        return gold_around(task, self._evidence.view(target))

    def transcript(self) -> BlindTranscript:
        """The dialogue without machines' decisions, and the turn the item comes from."""
        target = self._target()
        evidence = self._evidence.of(target.trial_id)
        events = visible(target, evidence.outline.events, labelled=target in self._labels)
        return BlindTranscript(
            trial_id=target.trial_id,
            events=events,
            left_out=frozenset(evidence.outline.left_out),
            turn=turn_of(target, evidence.task, evidence.prediction, events),
        )

    def whole(self, *seqs: int) -> tuple[Event, ...]:
        """These events of the transcript with their large texts."""
        target = self._target()
        allowed = {event.seq for event in self.transcript().events} & set(seqs)
        return visible(
            target, self._workspace.runs.whole(target.trial_id, *sorted(allowed)), labelled=True
        )

    def label(
        self,
        value: LabelValue | CheckpointStatus,
        comment: str | None = None,
        *,
        gold_wrong: bool | None = None,
    ) -> Label:
        """Label the current item (again); the walk stays on it so that it can be revealed. `comment` and
        `gold_wrong` None: as drafted, or as in the label before.

        Raises `NotAllowed` when nothing is left to label, or for a value that answers another question.
        """
        target = self._target()
        _check(target, value)
        noted = self._noted(target)
        given = self._record(
            target,
            value,
            Draft(
                comment=noted.comment if comment is None else comment,
                gold_wrong=noted.gold_wrong if gold_wrong is None else gold_wrong,
            ),
        )
        self._drafts.save(target, Draft())
        return given

    def note(self, comment: str | None = None, *, gold_wrong: bool | None = None) -> None:
        """Set the comment or `gold_wrong` of the current item. If it is labelled, it is labelled again with the same
        value; otherwise they are kept as a draft.
        """
        target = self._target()
        noted = self._noted(target)
        draft = Draft(
            comment=noted.comment if comment is None else comment,
            gold_wrong=noted.gold_wrong if gold_wrong is None else gold_wrong,
        )
        mine = self._labels.get(target)
        if mine is None:
            self._drafts.save(target, draft)
        elif draft != noted:
            self._record(target, mine.value, draft)

    def reveal(self) -> Revealed:
        """The decision on the current item; later labels on it count as revealed. Raises `NotAllowed` before it is
        labelled.
        """
        target = self._target()
        evidence = self._evidence.of(target.trial_id)
        revealed = revealed_of(
            self._workspace,
            target,
            self._person,
            self._labels.get(target),
            evidence.prediction,
            self._source.judge,
        )
        self._revealed.add(target)
        return revealed

    def next(self) -> LabelView | None:
        """Go to the next item. A skipped item comes again in a later session."""
        self._take_seconds()
        self._position = min(self._position + 1, len(self._items))
        if self._position >= len(self._items):
            self._refill()
        return self.current

    def back(self) -> LabelView | None:
        """Go back to the previous item, to read it or label it again."""
        self._take_seconds()
        self._position = max(self._position - 1, 0)
        return self.current

    def prepare(self) -> bool:
        """Read ahead in small steps, so that the next item shows at once; gives whether there is more to do. The
        position stays.
        """
        start = self._position + 1
        for target in self._items[start : start + _AHEAD]:
            if not self._evidence.has(target):
                self._evidence.view(target)
                return True
        if not self._all_seen and len(self._items) - self._position < _LOW:
            self._refill()
            return not self._all_seen
        return False

    def _target(self) -> Target:
        if self._position >= len(self._items):
            raise NotAllowed(_("Nothing to label"), _("Every item here has your label."))
        return self._items[self._position]

    def _noted(self, target: Target) -> Draft:
        mine = self._labels.get(target)
        if mine is None:
            return self._drafts.load(target)
        return Draft(comment=mine.comment, gold_wrong=mine.gold_wrong)

    def _record(self, target: Target, value: LabelValue | CheckpointStatus, said: Draft) -> Label:
        self.touch()
        seconds = self._take_seconds()
        try:
            given = self._save(target, value, said, seconds)
        except DatabaseAway:
            given = Label(
                verdict_id=target.verdict_id,
                trial_id=target.trial_id,
                item_key=target.item.key,
                person=self._person,
                value=value,
                comment=said.comment,
                created_at=datetime.now(UTC),
                seconds=seconds,
                gold_wrong=said.gold_wrong,
            )
            if not self._drafts.give(target, given):
                raise
        self._labels[target] = given
        self._given.add(target)
        self._seconds += seconds
        if seconds > 0:
            self._timed.add(target)
        return given

    def _save(
        self, target: Target, value: LabelValue | CheckpointStatus, said: Draft, seconds: float
    ) -> Label:
        verdicts = self._workspace.verdicts
        if target.verdict_id:
            return verdicts.label(
                target.verdict_id,
                self._person,
                value,
                said.comment,
                seconds=seconds,
                gold_wrong=said.gold_wrong,
            )
        return verdicts.label_item(
            target.trial_id,
            target.item,
            self._person,
            value,
            said.comment,
            seconds=seconds,
            gold_wrong=said.gold_wrong,
        )

    def _take_seconds(self) -> float:
        """The seconds of work since the item came up or was labelled last."""
        seconds = self._worked.rest()
        self.touch()
        return seconds

    def _refill(self) -> None:
        # What was labelled here has left the queue; what was skipped still stands in it.
        passed = len(self._known) - len(self._given)
        found = self._source.next(_BATCH + passed)
        with self._growing:
            new = [target for target in found if target not in self._known]
            self._known.update(new)
            self._items += new
            self._all_seen = not new


def _check(target: Target, value: LabelValue | CheckpointStatus) -> None:
    of_status = target.item.kind is ItemKind.STATUS
    if isinstance(value, CheckpointStatus) is not of_status and value is not LabelValue.UNSURE:
        raise NotAllowed(
            _("That answers another question"),
            _("A checkpoint takes one of the eight statuses, anything else yes or no."),
        )
