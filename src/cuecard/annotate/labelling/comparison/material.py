"""What is compared: items with what machines decided on them and what people said, nothing computed yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from cuecard.annotate.agreement.consensus import most_said
from cuecard.annotate.sampling.draw import bare_classes, weights_of
from cuecard.core.parts import CheckpointStatus
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.store.label_records import SetItem

Subject = Literal["gold", "predicted", "row", "cue", "leak", "status"]
"""What the labels of one comparison are about. Different subjects are different questions, so they are never
put into one figure.
"""
SUBJECTS: tuple[Subject, ...] = get_args(Subject)
KINDS: dict[Subject, tuple[ItemKind, ...]] = {
    "gold": (ItemKind.TRIPLE, ItemKind.CELL, ItemKind.ANSWER),
    "predicted": (ItemKind.PREDICTED,),
    "row": (ItemKind.ROW,),
    "cue": (ItemKind.CUE,),
    "leak": (ItemKind.LEAK,),
    "status": (ItemKind.STATUS,),
}
GroupBy = Literal["family", "language", "relation", "agent", "kind"]
GROUPINGS: tuple[GroupBy, ...] = get_args(GroupBy)


def subject_of(kind: ItemKind) -> Subject:
    return next(subject for subject, kinds in KINDS.items() if kind in kinds)


def domain_of(subject: Subject) -> tuple[str, ...]:
    """The labels that can be given, used or not; "cannot tell" is a missing label."""
    if subject == "status":
        return tuple(status.value for status in CheckpointStatus)
    return (Decision.YES.value, Decision.NO.value)


class Scope(Frozen):
    """Which items: of these runs (none: all), or of a labelling set, whose probabilities then weigh them."""

    runs: tuple[int, ...] = ()
    set_id: int | None = None
    subject: Subject | None = None


@dataclass(frozen=True)
class Case:
    """One item that somebody labelled. Values are missing where a judge left it unjudged or a person cannot
    tell. `labels`: blind ones, `people`: everybody who gave one, also "cannot tell"; `revealed`: what the same people said once they had seen the decision.
    `cause`: of the error that
    adjudication found. `weight`: the inverse of the probability with which it was drawn, where nothing else is known
    of that.
    """

    trial_id: int
    item: Item
    task: str = ""
    revision: int = 0
    family: str = ""
    language: str = ""
    relation: str = ""
    agent: str = ""
    decisions: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    people: frozenset[str] = frozenset()
    revealed: Mapping[str, str] = field(default_factory=dict[str, str])
    adjudicated: str = ""
    cause: str = ""
    weight: float = 1

    @property
    def name(self) -> str:
        return f"{self.trial_id}/{self.item.key}"

    @property
    def key(self) -> tuple[int, str]:
        return self.trial_id, self.item.key

    @property
    def majority(self) -> str:
        """What most people said; "" where nobody said anything or none of the values is ahead."""
        return most_said(self.labels.values())

    def group(self, by: GroupBy) -> str:
        return self.item.kind.value if by == "kind" else getattr(self, by)


@dataclass(frozen=True)
class Material:
    """`population`: items that machines decided on, labelled or not (None: not counted). `unsure`: labels
    that say "cannot tell", `unjudged`: decisions that judges left open. `subjects`: how many items of each
    subject somebody labelled. `drawn`: the items of this subject in the labelling set, labelled or not, if it is about
    one.
    """

    subject: Subject
    cases: tuple[Case, ...]
    judges: tuple[str, ...]
    people: tuple[str, ...]
    baselines: tuple[str, ...] = ()
    population: int | None = None
    unsure: int = 0
    unjudged: int = 0
    subjects: Mapping[Subject, int] = field(default_factory=dict["Subject", int])
    drawn: tuple[SetItem, ...] = ()
    from_set: bool = False

    @property
    def domain(self) -> tuple[str, ...]:
        return domain_of(self.subject)

    @property
    def weighted(self) -> bool:
        """Not every item counts alike: they were drawn, or labelled, with different chances."""
        return self.weights(self.cases, lambda case: bool(case.labels)) is not None

    def weights(
        self, cases: Sequence[Case], labelled: Callable[[Case], bool]
    ) -> tuple[float, ...] | None:
        """What each of the cases stands for, where people labelled those of which `labelled` holds; None where all
        stand for as much.
        """
        known = weights_of(self.drawn, {case.key for case in self.cases if labelled(case)})
        weights = tuple(known.get(case.key, 0.0) if self.drawn else case.weight for case in cases)
        return weights if len({round(weight, 9) for weight in weights}) > 1 else None

    @property
    def bare(self) -> dict[str, float]:
        """Strata (without any: kinds) of the set of which nothing is labelled, with the share of the items that each
        stands for.
        """
        found: dict[str, float] = defaultdict(float)
        labelled = {case.key for case in self.cases if case.labels}
        for (stratum, kind), share in bare_classes(self.drawn, labelled).items():
            found[stratum or kind.value] += share
        return dict(found)

    def judged_by(self, names: Collection[str]) -> tuple[Case, ...]:
        """The cases that all of these judges decided."""
        return tuple(c for c in self.cases if all(name in c.decisions for name in names))
