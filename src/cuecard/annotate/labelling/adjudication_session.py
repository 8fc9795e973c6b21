"""An adjudicator's walk through disputed items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.annotate.labelling.adjudication import (
    Dispute,
    Outcome,
    Place,
    Why,
    adjudicate,
    disputes,
)
from cuecard.annotate.labelling.views import EvidenceRoom, LabelView, Target
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.evaluation.items import PredictedItem, predicted_items
from cuecard.core.label_records import Adjudication, LabelValue
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection

    from cuecard.store.workspace import Workspace


class AdjudicationView(Frozen):
    """A dispute as an adjudicator sees it. `item`: what it is about, None if the revision has no such item;
    `supporting`: the predicted items each machine's decision rests on; `history`: all decisions, oldest first; `party`:
    a blind label of the adjudicator's is one of the sides; `comment`: goes with the next decision.
    """

    dispute: Dispute
    item: LabelView | None
    supporting: tuple[tuple[PredictedItem, ...], ...]
    history: tuple[Adjudication, ...]
    party: bool
    comment: str = ""


class AdjudicationSession:
    """One person's walk through disputes. Blocks on the database. What it shows is saved as seen by `person`, so that
    labels they give there later are not blind.
    """

    def __init__(
        self,
        workspace: Workspace,
        person: str,
        run_ids: Collection[int] | None = None,
        set_id: int | None = None,
    ) -> None:
        """Disputes of these runs, of a labelling set, or of everything. Raises `NotFound`."""
        self._workspace, self._person = workspace, person
        self._scope = run_ids, set_id
        self._evidence = EvidenceRoom(workspace)
        self._comments: dict[Place, str] = {}
        self._all: list[Dispute] = []
        self._queue: list[Dispute] = []
        self._position = 0
        self.with_decided = False
        self._load()

    @property
    def unseen(self) -> int:
        """Disputes that this person has neither labelled nor seen."""
        seen = self._workspace.adjudications.seen(self._person)
        return sum(
            d.place not in seen and all(x.person != self._person for x in d.labels)
            for d in self._queue
        )

    @property
    def current(self) -> AdjudicationView | None:
        """The dispute to decide; None at the end."""
        if self._position >= len(self._queue):
            return None
        dispute = self._queue[self._position]
        trial_id, item = dispute.trial_id, dispute.item
        history = self._workspace.adjudications.open(trial_id, item, self._person)
        every = predicted_items(self._evidence.of(trial_id).prediction, item.column)
        return AdjudicationView(
            dispute=dispute,
            item=self._item(dispute),
            supporting=tuple(
                tuple(every[at] for at in side.supporting if 0 <= at < len(every))
                for side in dispute.machines
            ),
            history=tuple(history),
            party=self._person in dispute.parties,
            comment=self._comments.get(dispute.place, ""),
        )

    @property
    def position(self) -> int:
        """How many disputes lie before the current one."""
        return self._position

    @property
    def total(self) -> int:
        return len(self._queue)

    @property
    def open(self) -> int:
        """Disputes of this walk that nobody has decided."""
        return sum(dispute.decided is None for dispute in self._queue)

    @property
    def decided(self) -> int:
        """Disputes that somebody has decided, in this walk or before."""
        return sum(dispute.decided is not None for dispute in self._all)

    def decide(
        self, place: Place, value: LabelValue | CheckpointStatus, cause: Why, comment: str = ""
    ) -> Outcome:
        """Record a decision on a dispute of this walk and go on to the next one."""
        at = next(i for i, dispute in enumerate(self._queue) if dispute.place == place)
        dispute = self._queue[at]
        said = comment or self._comments.get(place, "")
        outcome = adjudicate(
            self._workspace, dispute.trial_id, dispute.item, self._person, value, cause, said
        )
        self._comments.pop(place, None)
        self._queue[at] = dispute.model_copy(update={"decided": outcome.adjudication})
        self._all = [d if d.place != place else self._queue[at] for d in self._all]
        if at == self._position:
            self.next()
        return outcome

    def comment(self, place: Place, text: str) -> None:
        """Keep a comment for the next decision on this dispute."""
        self._comments[place] = text.strip()

    def next(self) -> None:
        self._position = min(self._position + 1, len(self._queue))

    def back(self) -> None:
        self._position = max(self._position - 1, 0)

    def toggle_decided(self) -> None:
        """Include decided disputes in the walk, or leave them out; reads again and starts anew."""
        self.with_decided = not self.with_decided
        self._position = 0
        self._load()

    def _load(self) -> None:
        run_ids, set_id = self._scope
        self._all = list(disputes(self._workspace, run_ids, set_id))
        self._queue = [d for d in self._all if self.with_decided or d.decided is None]

    def _item(self, dispute: Dispute) -> LabelView | None:
        try:
            return self._evidence.view(Target(dispute.trial_id, dispute.item))
        except LookupError:
            return None
