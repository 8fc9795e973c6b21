"""The trials of one or more runs with all that tables, comparisons and plots need of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from cuecard.core.parts import PlayerRef, Usage
from cuecard.core.probes.settings import EXAMINER
from cuecard.core.scoring.facts import Tier, tier_of_count
from cuecard.core.scoring.trial_figures import TrialFigures
from cuecard.core.tasks import Family
from cuecard.core.tasks.base import Frozen
from cuecard.lab.figures import OnCount, judged_trials
from cuecard.lab.plans import settings_of
from cuecard.lab.roster import memory_of, setting_of
from cuecard.lab.scores import LEXICAL
from cuecard.store.records import RunRecord, TrialRecord, UsageRecord
from cuecard.store.result_records import TaskTraits

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Dimension = Literal[
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
    "language",
    "difficulty",
    "domain",
    "tier",
    "compacted",
    "task",
]
"""What trials can be told apart by; see `Row.value`."""
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
UNKNOWN = ""
AGENT_PAYERS = ("agent", "conclusion")
"""Whose calls are the agent's cost: what it said, and what it handed in."""


class Spent(Frozen):
    """Model calls and their tokens; `cost` is None where no call had a price, `unpriced`: calls without one."""

    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    unpriced: int = 0


class Row(Frozen):
    """One trial, as one judge left it. `judge` None and no `figures`: it has not ended, or `judged_by` has not
    judged it. `agent_spent`: the agent's own calls, `spent`: everybody's, both over all takes.
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
        """One of its players is an embedded offline one."""
        trial = self.trial
        players = (trial.agent, trial.user, trial.world, *((self.judge,) if self.judge else ()))
        return any(player.baseline for player in players)

    def measure(self, name: str) -> float | None:
        return self.figures.value(name) if self.figures else None

    def value(self, dimension: Dimension) -> str:
        """What the trial is in this dimension, in the words of files and the JSON; "" where it is not known.

        `run`: the first eight digits of its `uid`; `scaffold`: `single` or `team` for agents on a model, else
        the kind of agent; `tier`: of a closed world by its number of facts; `compacted`: `with` or `without`,
        known of judged trials.
        """
        return _VALUES[dimension](self)


class Pool(Frozen):
    """`runs` in the order in which they were asked for; a row for each trial and judge, in the order of runs and
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
    """The trials of these runs by each of `judges`; without any, by the first judge that each run was entered
    with. Examinations of tasks are no attempts and are left out.

    Reads the logs of trials that were not counted before; call it off the screen's thread. Raises `NotFound`.
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
        for judge in judges or (next(iter(settings.judges), LEXICAL),):
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
    tier: Tier | None = tier_of_count(row.traits.facts) if row.family == "facts" else None
    return tier.value if tier else UNKNOWN


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
