"""Groups of trials that are told beside each other, and what of them cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cuecard.annotate.labelling.effect_tables import FAMILY_WORDS
from cuecard.annotate.results.pool import Dimension, Pool, Row, kinds_of, values_of
from cuecard.annotate.results.words import dimension_word, names_of, notes_on, place_of, value_word
from cuecard.core.families.registry import CORE
from cuecard.core.i18n import _
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import FAMILIES, Family

if TYPE_CHECKING:
    pass

By = tuple[Dimension, ...]
BY: By = ("agent",)


class Trials:
    """Trials as columns: their `ids`; `tasks`, in alphabetic order; and `places`, which of these each trial is of."""

    def __init__(self, rows: Iterable[Row]) -> None:
        import numpy as np

        trials = [row.trial for row in rows]
        self.tasks = tuple(sorted({trial.task_id for trial in trials}))
        of = {task: place for place, task in enumerate(self.tasks)}
        self.ids = np.array([trial.id for trial in trials], dtype=np.int64)
        self.places = np.array([of[trial.task_id] for trial in trials], dtype=np.int64)


class Judged(tuple[tuple[Row, TrialFigures], ...]):
    """Judged trials with their measures and counts."""

    @cached_property
    def trials(self) -> Trials:
        return Trials(row for row, _figures in self)

    @cached_property
    def _known(self) -> dict[str, list[float | None]]:
        return {}

    def column(self, measure: str) -> list[float | None]:
        """The value of each trial."""
        if measure not in self._known:
            self._known[measure] = [figures.value(measure) for _row, figures in self]
        return self._known[measure]


@dataclass(frozen=True, eq=False)
class Group:
    """All trials of one family with these `values`, one for each dimension of `by`. `name`: for display, `alpha` or
    `alpha · Chinese`.
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
        """Whether one of its players is an offline baseline."""
        return any(row.baseline for row in kinds_of(self.rows))

    @cached_property
    def judged(self) -> Judged:
        return Judged((row, row.figures) for row in self.rows if row.figures is not None)

    @cached_property
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
    """A group for each family and combination of values that occurs, in the order of `place_of`, runs as asked for. If
    there are several judges, each has groups of its own.
    """
    by = tuple(dimension for dimension in by if dimension != "family")
    if len(pool.values("judge")) > 1 and "judge" not in by:
        by = (*by, "judge")
    return pool.once(("groups", by, tuple(families)), lambda: _groups(pool, by, families))


def _groups(pool: Pool, by: By, families: Sequence[Family]) -> tuple[Group, ...]:
    found: dict[tuple[Family, tuple[str, ...]], list[Row]] = {}
    for row, (_family, *values) in values_of(pool.rows, ("family", *by)):
        if row.family in families:
            found.setdefault((row.family, tuple(values)), []).append(row)
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
    """Notes for all tables of a family: what is not counted, what was pooled, which players are baselines."""
    return {
        family: notes_on(
            pool.of_family(family),
            (*mine[0].by, "family"),
            [group.rows for group in mine],
        )
        for family, mine in by_family(groups)
    }


_WANTED = CORE.each(lambda family: family.handed_in)


class Unreadable(Frozen):
    """A trial without a readable prediction. `reason`: why; `raw`: the beginning of the agent's text; both "" if it
    handed in nothing.
    """

    trial: int
    task: str
    sample: int
    nothing: bool
    reason: str
    raw: str


def unread(family: Family, figures: TrialFigures) -> bool:
    """Whether something was handed in that is not in the family's format."""
    return figures.handed_in not in (_WANTED[family], "nothing")


def unreadable(family: Family, judged: Judged) -> tuple[Unreadable, ...]:
    """All of them, in the order of the trials."""
    return tuple(
        Unreadable(
            trial=row.trial.id,
            task=row.trial.task_id,
            sample=row.trial.sample,
            nothing=figures.handed_in == "nothing",
            reason=figures.reason,
            raw=figures.raw,
        )
        for row, figures in judged
        if figures.handed_in == "nothing" or unread(family, figures)
    )


def title(family: Family, words: str) -> str:
    """`Graph tasks: coverage by relation`."""
    return _("{family}: {table}").format(family=_(FAMILY_WORDS[family]), table=words)


def arm_heading(by: By) -> str:
    """The heading of a column with names of arms."""
    return " · ".join(dimension_word(dimension) for dimension in by) or _("Trials of")
