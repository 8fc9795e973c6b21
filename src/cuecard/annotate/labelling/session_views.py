"""What a labeller may see of an item, and what is told once it is labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from cuecard.core.parts import CheckpointStatus, PlayerRef
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item
from cuecard.lab.items import GoldItem, PredictedItem
from cuecard.lab.subjects import Said
from cuecard.store.label_records import Label


@dataclass(frozen=True)
class Target:
    """An item of a trial that is to be labelled. `verdict_id`: of a verdict on it, 0 if none is known."""

    trial_id: int
    item: Item
    verdict_id: int = 0


class Draft(Frozen):
    """What a person says about an item before they label it; it goes with the label."""

    comment: str = ""
    gold_wrong: bool = False


class Drafts(Protocol):
    """Where drafts are kept until their item is labelled."""

    def load(self, target: Target) -> Draft: ...

    def save(self, target: Target, draft: Draft) -> None: ...


class MemoryDrafts:
    """Drafts that last as long as the session."""

    def __init__(self) -> None:
        self._drafts: dict[Target, Draft] = {}

    def load(self, target: Target) -> Draft:
        return self._drafts.get(target, Draft())

    def save(self, target: Target, draft: Draft) -> None:
        self._drafts[target] = draft


class LabelView(Frozen):
    """What a labeller may see of an item: what it is about (`gold`) and what lies beside it. `closest`: the
    predicted items that look most like it (beside a predicted triple: gold triples); `said`: the words of
    the dialogue that it is about. `predicted` counts all that the agent handed in, `unusable` says why
    there is nothing. `mine` is this person's own label, once given; `draft` what goes with the next one.
    `revealed`: this person has been shown the decision in this session.
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
    said: tuple[Said, ...] = ()
    predicted: int
    unusable: str
    mine: Label | None = None
    draft: Draft = Draft()
    revealed: bool = False


class Revealed(Frozen):
    """What was decided and on what grounds; only for those who have labelled. `judge`: the judge or the
    user part; None if no machine decided. `agrees`: None where either side is undecided.
    """

    judge: PlayerRef | None
    decision: Decision | CheckpointStatus
    supporting: tuple[PredictedItem, ...] = ()
    rationale: str = ""
    agrees: bool | None = None


class Pace(Frozen):
    """`seconds` of work, idle stretches left out, on the `timed` items whose time is known."""

    timed: int = 0
    seconds: float = 0

    @property
    def per_hour(self) -> float | None:
        """Items an hour; None before any item's time is known."""
        return 3600 * self.timed / self.seconds if self.timed else None

    @property
    def each(self) -> float | None:
        """Seconds an item."""
        return self.seconds / self.timed if self.timed else None
