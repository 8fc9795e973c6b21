"""The `Pool`: trials of runs with all that tables, comparisons and plots need, how a task's samples combine, and what a run
will take, from what earlier trials of its agents took.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import ceil
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from pydantic import ConfigDict

from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.annotate.results import Dimension
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.evaluation.plans import memory_of, setting_of, settings_of
from cuecard.core.evaluation.scores import OnCount, judged_trials
from cuecard.core.families.facts.family import tier_of_count
from cuecard.core.i18n import _, current_language
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import RunRecord, TaskTraits, TrialRecord, UsageRecord
from cuecard.core.scoring.aggregate import (
    AggregateMeasure,
    Key,
    Samples,
    keys_of,
    parts_of,
    totals_of,
)
from cuecard.core.scoring.aggregate import Statistic as Summary
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.system import uncollected
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import Measure

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


T = TypeVar("T")
UNKNOWN = ""
AGENT_PAYERS = ("agent", "conclusion")
"""The payers whose calls count as the agent's cost: its turns and its final prediction."""


class Spent(Frozen):
    """Model calls and their tokens; `cost` is None if no call had a price, `unpriced` counts calls without one."""

    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    unpriced: int = 0


class Row(Frozen):
    """One trial with one judge's scores. `judge` and `figures` None: it has not ended, or `judged_by` has not judged
    it. `agent_spent`: the agent's own calls, `spent`: everybody's, both with earlier attempts.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    run: RunRecord
    trial: TrialRecord
    traits: TaskTraits
    judged_by: str
    judge: PlayerRef | None
    figures: TrialFigures | None
    setting: str
    memory: str
    agent_spent: Spent
    spent: Spent

    @property
    def family(self) -> Family:
        return self.trial.family

    @cached_property
    def kind(self) -> object:
        """The same for rows of one run, family and set of players, which are nearly always one object each."""
        trial = self.trial
        players = id(self.run), id(trial.agent), id(trial.user), id(trial.world), id(self.judge)
        return (*players, self.judged_by, trial.family, self.setting, self.memory)

    @cached_property
    def unit(self) -> tuple[str, int]:
        """The task's id and the number of its revision."""
        return self.trial.task_id, self.trial.revision

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        found = super().model_copy(update=update, deep=deep)
        for name in ("kind", "unit"):  # They follow from what was changed.
            vars(found).pop(name, None)
        return found

    @property
    def baseline(self) -> bool:
        """Whether one of its players is an offline baseline."""
        trial = self.trial
        players = (trial.agent, trial.user, trial.world, *((self.judge,) if self.judge else ()))
        return any(player.baseline for player in players)

    def measure(self, name: str) -> float | None:
        return self.figures.value(name) if self.figures else None

    def value(self, dimension: Dimension) -> str:
        """The trial's value in a dimension, as in files and the JSON; "" if unknown.

        `run`: the first eight digits of its `uid`; `scaffold`: `single` or `team` for agents on a model, else the kind
        of agent; `tier`: of a closed world by its number of facts; `compacted`: `with` or `without`, known for judged
        trials.
        """
        return _VALUES[dimension](self)


class Pool(Frozen):
    """Trials of several runs. `runs` as asked for; a row for each trial and judge, in the order of runs and their
    grids. `usage`: of all trials of the runs, whichever have rows, run by run.
    """

    runs: tuple[RunRecord, ...]
    rows: tuple[Row, ...]
    usage: tuple[UsageRecord, ...] = ()

    def where(self, keep: Callable[[Row], bool]) -> Pool:
        """Itself where all are kept, with what is known of it."""
        kept = tuple(row for row in self.rows if keep(row))
        if len(kept) == len(self.rows):
            return self
        return Pool.unchecked(runs=self.runs, rows=kept, usage=self.usage)

    def values(self, dimension: Dimension) -> tuple[str, ...]:
        """Those that occur, in the order of first occurrence."""
        rows = self.kinds if dimension in _OF_KIND else self.rows
        return tuple(dict.fromkeys(row.value(dimension) for row in rows))

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys(row.family for row in self.kinds))

    @cached_property
    def kinds(self) -> tuple[Row, ...]:
        """See `kinds_of`."""
        return kinds_of(self.rows)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Those that judged trials have, in order."""
        told = dict.fromkeys(row.figures.measures.names for row in self.rows if row.figures)
        return tuple(dict.fromkeys(name for names in told for name in names))

    @cached_property
    def _known(self) -> dict[object, Any]:
        return {}

    def once(self, key: tuple[object, ...], count: Callable[[], T]) -> T:
        """What `count` gives of this pool, counted once in each language; `key` is whose it is and all it depends on."""
        key = (*key, current_language())
        if key not in self._known:
            self._known[key] = count()
        return self._known[key]

    def of_family(self, family: Family) -> Pool:
        return self.once(("family", family), lambda: self.where(lambda row: row.family == family))


_OF_KIND: frozenset[Dimension] = frozenset(
    (
        "run",
        "agent",
        "model",
        "scaffold",
        "setting",
        "memory",
        "user",
        "world",
        "judge",
        "family",
    )
)
"""Dimensions of who plays and judges, which do not depend on the task or the trial's course."""


_OF_TASK: frozenset[Dimension] = frozenset(("language", "difficulty", "domain", "tier"))


def values_in(rows: Sequence[Row], dimensions: Iterable[Dimension]) -> dict[Dimension, set[str]]:
    """Those that occur."""
    kinds, tasks = kinds_of(rows), tuple({row.unit: row for row in rows}.values())
    return {
        each: {
            row.value(each)
            for row in (kinds if each in _OF_KIND else tasks if each in _OF_TASK else rows)
        }
        for each in dimensions
    }


def values_of(
    rows: Iterable[Row], dimensions: Sequence[Dimension]
) -> Iterator[tuple[Row, tuple[str, ...]]]:
    """Each row with its values."""
    if not _OF_KIND.issuperset(dimensions):
        for row in rows:
            yield row, tuple(row.value(each) for each in dimensions)
        return
    known: dict[object, tuple[str, ...]] = {}
    for row in rows:
        values = known.get(row.kind)
        if values is None:
            values = known[row.kind] = tuple(row.value(each) for each in dimensions)
        yield row, values


def kinds_of(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The first row of each run, family and set of players: for what does not depend on the task."""
    found: dict[object, Row] = {}
    for row in rows:
        if row.kind not in found:
            found[row.kind] = row
    return tuple(found.values())


def gather(
    workspace: Workspace,
    runs: Sequence[int],
    judges: Sequence[str] = (),
    *,
    on_count: OnCount | None = None,
) -> Pool:
    """The trials of these runs with each of `judges`, by default the first judge that each run was entered with.
    Examinations of tasks are left out.

    Reads the logs of trials whose measures are not cached, so call it off the screen's thread. Raises `NotFound`.
    """
    with uncollected():
        return _gathered(workspace, runs, judges, on_count)


def _gathered(
    workspace: Workspace, runs: Sequence[int], judges: Sequence[str], on_count: OnCount | None
) -> Pool:
    records: list[RunRecord] = []
    rows: list[Row] = []
    usage: list[UsageRecord] = []
    for run_id in dict.fromkeys(runs):
        run = workspace.runs.get(run_id)
        records.append(run)
        settings = settings_of(run)
        every = [t for t in workspace.runs.trials(run_id) if t.agent.kind != EXAMINER]
        traits = workspace.runs.traits(run_id)
        used = workspace.runs.usage(run_id)
        usage += used
        spent = {trial: _sums(mine) for trial, mine in _by_trial(used).items()}
        for judge in judges or (next(iter(settings.judges), DEFAULT_JUDGE),):
            judged = {
                one.trial.id: one
                for one in judged_trials(workspace, run_id, judge, trials=every, on_count=on_count)
            }
            played: dict[tuple[str, Family], tuple[str, str]] = {}
            kinds: dict[tuple[object, ...], object] = {}
            for trial in every:
                found = judged.get(trial.id)
                agent = trial.agent.name, trial.family
                if agent not in played:
                    played[agent] = (
                        setting_of(settings.roster, *agent),
                        memory_of(settings.roster, agent[0]),
                    )
                unit = trial.task_id, trial.revision
                setting, memory = played[agent]
                agent_spent, whole = spent.get(trial.id, (_NOTHING, _NOTHING))
                who = found.head.judge if found else None
                players = id(trial.agent), id(trial.user), id(trial.world), id(who), trial.family
                rows.append(
                    Row.unchecked(
                        run=run,
                        trial=trial,
                        traits=traits[unit],
                        judged_by=judge,
                        judge=who,
                        figures=found.figures if found else None,
                        setting=setting,
                        memory=memory,
                        agent_spent=agent_spent,
                        spent=whole,
                        # Known beforehand: an object of their own is hashed faster than what it stands for.
                        kind=kinds.setdefault(players, object()),
                        unit=unit,
                    )
                )
    return Pool.unchecked(runs=tuple(records), rows=tuple(rows), usage=tuple(usage))


def _by_trial(usage: Iterable[UsageRecord]) -> dict[int, list[UsageRecord]]:
    found: dict[int, list[UsageRecord]] = {}
    for used in usage:
        found.setdefault(used.trial_id, []).append(used)
    return found


_NOTHING = Spent()


def _sums(records: Sequence[UsageRecord]) -> tuple[Spent, Spent]:
    """The agent's own, and everybody's."""
    mine = [used for used in records if used.payer in AGENT_PAYERS]
    whole = _sum(records)
    return whole if len(mine) == len(records) else _sum(mine), whole


def _sum(records: Iterable[UsageRecord]) -> Spent:
    found = list(records)
    if not found:
        return _NOTHING
    if len(found) == 1:
        (one,) = found
        return Spent.unchecked(
            calls=one.calls, usage=one.usage, cost=one.cost, unpriced=one.calls - one.priced
        )
    calls = sum(used.calls for used in found)
    costs = [used.cost for used in found if used.cost is not None]
    return Spent.unchecked(
        calls=calls,
        usage=Usage.total(used.usage for used in found),
        cost=sum(costs) if costs else None,
        unpriced=calls - sum(used.priced for used in found),
    )


def _scaffold(row: Row) -> str:
    return {"react": "single", "team": "team"}.get(row.trial.agent.kind, row.trial.agent.kind)


def _tier(row: Row) -> str:
    return tier_of_count(row.traits.facts).value if row.traits.facts else UNKNOWN


def _compacted(row: Row) -> str:
    if row.figures is None:
        return UNKNOWN
    return "with" if row.figures.value("compactions") else "without"


_VALUES: dict[Dimension, Callable[[Row], str]] = {
    "run": lambda row: row.run.uid[:8],
    "agent": lambda row: row.trial.agent.name,
    "model": lambda row: row.trial.agent.model,
    "scaffold": _scaffold,
    "setting": lambda row: row.setting,
    "memory": lambda row: row.memory,
    "user": lambda row: row.trial.user.name,
    "world": lambda row: row.trial.world.name,
    "judge": lambda row: row.judged_by,
    "family": lambda row: row.family,
    "language": lambda row: row.traits.language,
    "difficulty": lambda row: row.traits.difficulty or UNKNOWN,
    "domain": lambda row: row.traits.domain,
    "tier": _tier,
    "compacted": _compacted,
    "task": lambda row: row.trial.task_id,
}


SPENT = ("cost", "tokens")
"""What the agent's own calls took, told like a measure: the cost in the configuration's currency, prompt and
completion tokens together; over all attempts of a trial."""


def figure_key(measure: str, taken: Summary) -> str:
    """The key of a measure and a way of combining samples: `triplet_f1.avg`."""
    return f"{measure}.{taken.value}"


def samples_of(rows: Iterable[Row]) -> RowSamples:
    """The judged rows with their cost and tokens. Samples of several runs are put together in the order of runs' uids, so
    that the order of rows does not matter.
    """
    judged = [row for row in rows if row.figures is not None]
    if not judged or judged[0].figures is None:
        return RowSamples({})
    first = judged[0].figures
    first.beside = known = first.beside or {}
    key = tuple(map(id, judged))
    if key not in known:
        tasks: dict[str, list[Row]] = {}
        for row in sorted(judged, key=place_of_row):
            tasks.setdefault(row.trial.task_id, []).append(row)
        # With the rows, since their ids are theirs only while they are there.
        known[key] = judged, RowSamples(tasks)
    _rows, found = cast("tuple[list[Row], RowSamples]", known[key])
    return found


class RowSamples(Samples):
    """The samples of rows by task, and what was counted of them: tables, plots and screens ask for the same figures."""

    def __init__(self, tasks: Mapping[str, Sequence[Row]]) -> None:
        def spent(name: str) -> Sequence[Sequence[Measure]]:
            return [[spent_of(row, name) for row in rows] for rows in tasks.values()]

        super().__init__(
            {
                task: [row.figures.measures for row in rows if row.figures is not None]
                for task, rows in tasks.items()
            },
            {name: partial(spent, name) for name in SPENT},
        )
        self.known: dict[tuple[Key, int], tuple[AggregateMeasure, Statistic]] = {}
        self.these: dict[str, Statistic] = {}


def with_task_intervals(
    samples: RowSamples, wanted: Collection[str] | None = None, *, resamples: int = RESAMPLES
) -> dict[Key, tuple[AggregateMeasure, Statistic]]:
    """All results of `aggregate` for these samples (or only `wanted` measures), with intervals by resampling tasks. The
    values equal those of `aggregate` exactly, and each interval depends on its own measure only, so it is the same in
    every table.
    """
    keys = keys_of(samples, wanted)
    new = {key[0] for key in keys if (key, resamples) not in samples.known}
    parts = parts_of(samples, new)
    for total in totals_of(samples, parts):
        key = (total.name, total.statistic)
        figure = figure_over(key, parts[key], samples.tasks)
        (statistic,) = with_intervals([figure], samples.tasks, resamples=resamples)
        exact = {"value": total.value, "n": total.n, "reason": total.reason}
        samples.known[key, resamples] = (total, statistic.model_copy(update=exact))
    return {key: samples.known[key, resamples] for key in keys}


def place_of_row(row: Row) -> tuple[str, str, int, int]:
    """The order of samples."""
    return row.trial.task_id, row.run.uid, row.trial.sample, row.trial.id


def spent_of(row: Row, name: str) -> Measure:
    """Of `SPENT`."""
    value = spent_value(row, name)
    return Measure(
        name, value, int(value is not None), "" if value is not None else _("calls without a price")
    )


def spent_value(row: Row, name: str) -> float | None:
    """Of `SPENT`; None where a call had no price."""
    spent = row.agent_spent
    if name == "tokens":
        return float(spent.usage.prompt + spent.usage.completion)
    return None if spent.unpriced else spent.cost


MOST_TRIALS = 30
"""So many of the newest trials of each agent are looked at,"""
MOST_RUNS = 20
"""in so many of the newest runs."""


class Taken(Frozen):
    """What one trial took, of everybody who called a model for it. `cost`: None where a call had no price; `seconds`:
    from its first event to its end.
    """

    calls: int
    tokens: int
    cost: float | None
    seconds: float


class Forecast(Frozen):
    """`trials`: how many earlier ones it rests on. `calls` and `tokens` are sums of the means of agents, `cost` too, None
    where a trial of these agents had a call without a price; `seconds` rests on medians, as trials may have been paused.
    `unknown`: agents without earlier trials, of which nothing is in the sums.
    """

    trials: int
    calls: int
    tokens: int
    cost: float | None
    seconds: float
    unknown: tuple[str, ...]


def forecast(
    past: Mapping[str, Sequence[Taken]], agents: Collection[str], trials: int, concurrency: int
) -> Forecast:
    """What `trials` of each of `agents` will take together, `concurrency` of all of them at a time."""
    calls = tokens = cost = seconds = 0.0
    known = {agent: past[agent] for agent in agents if past.get(agent)}
    for taken in known.values():
        calls += trials * fmean(each.calls for each in taken)
        tokens += trials * fmean(each.tokens for each in taken)
        cost += trials * fmean(each.cost or 0.0 for each in taken)
        seconds += median(each.seconds for each in taken) * trials
    # So many trials at a time, in rounds, of which the last takes as long as a full one.
    rounds = len(known) * trials / concurrency
    priced = all(each.cost is not None for taken in known.values() for each in taken)
    return Forecast(
        trials=sum(map(len, known.values())),
        calls=round(calls),
        tokens=round(tokens),
        cost=cost if priced else None,
        seconds=seconds / concurrency * (ceil(rounds) / rounds) if rounds else 0.0,
        unknown=tuple(agent for agent in agents if agent not in known),
    )


def past_trials(workspace: Workspace, agents: Collection[str]) -> dict[str, list[Taken]]:
    """What the newest finished trials of each agent took, of those that were played as its newest one was: with the same
    model and settings. Blocks for the database.
    """
    found = {agent: list[tuple[int, float]]() for agent in agents}
    played = dict[str, object]()
    for run in workspace.runs.all("grid")[:MOST_RUNS]:
        if all(len(trials) >= MOST_TRIALS for trials in found.values()):
            break
        for trial in reversed(workspace.runs.trials(run.id)):
            mine = found.get(trial.agent.name)
            if mine is None or len(mine) >= MOST_TRIALS or trial.ended_at is None:
                continue
            first = workspace.runs.beginning(trial.id, 1).events
            if first and played.setdefault(trial.agent.name, trial.agent) == trial.agent:
                mine.append((trial.id, (trial.ended_at - first[0].at).total_seconds()))
    ids = [trial for trials in found.values() for trial, _seconds in trials]
    spent = {trial: Taken(calls=0, tokens=0, cost=0.0, seconds=0.0) for trial in ids}
    for used in workspace.runs.usage_of(ids):
        before = spent[used.trial_id]
        priced = used.priced == used.calls and before.cost is not None
        spent[used.trial_id] = Taken(
            calls=before.calls + used.calls,
            tokens=before.tokens + used.usage.prompt + used.usage.completion,
            cost=(before.cost or 0.0) + (used.cost or 0.0) if priced else None,
            seconds=0.0,
        )
    return {
        agent: [spent[trial].model_copy(update={"seconds": seconds}) for trial, seconds in trials]
        for agent, trials in found.items()
    }
