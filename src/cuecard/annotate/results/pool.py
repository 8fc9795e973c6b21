"""The `Pool`: trials of runs with all that tables, comparisons and plots need, and how a task's samples combine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from cuecard.annotate.agreement.intervals import RESAMPLES, with_intervals
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.annotate.results.dimensions import Dimension
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.evaluation.plans import memory_of, setting_of, settings_of
from cuecard.core.evaluation.scores import OnCount, judged_trials
from cuecard.core.families.facts.family import tier_of_count
from cuecard.core.families.graph.judge import GRAPH_MEASURES
from cuecard.core.i18n import _
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import RunRecord, TaskTraits, TrialRecord, UsageRecord
from cuecard.core.scoring.aggregate import (
    BEST_BY,
    AggregateMeasure,
    Key,
    TrialScore,
    by_task,
    measured_as,
    totals_of,
)
from cuecard.core.scoring.aggregate import Statistic as Taken
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Family
from cuecard.core.verdicts import Measure

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


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
    grids.
    """

    runs: tuple[RunRecord, ...]
    rows: tuple[Row, ...]

    def where(self, keep: Callable[[Row], bool]) -> Pool:
        return Pool(runs=self.runs, rows=tuple(row for row in self.rows if keep(row)))

    def values(self, dimension: Dimension) -> tuple[str, ...]:
        """Those that occur, in the order of first occurrence."""
        return tuple(dict.fromkeys(row.value(dimension) for row in self.rows))

    @property
    def families(self) -> tuple[Family, ...]:
        return tuple(dict.fromkeys(row.family for row in self.rows))


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
    records: list[RunRecord] = []
    rows: list[Row] = []
    for run_id in dict.fromkeys(runs):
        run = workspace.runs.get(run_id)
        records.append(run)
        settings = settings_of(run)
        every = [t for t in workspace.runs.trials(run_id) if t.agent.kind != EXAMINER]
        traits = workspace.runs.traits(run_id)
        usage = _by_trial(workspace.runs.usage(run_id))
        for judge in judges or (next(iter(settings.judges), DEFAULT_JUDGE),):
            judged = {
                one.trial.id: one
                for one in judged_trials(workspace, run_id, judge, trials=every, on_count=on_count)
            }
            for trial in every:
                found = judged.get(trial.id)
                mine = usage.get(trial.id, [])
                rows.append(
                    Row(
                        run=run,
                        trial=trial,
                        traits=traits[trial.task_id, trial.revision],
                        judged_by=judge,
                        judge=found.head.judge if found else None,
                        figures=found.figures if found else None,
                        setting=setting_of(settings.roster, trial.agent.name, trial.family),
                        memory=memory_of(settings.roster, trial.agent.name),
                        agent_spent=_sum(used for used in mine if used.payer in AGENT_PAYERS),
                        spent=_sum(mine),
                    )
                )
    return Pool(runs=tuple(records), rows=tuple(rows))


def _by_trial(usage: Iterable[UsageRecord]) -> dict[int, list[UsageRecord]]:
    found: dict[int, list[UsageRecord]] = {}
    for used in usage:
        found.setdefault(used.trial_id, []).append(used)
    return found


def _sum(records: Iterable[UsageRecord]) -> Spent:
    total, calls, priced, costs = Usage(), 0, 0, list[float]()
    for used in records:
        total = total.plus(used.usage)
        calls += used.calls
        priced += used.priced
        costs += [used.cost] if used.cost is not None else []
    return Spent(
        calls=calls, usage=total, cost=sum(costs) if costs else None, unpriced=calls - priced
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


def figure_key(measure: str, taken: Taken) -> str:
    """The key of a measure and a way of combining samples: `triplet_f1.avg`."""
    return f"{measure}.{taken.value}"


def measures_of(row: Row, wanted: Collection[str] | None = None) -> tuple[Measure, ...]:
    """A judged trial's measures, cost and tokens; `wanted`: only these. Empty for one that is not judged."""
    if row.figures is None:
        return ()
    bases = None if wanted is None else {measured_as(name) for name in wanted}
    found = [m for m in row.figures.measures if bases is None or m.name in bases]
    names = {measure.name for measure in found}
    # The best sample is chosen by a measure that may not be asked for.
    if names & set(GRAPH_MEASURES) and BEST_BY not in names:
        found += [m for m in row.figures.measures if m.name == BEST_BY]
    found += [_spent(row, name) for name in SPENT if wanted is None or name in wanted]
    return tuple(found)


def scores_of(rows: Iterable[Row], wanted: Collection[str] | None = None) -> tuple[TrialScore, ...]:
    """The judged rows as input of `aggregate`. Samples of several runs are put together in the order of runs' uids, so
    that the order of rows does not matter.
    """
    judged = sorted((row for row in rows if row.figures is not None), key=_place)
    at: dict[str, int] = defaultdict(int)
    found: list[TrialScore] = []
    for row in judged:
        task = row.trial.task_id
        found.append(TrialScore(task, at[task], measures_of(row, wanted)))
        at[task] += 1
    return tuple(found)


def with_task_intervals(
    scores: Sequence[TrialScore],
    wanted: Collection[str] | None = None,
    *,
    resamples: int = RESAMPLES,
) -> dict[Key, tuple[AggregateMeasure, Statistic]]:
    """All results of `aggregate` for these scores (or only `wanted` measures), with intervals by resampling tasks. The
    values equal those of `aggregate` exactly, and each interval depends on its own measure only, so it is the same in
    every table.
    """
    parts = by_task(scores)
    tasks = sorted({score.task_id for score in scores})
    if wanted is not None:
        parts = {key: own for key, own in parts.items() if key[0] in wanted}
    totals = {(total.name, total.statistic): total for total in totals_of(parts, scores)}
    found: dict[Key, tuple[AggregateMeasure, Statistic]] = {}
    for key, total in totals.items():
        figure = figure_over(key, parts[key], tasks)
        (statistic,) = with_intervals([figure], tasks, resamples=resamples)
        exact = {"value": total.value, "n": total.n, "reason": total.reason}
        found[key] = (total, statistic.model_copy(update=exact))
    return found


def _place(row: Row) -> tuple[str, str, int, int]:
    return row.trial.task_id, row.run.uid, row.trial.sample, row.trial.id


def _spent(row: Row, name: str) -> Measure:
    spent = row.agent_spent
    if name == "tokens":
        return Measure(name, float(spent.usage.prompt + spent.usage.completion), 1)
    if spent.cost is None or spent.unpriced:
        return Measure(name, None, 0, _("calls without a price"))
    return Measure(name, spent.cost, 1)
