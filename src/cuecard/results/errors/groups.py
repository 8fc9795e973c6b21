"""The trials of a pool put together by what they are, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _
from cuecard.core.scoring.trial_figures import TrialFigures
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.pool import Dimension, Pool, Row
from cuecard.results.score_notes import notes_on
from cuecard.results.words import names_of, place_of, value_word

By = tuple[Dimension, ...]
Judged = Sequence[tuple[Row, TrialFigures]]
"""Judged trials with their figures."""
BY: By = ("agent",)


@dataclass(frozen=True, eq=False)
class Group:
    """All trials of one family that share these `values`, one for each dimension of `by`. `name`: what it is called,
    `alpha` or `alpha · Chinese`.
    """

    family: Family
    by: By
    values: tuple[str, ...]
    name: str
    rows: tuple[Row, ...]

    @property
    def group(self) -> tuple[tuple[Dimension, str], ...]:
        return tuple(zip(self.by, self.values, strict=True))

    @property
    def baseline(self) -> bool:
        """One of its players is an embedded offline one."""
        return any(row.baseline for row in self.rows)

    @property
    def judged(self) -> tuple[tuple[Row, TrialFigures], ...]:
        return tuple((row, row.figures) for row in self.rows if row.figures is not None)

    @property
    def trials(self) -> tuple[int, ...]:
        """Ids of the judged trials."""
        return tuple(row.trial.id for row, _figures in self.judged)

    @property
    def ended(self) -> int:
        return sum(row.trial.termination is not None for row in self.rows)

    @property
    def tasks(self) -> int:
        """Tasks with a judged trial."""
        return len({row.trial.task_id for row, _figures in self.judged})


def groups_of(pool: Pool, by: By = BY, families: Sequence[Family] = FAMILIES) -> tuple[Group, ...]:
    """A group for each family and combination of values that occurs, in the order of `place_of`, runs as they were
    asked for. Where several judges judged, their rows are told apart.
    """
    by = tuple(dimension for dimension in by if dimension != "family")
    if len(pool.values("judge")) > 1 and "judge" not in by:
        by = (*by, "judge")
    found: dict[tuple[Family, tuple[str, ...]], list[Row]] = {}
    for row in pool.rows:
        if row.family in families:
            found.setdefault((row.family, tuple(row.value(d) for d in by)), []).append(row)
    names, runs = names_of(pool), {run.uid[:8]: f"{at:06}" for at, run in enumerate(pool.runs)}

    def place(key: tuple[Family, tuple[str, ...]]) -> tuple[int, list[tuple[int, str]]]:
        family, values = key
        told = [runs.get(v, v) if d == "run" else v for d, v in zip(by, values, strict=True)]
        places = [place_of(d, value) for d, value in zip(by, told, strict=True)]
        return FAMILIES.index(family), places

    return tuple(
        Group(
            family=family,
            by=by,
            values=values,
            name=" · ".join(value_word(d, v, names) for d, v in zip(by, values, strict=True))
            or _("all"),
            rows=tuple(found[family, values]),
        )
        for family, values in sorted(found, key=place)
    )


def by_family(groups: Sequence[Group]) -> Iterator[tuple[Family, tuple[Group, ...]]]:
    """Families with a judged trial, and their groups."""
    for family in FAMILIES:
        mine = tuple(group for group in groups if group.family == family)
        if any(group.judged for group in mine):
            yield family, mine


def notes_of(pool: Pool, groups: Sequence[Group]) -> dict[Family, tuple[str, ...]]:
    """What belongs below every table of a family: what is not counted, what was taken together, who is no model."""
    return {
        family: notes_on(
            pool.where(lambda row, of=family: row.family == of),
            (*mine[0].by, "family"),
            [group.rows for group in mine],
        )
        for family, mine in by_family(groups)
    }
