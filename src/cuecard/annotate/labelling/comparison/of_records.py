"""Verdicts and labels at hand as material, where no task needs to be read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from cuecard.annotate.labelling.comparison.material import Case, Material
from cuecard.core.verdicts import Decision, Item
from cuecard.store.label_records import Label, LabelValue, VerdictRecord


def material_of(records: Sequence[VerdictRecord], labels: Sequence[Label]) -> Material:
    """Labels are about a verdict's item; of several of a person on one item the newest counts. Two judges'
    verdicts on the same item of the same trial are one item.
    """
    items: dict[tuple[int, str], Item] = {(r.trial_id, r.item.key): r.item for r in records}
    decisions: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    open_ = 0
    for record in sorted(records, key=lambda record: record.verdict_id):
        if record.decision is Decision.UNJUDGED:
            open_ += 1
        else:
            key = (record.trial_id, record.item.key)
            decisions[key][record.judge.name] = record.decision.value
    tasks = {record.trial_id: record.task_id for record in records}
    by_verdict = {r.verdict_id: (r.trial_id, r.item.key) for r in records}
    given: dict[tuple[int, str], dict[str, str]] = defaultdict(dict)
    for label in sorted(labels, key=lambda label: label.created_at):
        if label.verdict_id in by_verdict:
            given[by_verdict[label.verdict_id]][label.person] = label.value.value
    return Material(
        subject="gold",
        cases=tuple(
            Case(
                trial_id=key[0],
                item=items[key],
                task=tasks[key[0]],
                decisions=decisions[key],
                labels={w: v for w, v in said.items() if v != LabelValue.UNSURE},
                people=frozenset(said),
            )
            for key, said in sorted(given.items())
        ),
        judges=tuple(sorted({record.judge.name for record in records})),
        people=tuple(sorted({name for said in given.values() for name in said})),
        baselines=tuple(sorted({r.judge.name for r in records if r.judge.baseline})),
        population=len(items),
        unsure=sum(v == LabelValue.UNSURE for said in given.values() for v in said.values()),
        unjudged=open_,
    )
