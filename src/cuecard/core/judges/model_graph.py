"""Which gold triples a set of predicted triples covers, judged by a model.

A gold triple is covered if a predicted one says the same (direct) or something more specific
(subsumed), if several say it together (collective), or if it follows by going along explicit relations
through other nodes (composed).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cuecard.core.i18n import _
from cuecard.core.judges.material import likely
from cuecard.core.judges.model_asking import Asking, Questions, ask_all
from cuecard.core.judges.model_shapes import Coverage, CoverageEntry
from cuecard.core.judges.model_words import Complaint
from cuecard.core.judges.unusable import refuse_triples
from cuecard.core.parts import CallDesk
from cuecard.core.prediction import PredictedTriple
from cuecard.core.tasks import Graph
from cuecard.core.text import storable
from cuecard.core.verdicts import Decision, Item, ItemKind, Verdict

SHOWN = 400
"""Of a larger prediction, a batch sees this many triples: those nearest to its gold triples."""
_MOST_SUPPORTING = 1000
_LARGEST_INDEX = 2**31


async def judge_graph(
    asking: Asking,
    request: str,
    graph: Graph,
    predicted: Sequence[PredictedTriple],
    desk: CallDesk,
) -> tuple[Verdict, ...]:
    """One verdict per gold triple, in order; `supporting` are indices into `predicted`.

    Raises `ModelCallError` and `Halt`.
    """
    if not predicted:
        return refuse_triples(graph, _("no triples were handed in"))
    shown = _Shown(request, graph, predicted)
    questions = Questions(
        shape=Coverage,
        title="gold",
        items={i: [i, *graph.named(triple)] for i, triple in enumerate(graph.triples)},
        context=shown.context,
        accept=shown.complaint,
    )
    answers = await ask_all(asking, questions, desk)
    return tuple(
        shown.verdict(index, answers.found[index])
        if index in answers.found
        else Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision=Decision.UNJUDGED,
            rationale=answers.problems[index],
        )
        for index in range(len(graph.triples))
    )


class _Shown:
    """The prediction as each batch sees it: with the same indices everywhere."""

    def __init__(self, request: str, graph: Graph, predicted: Sequence[PredictedTriple]) -> None:
        self._request = request
        self._graph = graph
        self._predicted = predicted
        self._texts = [f"{t.head} {t.relation} {t.tail}" for t in predicted]
        self._chosen: dict[int, frozenset[int]] = {}

    def context(self, batch: Sequence[int]) -> Mapping[str, object]:
        wanted = [" ".join(self._graph.named(self._graph.triples[i])) for i in batch]
        chosen = likely(self._texts, wanted, SHOWN)
        self._chosen.update(dict.fromkeys(batch, frozenset(chosen)))
        triples = ((i, self._predicted[i]) for i in chosen)
        return {
            "request": self._request,
            "predicted": [[i, t.head, t.relation, t.tail] for i, t in triples],
            "also_called": self._also_called(batch),
        }

    def complaint(self, entry: CoverageEntry, batch: Sequence[int]) -> Complaint | None:
        del batch
        seen = self._chosen[entry.index]
        if entry.covered == "yes" and not any(index in seen for index in entry.supporting):
            return Complaint.UNSUPPORTED
        return None

    def verdict(self, index: int, entry: CoverageEntry) -> Verdict:
        covered = entry.covered == "yes"
        seen, size = self._chosen[index], len(self._predicted)
        # Indices out of range are kept and never count; one that was not shown would count.
        supporting = [
            i
            for i in dict.fromkeys(entry.supporting)
            if i in seen or (not 0 <= i < size and abs(i) < _LARGEST_INDEX)
        ]
        reason = storable(entry.reason.strip())
        if covered and entry.kind != "none":
            reason = f"{entry.kind}: {reason}" if reason else entry.kind
        return Verdict(
            item=Item(kind=ItemKind.TRIPLE, index=index),
            decision=Decision.YES if covered else Decision.NO,
            supporting=tuple(supporting[:_MOST_SUPPORTING]) if covered else (),
            rationale=reason,
        )

    def _also_called(self, batch: Sequence[int]) -> dict[str, list[str]]:
        triples = [self._graph.triples[index] for index in batch]
        names = (self._graph.names_of(end) for t in triples for end in (t.head, t.tail))
        return {name: list(aliases) for name, *aliases in names if aliases}
