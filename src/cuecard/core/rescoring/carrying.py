"""From a judgement on one revision to one on the next: what is the same keeps its verdict, the rest is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cuecard.core.prediction import Prediction
from cuecard.core.rescoring.items import Fate, ItemChange, item_changes
from cuecard.core.tasks import Graph, Node, Table, Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict


@dataclass(frozen=True)
class Asked:
    """What a judge is asked in the place of the whole: `task` holds only the gold that is open. `place` says what
    its verdict on an item of that task is about in the new revision, with the prediction's own indices; None for
    an item that is not asked about. `match` does the same for how two tables were laid over each other.
    """

    task: Task
    prediction: Prediction
    place: Callable[[Verdict], Verdict | None]
    match: Callable[[TableMatch | None], TableMatch | None] = lambda match: match


@dataclass(frozen=True)
class Carry:
    """`kept`: verdicts on the new revision's items, as they were given; `asked`: None where nothing is open.
    `open`: the items that are asked about. `changes`: of the gold.
    """

    changes: tuple[ItemChange, ...]
    kept: Mapping[str, Verdict]
    open: tuple[Item, ...]
    asked: Asked | None
    table: TableMatch | None = None

    def composed(
        self,
        old: Judgement | None,
        judged: Judgement | None,
        *,
        revision_hash: str,
        trial_hash: str,
    ) -> Judgement:
        """The judgement on the new revision: what was kept of `old`, and what `judged` says of what was asked. An
        item without a verdict in it is unjudged. Raises `ValueError` where there is neither.
        """
        made = judged or old
        if made is None or (self.asked is not None and judged is None):
            raise ValueError("nothing was judged")
        found = dict(self.kept)
        table = self.table
        if self.asked is not None and judged is not None:
            placed = (self.asked.place(verdict) for verdict in judged.verdicts)
            found.update({verdict.item.key: verdict for verdict in placed if verdict})
            table = self.asked.match(judged.table)
        items = [change.new for change in self.changes if change.new is not None]
        unjudged = Decision.UNJUDGED
        return Judgement(
            judge=made.judge,
            revision_hash=revision_hash,
            prompt_hash=made.prompt_hash,
            trial_hash=trial_hash,
            verdicts=tuple(
                found.get(item.key) or Verdict(item=item, decision=unjudged) for item in items
            ),
            table=table,
        )


def carry(old: Task, new: Task, prediction: Prediction, judgement: Judgement | None) -> Carry:
    """What `judgement`, made on `old`, still says of `prediction` on `new`. What it left unjudged is open; without
    a judgement everything is.
    """
    from cuecard.core.rescoring.tables import carry_table

    changes = item_changes(old, new)
    verdicts = {v.item.key: v for v in judgement.verdicts} if judgement else {}
    if isinstance(new.gold, Table):
        return carry_table(old, new, prediction, judgement, changes)
    kept: dict[str, Verdict] = {}
    for change in changes:
        if change.fate is Fate.SAME and change.old and change.new:
            verdict = verdicts.get(change.old.key)
            if verdict and verdict.decision is not Decision.UNJUDGED:
                kept[change.new.key] = verdict.model_copy(update={"item": change.new})
    items = [change.new for change in changes if change.new is not None]
    left = tuple(item for item in items if item.key not in kept)
    asked = _asked(new, prediction, left) if left else None
    return Carry(changes, kept, left, asked)


def whole(new: Task, prediction: Prediction, changes: tuple[ItemChange, ...]) -> Carry:
    """Everything is asked."""
    items = tuple(change.new for change in changes if change.new is not None)
    return Carry(changes, {}, items, Asked(new, prediction, lambda verdict: verdict))


def _asked(new: Task, prediction: Prediction, items: tuple[Item, ...]) -> Asked:
    graph = new.gold
    if not isinstance(graph, Graph):
        return Asked(new, prediction, lambda verdict: verdict)
    indices = [item.index for item in items]
    # Judges tell entities apart by all that there are, so all nodes stay.
    nodes = tuple(
        next((node for node in graph.nodes if node.id == id_), None) or Node(id=id_)
        for id_ in graph.node_ids
    )
    part = Graph(nodes=nodes, triples=tuple(graph.triples[index] for index in indices))

    def place(verdict: Verdict) -> Verdict | None:
        if verdict.item.kind is not ItemKind.TRIPLE or verdict.item.index >= len(indices):
            return None
        item = Item(kind=ItemKind.TRIPLE, index=indices[verdict.item.index])
        return verdict.model_copy(update={"item": item})

    return Asked(new.model_copy(update={"gold": part}), prediction, place)
