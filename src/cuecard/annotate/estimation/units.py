"""What is drawn and labelled as one, of a population: as records, and as columns with weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.intp]

T = TypeVar("T")


class Unit(NamedTuple):
    """What is drawn and labelled as one: a trial, an item of a trial, or an agent's samples of a task.

    `trial`: units with the same one share its weight, by their `part` (an item that was handed in k times: 1/k).
    `judge`, `people`: its values; None where the judge left it open or people have not decided all of it. `chance`:
    with which it was drawn, above 0; it matters only of labelled units, and only in proportion to that of others in
    its `stratum`. `alike`: how many such units it stands for, none of them labelled; `part` is of all of these.
    """

    task: str
    trial: int
    judge: float | None
    people: float | None = None
    stratum: str = ""
    chance: float = 1.0
    part: float = 1.0
    alike: int = 1


@dataclass(frozen=True, eq=False)
class Units:
    """A population as columns of equal length. `task`, `stratum`: places in `tasks` and `strata`; `weight`: sums to
    1, so that every task weighs the same, and within it every trial; `people`: NaN where not labelled. `left_open`:
    units that the judge left open, which are in no column; `told`: gives a stratum's name as it is read.
    """

    tasks: tuple[str, ...]
    strata: tuple[str, ...]
    task: Codes
    stratum: Codes
    weight: Floats
    count: Floats
    chance: Floats
    judge: Floats
    people: Floats
    left_open: int = 0
    stratum_name: Callable[[str], str] = str

    @classmethod
    def of(cls, units: Iterable[Unit], told: Callable[[str], str] = str) -> Units:
        """The columns of these units. Weights are 1 / (tasks x trials of the task x parts of the trial), of those
        that the judge decided.
        """
        import numpy as np

        every = list(units)
        kept = [one for one in every if one.judge is not None]
        tasks, strata = sorted({one.task for one in kept}), sorted({one.stratum for one in kept})
        place, layer = _places(tasks), _places(strata)
        task = np.array([place[one.task] for one in kept], np.intp)
        trials = _places(dict.fromkeys((one.task, one.trial) for one in kept))
        trial = np.array([trials[one.task, one.trial] for one in kept], np.intp)
        part = np.array([one.part for one in kept], np.float64)
        of_trial = np.bincount(trial, part, len(trials))
        first = np.zeros(len(trials), np.intp)
        first[trial] = task
        per_task = np.bincount(first, minlength=len(tasks))
        return cls(
            tasks=tuple(tasks),
            strata=tuple(strata),
            task=task,
            stratum=np.array([layer[one.stratum] for one in kept], np.intp),
            weight=part / of_trial[trial] / per_task[task] / max(len(tasks), 1),
            count=np.array([one.alike for one in kept], np.float64),
            chance=np.array([one.chance for one in kept], np.float64),
            judge=np.array([one.judge for one in kept], np.float64),
            people=np.array([np.nan if one.people is None else one.people for one in kept]),
            left_open=sum(one.alike for one in every if one.judge is None),
        )

    def within(self, tasks: Iterable[str]) -> Units:
        """Only the units of these tasks, weighted anew."""
        import numpy as np

        wanted = set(tasks)
        kept = [at for at, name in enumerate(self.tasks) if name in wanted]
        if len(kept) == len(self.tasks):
            return self
        places = np.full(len(self.tasks), -1, np.intp)
        places[kept] = np.arange(len(kept))
        mine = places[self.task] >= 0
        layers, stratum = np.unique(self.stratum[mine], return_inverse=True)
        return replace(
            self,
            tasks=tuple(self.tasks[at] for at in kept),
            strata=tuple(self.strata[int(at)] for at in layers),
            task=places[self.task[mine]],
            stratum=stratum.astype(np.intp),
            weight=self.weight[mine] * len(self.tasks) / max(len(kept), 1),
            count=self.count[mine],
            chance=self.chance[mine],
            judge=self.judge[mine],
            people=self.people[mine],
        )

    @property
    def labelled(self) -> NDArray[np.bool_]:
        import numpy as np

        return ~np.isnan(self.people)


def sums(codes: Codes, values: Floats, count: int) -> Floats:
    """The sum of the values of each of `count` codes."""
    import numpy as np

    return np.bincount(codes, values, count).astype(np.float64)


def _places(names: Iterable[T]) -> dict[T, int]:
    return {name: at for at, name in enumerate(names)}
