"""What becomes a series: the judged trials of one agent, or of whatever else they are told apart by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import Family
from cuecard.results.errors.groups import Group, by_family, groups_of, notes_of
from cuecard.results.plots.model import Point, Series
from cuecard.results.pool import Dimension, Pool, Row
from cuecard.results.words import value_word

MARKS = 12
"""How many series have a shape of their own; of more, those of each family are numbered apart."""


@dataclass(frozen=True)
class Arm:
    """A group of trials of one family. `mark`: its number among all arms of the pool."""

    group: Group
    mark: int

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def rows(self) -> tuple[Row, ...]:
        """Its judged trials."""
        return tuple(row for row, _figures in self.group.judged)

    def series(self, points: Iterable[Point]) -> Series:
        return Series(
            name=self.name, mark=self.mark, points=tuple(points), baseline=self.group.baseline
        )


@dataclass(frozen=True)
class Field:
    """The arms of one family. `notes` belong below each of its plots."""

    family: Family
    arms: tuple[Arm, ...]
    notes: tuple[str, ...]

    def title(self, text: str) -> str:
        return f"{text} · {value_word('family', self.family)}"


def fields_of(pool: Pool, by: Sequence[Dimension]) -> Iterator[Field]:
    """Each family with a judged trial. Where several judges judged, each has arms of its own."""
    groups = groups_of(pool, tuple(by))
    every = {values: mark for mark, values in enumerate(sorted({g.values for g in groups}))}
    notes = notes_of(pool, groups)
    for family, mine in by_family(groups):
        own = {group.values: mark for mark, group in enumerate(mine)}
        marks = every if len(every) <= MARKS else own
        arms = tuple(Arm(group, marks[group.values]) for group in mine)
        yield Field(family, arms, (_counted(arms), *notes.get(family, ())))


def by_tasks() -> str:
    return _("Intervals are 95%, by resampling tasks.")


def trials_of(rows: Sequence[Row]) -> tuple[int, ...]:
    return tuple(sorted(row.trial.id for row in rows))


def _counted(arms: Sequence[Arm]) -> str:
    """Over what a plot is; every arm has a trial of each judge."""
    rows = [row for arm in arms for row in arm.rows]
    tasks = len({row.trial.task_id for row in rows})
    trials = len({row.trial.id for row in rows})
    over = ngettext("{n} judged trial", "{n} judged trials", trials).format(n=f"{trials:,}")
    on = ngettext("on {n} task", "on {n} tasks", tasks).format(n=f"{tasks:,}")
    return f"{over} {on}."
