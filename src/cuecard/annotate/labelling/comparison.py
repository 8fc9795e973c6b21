"""How far judges and people agree on the verdicts of a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cuecard.annotate.agreement import (
    AgreementReport,
    ConfusionMatrix,
    Ratings,
    Statistic,
    confusion_matrix,
    report_of,
    statistics_of,
)
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision
from cuecard.store.records import Label, LabelValue, VerdictRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

DOMAIN = (Decision.YES.value, Decision.NO.value)


class PairAgreement(Frozen):
    """Two raters on the items that both decided. A judge's name is in `judges` of the report;
    `right` is "" for the majority of all people.
    """

    left: str
    right: str
    n: int
    statistics: tuple[Statistic, ...]
    confusion: ConfusionMatrix | None

    def value(self, name: str) -> float | None:
        return next((s.value for s in self.statistics if s.name == name), None)


class LabelAgreement(Frozen):
    """Agreement on yes and no. `unsure` labels and `unjudged` verdicts count as missing and are
    told here. `majority`: each judge against the majority of people, ties left out.
    `judge_human` and `human_human`: every pair. `humans`: all people together. `baselines` are those
    of the judges that are no models.
    """

    verdicts: int
    labelled: int
    unsure: int
    unjudged: int
    judges: tuple[str, ...]
    baselines: tuple[str, ...]
    people: tuple[str, ...]
    majority: tuple[PairAgreement, ...]
    judge_human: tuple[PairAgreement, ...]
    human_human: tuple[PairAgreement, ...]
    humans: AgreementReport


def agreement_of(workspace: Workspace, run_id: int | None = None) -> LabelAgreement:
    """Judges against people and people among themselves, for one run or the whole workspace."""
    return compare(workspace.verdicts.records(run_id), workspace.verdicts.labels(run_id))


def ratings_of(workspace: Workspace, run_id: int | None = None) -> Ratings:
    """Yes and no by judges and people, a rater each; judges are called `judge:NAME`. What nobody
    labelled is left out.
    """
    table = _Table(workspace.verdicts.records(run_id), workspace.verdicts.labels(run_id))
    labelled = {item for item, _person in table.given}
    rows = [
        (item, f"judge:{judge}", value)
        for (item, judge), value in table.decisions.items()
        if item in labelled
    ]
    rows += [(item, person, value) for (item, person), value in table.given.items()]
    return Ratings.from_rows(rows, domain=DOMAIN)


def compare(records: Sequence[VerdictRecord], labels: Sequence[Label]) -> LabelAgreement:
    """Agreement between `records` and `labels`. Two judges' verdicts on the same gold item of the
    same trial are one item; of several verdicts by one judge the newest counts.
    """
    table = _Table(records, labels)
    decisions, given = table.decisions, table.given
    judges = tuple(sorted({judge for _item, judge in decisions}))
    people = tuple(sorted({person for _item, person in given}))
    by_judge = {judge: _column(decisions, judge) for judge in judges}
    by_person = {person: _column(given, person) for person in people}
    majority = _majority(given)
    return LabelAgreement(
        verdicts=len({item for item, _judge in decisions}),
        labelled=len({item for item, _person in given}),
        unsure=sum(value is None for value in given.values()),
        unjudged=sum(value is None for value in decisions.values()),
        judges=judges,
        baselines=tuple(sorted({r.judge.name for r in records if r.judge.baseline})),
        people=people,
        majority=tuple(_pair(judge, by_judge[judge], "", majority) for judge in judges),
        judge_human=tuple(
            _pair(judge, by_judge[judge], person, by_person[person])
            for judge in judges
            for person in people
        ),
        human_human=tuple(
            _pair(left, by_person[left], right, by_person[right])
            for left, right in combinations(people, 2)
        ),
        humans=report_of(
            Ratings.from_rows(
                ((item, person, value) for (item, person), value in given.items()), domain=DOMAIN
            )
        ),
    )


class _Table:
    """Decisions by item and judge, labels by item and person; None where undecided."""

    def __init__(self, records: Sequence[VerdictRecord], labels: Sequence[Label]) -> None:
        item_of = {record.verdict_id: f"{record.trial_id}/{record.item.key}" for record in records}
        self.decisions: dict[tuple[str, str], str | None] = {}
        for record in sorted(records, key=lambda record: record.verdict_id):
            decided = record.decision.value if record.decision is not Decision.UNJUDGED else None
            self.decisions[item_of[record.verdict_id], record.judge.name] = decided
        self.given: dict[tuple[str, str], str | None] = {}
        known = [label for label in labels if label.verdict_id in item_of]
        for label in sorted(known, key=lambda label: label.created_at):
            decided = label.value.value if label.value is not LabelValue.UNSURE else None
            self.given[item_of[label.verdict_id], label.person] = decided


def _column(cells: dict[tuple[str, str], str | None], rater: str) -> dict[str, str]:
    return {item: value for (item, who), value in cells.items() if who == rater and value}


def _majority(given: dict[tuple[str, str], str | None]) -> dict[str, str]:
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for (item, _person), value in given.items():
        if value:
            votes[item][value] += 1
    result: dict[str, str] = {}
    for item, counted in votes.items():
        ranked = counted.most_common(2)
        if len(ranked) == 1 or ranked[0][1] > ranked[1][1]:
            result[item] = ranked[0][0]
    return result


def _pair(left: str, lefts: dict[str, str], right: str, rights: dict[str, str]) -> PairAgreement:
    both = sorted(lefts.keys() & rights.keys())
    # Raters are told apart by side: a judge and a person may bear the same name.
    codes = tuple((DOMAIN.index(lefts[item]), DOMAIN.index(rights[item])) for item in both)
    ratings = Ratings(tuple(both), ("left", "right"), DOMAIN, codes)
    confusion = confusion_matrix(ratings)
    if confusion:
        confusion = confusion.model_copy(update={"rows": left, "columns": right})
    return PairAgreement(
        left=left,
        right=right,
        n=len(both),
        statistics=statistics_of(ratings),
        confusion=confusion,
    )
