"""What the trials of a pool can be compared by: ready-made comparisons, and the dimensions that they differ in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.i18n import _
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.aggregate import statistics_of
from cuecard.core.scoring.labels import HEADLINES, measure_label, statistic_label
from cuecard.core.tasks import FAMILIES, Family
from cuecard.results.comparing import COMPARABLE
from cuecard.results.designs import Found, designs_in
from cuecard.results.pool import Dimension, Pool
from cuecard.results.words import dimension_word, names_of, place_of, value_word

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class Choice:
    """`offer`: the id of what is compared. `arms`: those compared, all without any; `base`: what they are held
    against, the plain one if None. `measure` None: the family's first headline; `taken` None: the way that stands
    for it.
    """

    offer: str
    dimension: Dimension
    family: Family
    arms: tuple[str, ...] = ()
    base: str | None = None
    measure: str | None = None
    taken: Taken | None = None

    @property
    def by(self) -> str:
        return self.measure or HEADLINES[self.family][0]

    @property
    def statistic(self) -> Taken:
        return self.taken or statistics_of(self.by)[0]


@dataclass(frozen=True)
class Offer:
    """Something to compare: a ready-made comparison (`found`), or the values of a dimension. `pool`: the trials that it
    is about, in which `families` have two arms; `choice`: with what it begins.
    """

    id: str
    title: str
    arms: str
    choice: Choice
    families: tuple[Family, ...]
    pool: Pool
    found: Found | None = None

    @property
    def text(self) -> str:
        return f"{self.title}: {self.arms}"


def offers(pool: Pool, judges: Pool) -> tuple[Offer, ...]:
    """Ready-made comparisons first, then every dimension of which a family has two values on one revision of a
    task. `judges`: the same trials by every judge.
    """
    return (*_designs(pool, judges), *_dimensions(pool, judges))


def _designs(pool: Pool, judges: Pool) -> Iterator[Offer]:
    known = [one for one in designs_in(pool) if one.design.dimension != "judge"]
    known += [one for one in designs_in(judges) if one.design.dimension == "judge"]
    for one in known:
        design, names = one.design, names_of(one.pool)
        id = f"design-{design.name}"
        yield Offer(
            id=id,
            title=_(design.title),
            arms=", ".join(value_word(design.dimension, arm, names) for arm in one.arms),
            choice=Choice(id, design.dimension, one.families[0], one.arms, one.base),
            families=one.families,
            pool=one.pool,
            found=one,
        )


def _dimensions(pool: Pool, judges: Pool) -> Iterator[Offer]:
    for dimension in COMPARABLE:
        source = judges if dimension == "judge" else pool
        families = comparable_families(source, dimension)
        if families:
            names, values = names_of(source), values_of(source, dimension, families[0])
            yield Offer(
                id=dimension,
                title=dimension_word(dimension),
                arms=", ".join(value_word(dimension, value, names) for value in values),
                choice=Choice(dimension, dimension, families[0]),
                families=families,
                pool=source,
            )


def comparable_families(pool: Pool, dimension: Dimension) -> tuple[Family, ...]:
    """Families with a revision of a task of which judged trials have two values of the dimension or more."""
    values: dict[tuple[Family, str, int], set[str]] = {}
    for row in pool.rows:
        value = row.value(dimension)
        if row.figures is not None and value:
            key = (row.family, row.trial.task_id, row.trial.revision)
            values.setdefault(key, set()).add(value)
    several = {family for (family, _task, _rev), found in values.items() if len(found) > 1}
    return tuple(family for family in FAMILIES if family in several)


def values_of(pool: Pool, dimension: Dimension, family: Family) -> tuple[str, ...]:
    """The values of the family's judged trials, in the order in which they are told."""
    found = {
        row.value(dimension)
        for row in pool.rows
        if row.family == family and row.figures is not None
    }
    if dimension == "run":
        return tuple(value for value in pool.values("run") if value in found)
    return tuple(sorted(found - {""}, key=lambda value: place_of(dimension, value)))


def first_choice(offered: Sequence[Offer], runs: int) -> Choice | None:
    """Agents of one run; of several runs a ready-made comparison, else the runs themselves, else whatever there is."""
    by_id = {offer.id: offer.choice for offer in offered}
    if runs > 1:
        designs = [offer.choice for offer in offered if offer.found]
        wanted = [*designs[:1], *(by_id[name] for name in ("run", "agent") if name in by_id)]
    else:
        wanted = [by_id["agent"]] if "agent" in by_id else []
    every = [*wanted, *by_id.values()]
    return every[0] if every else None


def measure_options(pool: Pool, family: Family) -> tuple[tuple[str, Taken], ...]:
    """What the family's trials can be compared by, headlines first."""
    rows = [row for row in pool.rows if row.family == family and row.figures is not None]
    names = dict.fromkeys(
        measure.name
        for row in rows
        for measure in (row.figures.measures if row.figures else ())
        if measure.value is not None
    )
    heads = [name for name in HEADLINES[family] if name in names]
    ordered = [*heads, *(name for name in names if name not in heads), "cost", "tokens"]
    return tuple((name, taken) for name in ordered for taken in statistics_of(name))


def measure_word(measure: str, taken: Taken, samples: int) -> str:
    """`Triplet F1`, `Triplet F1 (Best@3)`: the average is not named."""
    word = measure_label(measure)
    return word if not taken.of_several else f"{word} ({statistic_label(taken, samples)})"


def samples_in(pool: Pool, family: Family) -> int:
    """The most samples of a task."""
    numbers = [row.trial.sample + 1 for row in pool.rows if row.family == family]
    return max(numbers, default=1)


def judges_of(workspace: Workspace, runs: Sequence[int]) -> tuple[str, ...]:
    """The names of the judges that judged a trial of these runs."""
    heads = (head for run in runs for head in workspace.verdicts.heads(run))
    return tuple(dict.fromkeys(head.judge.name for head in heads))
