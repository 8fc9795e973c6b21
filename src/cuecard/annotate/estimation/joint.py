"""Corrected scores of several agents together: on the tasks that all have, with what varies by task for all of them alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.annotate.estimation.corrected import around, corrected, standard_error, widens, within
from cuecard.annotate.estimation.units import Units
from cuecard.core.i18n import _, headed
from cuecard.core.tables.table import Statistic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FITTED = 2
"""The mean, and the weight of the judge."""


@dataclass(frozen=True, eq=False)
class Joint:
    """Corrected figures of several agents on the tasks that all of them have: `values` (agents), and `moved` (agents
    x tasks), what each task adds to each, so that `values == moved.sum(axis=1)`; what varies by task varies there for
    all of them together. `alone`: the same from people alone. `labelled_tasks`: the fewest of any agent; `whole`: people
    decided all of every agent's; `no_interval`: why there is none of a difference.
    """

    names: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Floats
    moved: Floats
    alone: Floats
    labelled_tasks: int
    no_interval: str = ""
    whole: bool = False

    @property
    def widening(self) -> float:
        """What intervals that hold together are wider by: the estimate is fitted to so few labelled tasks, each of which pulls
        it to itself (as HC3 has it, MacKinnon & White 1985, with two figures fitted).
        """
        few = max(self.labelled_tasks, _FITTED + 1)
        return 1.0 if self.whole else few / (few - _FITTED)

    def figure(
        self, one: int, name: str = "", *, alone: bool = False, share: bool = False
    ) -> Statistic:
        """The figure of one agent (by place), corrected or from people `alone`; `n` counts tasks. `share`: see `corrected`."""
        moved, n = (self.alone if alone else self.moved)[one], len(self.tasks)
        value, error = float(moved.sum()), standard_error(moved)
        return within(around(name, value, n, error, self.labelled_tasks, self.no_interval, share))

    def difference(self, one: int, other: int, name: str = "", *, alone: bool = False) -> Statistic:
        """The figure of one agent (by place) minus that of another, with the 95% interval of the paired difference;
        `n` counts tasks. Never wider than from people `alone`, which is the other that it can tell.
        """
        moved, plain = (side[one] - side[other] for side in (self.moved, self.alone))
        if alone or widens(standard_error(moved), standard_error(plain)):
            moved = plain
        value, n, error = float(moved.sum()), len(self.tasks), standard_error(moved)
        return around(name, value, n, error, self.labelled_tasks, self.no_interval)


def joint(agents: Mapping[str, Units]) -> Joint | str:
    """The corrected figures of these agents on their common tasks; the reason if they have none, or one no estimate."""
    import numpy as np

    every = Counter(task for units in agents.values() for task in units.tasks)
    tasks = tuple(sorted(task for task, n in every.items() if n == len(agents)))
    if not tasks:
        return _("no task in common")
    found = {name: corrected(units.within(tasks)) for name, units in agents.items()}
    for name, one in found.items():
        if not one.estimate.defined:
            return headed(name, one.estimate.reason)
    moved = np.array([one.moved for one in found.values()])
    return Joint(
        names=tuple(found),
        tasks=tasks,
        values=moved.sum(axis=1),
        moved=moved,
        alone=np.array([one.alone for one in found.values()]),
        labelled_tasks=min(one.labelled_tasks for one in found.values()),
        no_interval=next((one.too_few for one in found.values() if one.too_few), ""),
        whole=all(one.whole for one in found.values()),
    )


def difference(one: Units, other: Units, name: str = "") -> Statistic:
    """The corrected figure of one minus that of the other, on the tasks that both have (see `Joint.difference`)."""
    both = joint({"one": one, "other": other})
    if isinstance(both, str):
        return Statistic(name=name, value=None, n=0, reason=both.partition(": ")[2] or both)
    return both.difference(0, 1, name)
