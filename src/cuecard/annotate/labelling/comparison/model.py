"""What a comparison holds."""

from __future__ import annotations

from cuecard.annotate.agreement import (
    AgreementTable,
    CeilingTable,
    JudgeDifference,
    ReferenceTable,
    Statistic,
)
from cuecard.annotate.labelling.comparison.anchoring import Anchoring
from cuecard.annotate.labelling.comparison.material import GroupBy, Subject
from cuecard.annotate.labelling.comparison.raters import Rater
from cuecard.core.tasks.base import Frozen


class Pair(Frozen):
    """Two raters on the items that both decided. `reference`: the first against the second as the reference,
    None for two people, of whom neither is one.
    """

    left: Rater
    right: Rater
    table: AgreementTable
    reference: ReferenceTable | None = None

    @property
    def n(self) -> int:
        return self.table.paired

    def statistic(self, name: str) -> Statistic | None:
        """By the name of its row in either table."""
        for table in (self.table, self.reference):
            row = table.row(name) if table else None
            if row:
                return row.statistic
        return None


class Group(Frozen):
    """A judge against `reference` on the items of which `by` is `value` ("" where they have none)."""

    by: GroupBy
    value: str
    judge: str
    reference: Rater
    n: int
    tasks: int
    statistics: tuple[Statistic, ...]

    def statistic(self, name: str) -> Statistic | None:
        return next((found for found in self.statistics if found.name == name), None)


class Comparison(Frozen):
    """How judges and people agree about one subject, from blind labels.

    `population`: items that machines decided on (None: not counted), of which `labelled`, on `tasks` tasks;
    `unsure` labels said "cannot tell" and `unjudged` decisions were left open: both are missing.
    `weighted`: items count by the inverse of the probability with which they were drawn (`from_set`), spread over
    what is not labelled of their stratum; `bare`: strata of which nothing is labelled, with their shares.
    `baselines` are those of the judges that are no models. `pairs`: every judge against every one of
    `references`, then every two people; `humans`: all people together, None with fewer than two;
    `ceilings` and `differences`: judges beside what people reach, and two judges on the same items;
    `groups` against the first reference. `causes`: how often each was found in adjudication.
    """

    subject: Subject
    subjects: tuple[tuple[Subject, int], ...]
    domain: tuple[str, ...]
    population: int | None
    labelled: int
    tasks: int
    unsure: int
    unjudged: int
    from_set: bool
    weighted: bool
    bare: tuple[tuple[str, float], ...]
    judges: tuple[str, ...]
    baselines: tuple[str, ...]
    people: tuple[str, ...]
    references: tuple[Rater, ...]
    pairs: tuple[Pair, ...]
    humans: AgreementTable | None
    ceilings: tuple[CeilingTable, ...]
    differences: tuple[JudgeDifference, ...]
    groups: tuple[Group, ...]
    anchoring: tuple[Anchoring, ...]
    adjudicated: int
    causes: tuple[tuple[str, int], ...]

    def pair(self, left: Rater, right: Rater) -> Pair | None:
        return next((p for p in self.pairs if p.left == left and p.right == right), None)

    def against(self, reference: Rater) -> tuple[Pair, ...]:
        """Every judge against this reference."""
        return tuple(p for p in self.pairs if p.left.role == "judge" and p.right == reference)

    @property
    def between_people(self) -> tuple[Pair, ...]:
        return tuple(p for p in self.pairs if p.left.role == "person")
