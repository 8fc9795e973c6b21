"""Drift: what the same judge says of the same items months later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.coefficients import percent_coefficient
from cuecard.annotate.agreement.linearisation import linearised
from cuecard.annotate.agreement.ratings import Ratings
from cuecard.annotate.labelling.comparison_inputs import Case
from cuecard.annotate.labelling.workshop import NO, YES, truth_of
from cuecard.core.i18n import _
from cuecard.core.tables.table import Shown, Table, cell

if TYPE_CHECKING:
    from cuecard.core.label_records import JudgementRecord


@dataclass(frozen=True)
class RepeatedDecision:
    """One item that the same judge decided twice. `truth`: what people say, "" if nobody did."""

    judge: str
    trial_id: int
    task: str
    first: str
    last: str
    truth: str


@dataclass(frozen=True)
class Drift:
    """What a judge with the same model and prompt said first and last of the same trials."""

    judge: str
    since: datetime
    until: datetime
    items: tuple[RepeatedDecision, ...]


def drifts_of(
    records: Sequence[JudgementRecord], task_of: Callable[[int], str], cases: Collection[Case]
) -> tuple[Drift, ...]:
    """From all judgements of some trials, in any order."""
    truths = {(case.trial_id, case.item.key): truth_of(case) for case in cases}
    by_stamp: dict[tuple[int, str], list[JudgementRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.id):
        of = record.judgement
        stamp = of.judge.model_dump_json() + of.prompt_hash + of.revision_hash + of.trial_hash
        by_stamp[record.trial_id, stamp].append(record)
    pairs: dict[str, list[tuple[JudgementRecord, JudgementRecord]]] = defaultdict(list)
    for found in by_stamp.values():
        if len(found) > 1:
            pairs[found[0].judgement.judge.name].append((found[0], found[-1]))
    drifts: list[Drift] = []
    for judge, both in sorted(pairs.items()):
        items: list[RepeatedDecision] = []
        for first, last in both:
            before = {v.item.key: v.decision.value for v in first.judgement.verdicts}
            for verdict in last.judgement.verdicts:
                key = verdict.item.key
                values = before.get(key, ""), verdict.decision.value
                if set(values) <= {YES, NO}:
                    truth = truths.get((first.trial_id, key), "")
                    items.append(
                        RepeatedDecision(
                            judge, first.trial_id, task_of(first.trial_id), *values, truth
                        )
                    )
        since = min(first.created_at for first, _last in both)
        drifts.append(Drift(judge, since, max(last.created_at for _f, last in both), tuple(items)))
    return tuple(drifts)


def drift_table(drifts: Sequence[Drift]) -> Table | None:
    """How many decisions of each judge changed, and whether to or away from what people say."""
    if not drifts:
        return None

    def lines() -> Iterator[Sequence[Shown]]:
        for drift in drifts:
            items = drift.items
            rows = [(f"{n}", "first", item.first) for n, item in enumerate(items)]
            rows += [(f"{n}", "last", item.last) for n, item in enumerate(items)]
            ratings = Ratings.from_rows(rows, domain=(YES, NO))
            moved = [item for item in items if item.first != item.last]
            yield (
                drift.judge,
                f"{drift.since:%Y-%m-%d}",
                f"{drift.until:%Y-%m-%d}",
                cell(len(items), trials={item.trial_id for item in items}),
                linearised(percent_coefficient(ratings), [item.task for item in items]),
                *(
                    cell(len(of), trials=dict.fromkeys(item.trial_id for item in of))
                    for of in (
                        [item for item in moved if item.last == YES],
                        [item for item in moved if item.last == NO],
                        [item for item in moved if item.truth == item.last],
                        [item for item in moved if item.truth == item.first],
                    )
                ),
            )

    return Table.of(
        _("Drift: the same judge on the same items, first and last"),
        (
            _("Judge"),
            _("First"),
            _("Last"),
            _("Items"),
            _("Percent the same"),
            _("no to yes"),
            _("yes to no"),
            _("towards people"),
            _("away from people"),
        ),
        lines(),
        (
            _(
                "Only judgements with the same model, settings and prompt are held against each other."
            ),
        ),
        view="workshop",
    )
