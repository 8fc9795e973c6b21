"""Which items are meant, and what people said of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.labels_io.trials import TrialItems, Trials
from cuecard.core.parts import CheckpointStatus
from cuecard.core.prediction import TriplesPrediction
from cuecard.core.verdicts import Decision, Item, ItemKind
from cuecard.lab.decisions import decisions_of
from cuecard.store.label_records import Label

if TYPE_CHECKING:
    from cuecard.store.sight import Sight
    from cuecard.store.workspace import Workspace

Decided = tuple[str, Decision | CheckpointStatus, tuple[int, ...]]
"""Who decided, what, and the indices that support it."""


@dataclass(frozen=True)
class Scope:
    """The items of a set, or of a run (None: of all): those with labels, and with `unlabelled` those that
    wait for one too, which judges decided on or, of graph tasks, the agent predicted. `history`: every
    label, those given after the judge's decision was seen and those that were changed since, instead of the
    newest blind one of each person.
    """

    run_id: int | None = None
    set_id: int | None = None
    unlabelled: bool = False
    history: bool = False


@dataclass(frozen=True)
class ItemLabels:
    """`labels` by time. `judge` and `decision`: of the first judge, if it was asked for; `supporting` as in
    `Verdict`, of a predicted triple the gold ones that it supports.
    """

    trial: TrialItems
    item: Item
    texts: tuple[str, ...]
    labels: tuple[Label, ...] = ()
    judge: str = ""
    decision: Decision | CheckpointStatus | None = None
    supporting: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        return " — ".join(self.texts)


def items_in(
    workspace: Workspace,
    scope: Scope,
    person: str = "",
    *,
    verdicts: bool = False,
    sight: Sight | None = None,
) -> Iterator[ItemLabels]:
    """By trial and item, sets in their order. `person`: only their labels. `sight`: of whoever is told; of what they must
    not see there are only their own labels. Raises `NotFound`.
    """
    trials = Trials(workspace, scope.run_id)
    labels: dict[tuple[int, str], list[Label]] = defaultdict(list)
    phase = None if scope.history else "blind"
    for label in sorted(workspace.verdicts.item_labels(phase=phase), key=lambda x: x.created_at):
        if label.trial_id in trials.by_id and person in ("", label.person):
            labels[label.trial_id, label.item_key].append(label)
    items = list(_items(workspace, scope, trials, labels))
    here = {trial_id for trial_id, _item in items} & set(trials.by_id)
    decided = _decided(workspace, scope, sorted(here)) if verdicts else {}
    for trial_id, item in items:
        trial = trials.by_id.get(trial_id)
        texts = trial.texts(item) if trial else None
        if trial is None or texts is None:
            continue
        said = labels.get((trial_id, item.key), [])
        judge, decision, supporting = decided.get((trial_id, item.key), ("", None, ()))
        reader = sight.person if sight else ""
        tells = decision is not None or any(label.person != reader for label in said)
        if sight and tells and not sight.may_tell(trial_id, item):
            said = [label for label in said if label.person == reader]
            judge, decision, supporting = "", None, ()
        yield ItemLabels(
            trial=trial,
            item=item,
            texts=texts,
            labels=tuple(said),
            judge=judge,
            decision=decision,
            supporting=supporting,
        )


def _items(
    workspace: Workspace, scope: Scope, trials: Trials, labelled: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, Item]]:
    if scope.set_id is not None:
        known = set(labelled)
        for drawn in workspace.label_sets.items(scope.set_id):
            if scope.unlabelled or (drawn.trial_id, drawn.item.key) in known:
                yield drawn.trial_id, drawn.item
        return
    found = {(trial_id, Item.of_key(key)) for trial_id, key in labelled}
    if scope.unlabelled:
        for record in workspace.verdicts.records(scope.run_id):
            found.add((record.trial_id, record.item))
        for trial in trials.graphs():
            if isinstance(trial.prediction, TriplesPrediction):
                found |= {
                    (trial.trial.id, Item(kind=ItemKind.PREDICTED, index=index))
                    for index in range(len(trial.prediction.triples))
                }
    kinds = list(ItemKind)
    yield from sorted(found, key=lambda x: (x[0], kinds.index(x[1].kind), x[1].index, x[1].column))


def _decided(
    workspace: Workspace, scope: Scope, trial_ids: Collection[int]
) -> dict[tuple[int, str], Decided]:
    """What machines decided on the items of these trials, and what supports that by the first judge."""
    supporting: dict[tuple[int, str], tuple[int, ...]] = {}
    gold: dict[tuple[int, int], list[int]] = defaultdict(list)
    first: dict[int, str] = {}
    for record in workspace.verdicts.records(scope.run_id):
        if first.setdefault(record.trial_id, record.judge.name) != record.judge.name:
            continue
        supporting[record.trial_id, record.item.key] = record.supporting
        if record.decision is Decision.YES and record.item.kind is ItemKind.TRIPLE:
            for index in record.supporting:
                gold[record.trial_id, index].append(record.item.index)
    for (trial_id, index), found in gold.items():
        supporting[trial_id, Item(kind=ItemKind.PREDICTED, index=index).key] = tuple(found)
    return {
        (trial_id, key): (decision.by.name, decision.value, supporting.get((trial_id, key), ()))
        for trial_id in trial_ids
        for decision in decisions_of(workspace, trial_id, tuple(ItemKind), first.get(trial_id, ""))
        for key in (decision.item.key,)
    }
