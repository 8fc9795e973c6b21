"""The `Pool`: trials of runs with all that tables, comparisons and plots need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cuecard.annotate.results import Dimension
from cuecard.core.engine.messages import PlayerRef, Usage
from cuecard.core.evaluation.plans import memory_of, no_exam, setting_of, settings_of
from cuecard.core.evaluation.scores import OnCount, judged_trials
from cuecard.core.families.facts.family import tier_of_count
from cuecard.core.i18n import current_language
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.core.probes.results import EXAMINER
from cuecard.core.records import RunRecord, TaskTraits, TrialRecord, UsageRecord
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.system import uncollected
from cuecard.core.tasks.models import Family

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace


T = TypeVar("T")
UNKNOWN = ""
AGENT_PAYERS = ("agent", "conclusion")
"""The payers whose calls count as the agent's cost: its turns and its final prediction."""


class Spent(NamedTuple):
    """Model calls and their tokens; `cost` is None if no call had a price, `unpriced` counts calls without one."""

    calls: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    unpriced: int = 0


class Row(NamedTuple):
    """One trial with one judge's scores. `judge` and `figures` None: it has not ended, or `judged_by` has not judged
    it. `agent_spent`: the agent's own calls, `spent`: everybody's, both with earlier attempts. `kind`: the same for
    rows of one run, family and set of players. `unit`: the task's id and the number of its revision.
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
    kind: object
    unit: tuple[str, int]

    @property
    def family(self) -> Family:
        return self.trial.family

    def of_trial(self, trial: TrialRecord) -> Row:
        """The same with another trial."""
        kind = self.kind, id(trial.agent), id(trial.user), id(trial.world), trial.family
        return self._replace(trial=trial, kind=kind, unit=(trial.task_id, trial.revision))

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


@dataclass(frozen=True, eq=False)
class Pool:
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
        return Pool(runs=self.runs, rows=kept, usage=self.usage)

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
        run = no_exam(workspace.runs.get(run_id))
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
                    Row(
                        run,
                        trial,
                        traits[unit],
                        judge,
                        who,
                        found.figures if found else None,
                        setting,
                        memory,
                        agent_spent,
                        whole,
                        # An object of their own is hashed faster than what it stands for.
                        kinds.setdefault(players, object()),
                        unit,
                    )
                )
    return Pool(runs=tuple(records), rows=tuple(rows), usage=tuple(usage))


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
        return Spent(one.calls, one.usage, one.cost, one.calls - one.priced)
    calls = sum(used.calls for used in found)
    costs = [used.cost for used in found if used.cost is not None]
    return Spent(
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
