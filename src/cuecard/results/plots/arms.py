"""What becomes a series: the trials of one agent, or of whatever else they are told apart by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from cuecard.core.i18n import _, ngettext
from cuecard.core.tasks import Family
from cuecard.results.plots.means import plain_name
from cuecard.results.plots.model import Point, Series
from cuecard.results.pool import Dimension, Pool, Row


@dataclass(frozen=True)
class Arm:
    """`rows` of one family. `mark`: its number among all arms of the pool."""

    name: str
    mark: int
    rows: tuple[Row, ...]

    @cached_property
    def judged(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.figures is not None)

    @property
    def baseline(self) -> bool:
        return any(row.baseline for row in self.rows)

    def series(self, points: Iterable[Point]) -> Series:
        return Series(name=self.name, mark=self.mark, points=tuple(points), baseline=self.baseline)


def arms_of(pool: Pool, by: Sequence[Dimension]) -> dict[Family, tuple[Arm, ...]]:
    """The arms of each family in the order of their names. A trial that several judges judged is in an arm of
    each judge: it must not count twice in one.
    """
    if len(pool.values("judge")) > 1 and "judge" not in by:
        by = (*by, "judge")
    found: dict[tuple[str, ...], dict[Family, list[Row]]] = {}
    for row in pool.rows:
        key = tuple(row.value(dimension) for dimension in by)
        found.setdefault(key, {}).setdefault(row.family, []).append(row)
    families: dict[Family, list[Arm]] = {family: [] for family in sorted(pool.families)}
    for mark, key in enumerate(sorted(found)):
        name = " · ".join(plain_name(value) for value in key)
        for family, rows in found[key].items():
            families[family].append(Arm(name, mark, tuple(rows)))
    return {family: tuple(arms) for family, arms in families.items()}


def notes_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """Over what a plot is, what is left out of it, and who is no model."""
    rows = [row for arm in arms for row in arm.rows]
    judged = [row for arm in arms for row in arm.judged]
    tasks = len({row.trial.task_id for row in judged})
    over = ngettext("{n} judged trial", "{n} judged trials", len(judged)).format(n=len(judged))
    on = ngettext("on {n} task", "on {n} tasks", tasks).format(n=tasks)
    ended = [row.trial.termination for row in judged]
    failed = sum(end.is_failure for end in ended if end is not None)
    parts = [f"{over} {on}"]
    if failed:
        parts.append(_("{n} of them failed and count like any other").format(n=failed))
    going = sum(row.trial.termination is None for row in rows)
    waiting = len(rows) - going - len(judged)
    if waiting:
        parts.append(_("left out, since not judged: {n}").format(n=waiting))
    if going:
        parts.append(_("left out, since not ended: {n}").format(n=going))
    notes = ["; ".join(parts)]
    played = [arm.name for arm in arms if arm.baseline]
    if played and len(played) == len(arms):
        notes.append(_("Offline baselines play or judge in all of them: no results of models."))
    elif played:
        names = ", ".join(played)
        notes.append(_("Offline baselines play or judge: {names}").format(names=names))
    return tuple(notes)


def title(text: str, family: Family) -> str:
    return f"{text} · {_(family)}"


def by_tasks() -> str:
    return _("Intervals are 95%, by resampling tasks.")
