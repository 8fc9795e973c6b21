"""The records of a fidelity report, frozen and ready for JSON."""

from enum import StrEnum
from typing import Literal

from cuecard.annotate.agreement.tables import CeilingTable, ConfusionMatrix
from cuecard.annotate.fidelity.inputs import GroupBy, Source, Subject
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item, ItemKind


class FindingKind(StrEnum):
    """What can be wrong with a simulator's turn: three kinds that depend on the reference, then faults of words
    (`core.users.faults.FaultKind`, same values), then `unusable`: its model's output could not be used.

    `early`: discloses (a line, a clue, or leave to go on) where the reference says not met; `late`: withholds where the
    reference says met; `status`: another checkpoint status that gives neither more nor less.
    """

    EARLY = "early"
    LATE = "late"
    STATUS = "status"
    LEAK = "leak"
    FORBIDDEN = "forbidden"
    AHEAD = "ahead"
    SKIPPED = "skipped"
    DOUBLED = "doubled"
    MISSING_LINE = "missing_line"
    MARKDOWN = "markdown"
    STRUCTURE = "structure"
    COACHED = "coached"
    IGNORED = "ignored"
    UNUSABLE = "unusable"


Met = Literal["", "met", "not_met"]
AGAINST_REFERENCE = (FindingKind.EARLY, FindingKind.LATE, FindingKind.STATUS)


class Finding(Frozen):
    """`found`: the words that show it. `flagged`: a check recorded it with the reply, whose words were corrected
    afterwards.
    """

    kind: FindingKind
    found: str = ""
    flagged: bool = False


class TurnFindings(Frozen):
    """One simulator's turn with something wrong, and the texts to read: the agent's reply, the words of the person who
    played ("" if nobody did) and of the simulator, both decisions ("" for none). `severity`: of the worst finding, 1 to
    5 (`findings.SEVERITY`). `stage` counts from 1, `checkpoint` from 0.
    """

    trial_id: int
    turn: int
    run_id: int
    task_id: str
    revision: int
    language: str
    subject: Subject
    agent: str
    stage: int | None
    checkpoint: int | None
    cue: str
    simulator: PlayerRef
    source: Source
    reference: str
    decision: str
    agent_text: str
    person: str
    person_text: str
    simulator_text: str
    reason: str
    findings: tuple[Finding, ...]
    severity: int

    @property
    def item(self) -> Item:
        """What people label of it."""
        kind = ItemKind.STATUS if self.subject == "status" else ItemKind.CUE
        return Item(kind=kind, index=self.turn)


class Agreement(Frozen):
    """A simulator against the reference on the turns that both decided: `percent`, `cohen_kappa`, `ac1`, with intervals
    by task. `by` None: all turns, else those with `value` in this grouping. `simulator` is one of
    `Fidelity.simulators`.
    """

    simulator: PlayerRef
    subject: Subject
    by: GroupBy | None
    value: str
    n: int
    tasks: int
    percent: Statistic
    cohen_kappa: Statistic
    ac1: Statistic
    confusion: ConfusionMatrix | None = None


class PeopleAgreement(Frozen):
    """Agreement among people on turns that two or more decided: percent, the mean of Cohen's kappa over pairs of people
    (Light 1971), AC1.
    """

    subject: Subject
    people: tuple[str, ...]
    n: int
    tasks: int
    percent: Statistic
    cohen_kappa: Statistic
    ac1: Statistic


class Ceiling(Frozen):
    """Agreement of the simulator with people beside that among people, and the difference, on the turns that it and at
    least two people decided.
    """

    simulator: PlayerRef
    subject: Subject
    table: CeilingTable


class FindingCount(Frozen):
    """`n` of `turns` have the finding (`kind` None: any); `rate` is that share with its interval by task (Wilson's if
    no task differs). `turns` are those that could have it: for early those whose
    reference is not met, for late those whose reference is met, for status the checkpoint turns that both decided, else
    every turn.
    """

    kind: FindingKind | None
    n: int
    turns: int
    tasks: int
    rate: Statistic


class Similarity(Frozen):
    """How similar the simulator's words are to the person's, where not both use the task's line as written. `met`: what
    the reference says of these turns, "" for all. `chrf`: mean chrF (0 to 1, Popović 2015) of its replies against the
    person's; `length`: its characters per character of the person's.
    """

    met: Met
    n: int
    tasks: int
    chrf: Statistic
    length: Statistic


class SimulatorFindings(Frozen):
    """All findings in one simulator's `turns`. `with_any`: the share with a finding. `simulator` None: the turns of the
    people who played, by the same rules, for comparison.
    """

    simulator: PlayerRef | None
    turns: int
    tasks: int
    decided: int
    with_any: FindingCount
    counts: tuple[FindingCount, ...]
    similarity: tuple[Similarity, ...] = ()

    def count(self, kind: FindingKind) -> FindingCount | None:
        return next((found for found in self.counts if found.kind is kind), None)


class OutcomeCell(Frozen):
    """One task revision with one agent in one world: the means of people's and the simulator's trials, by measure name."""

    task_id: str
    revision: int
    agent: PlayerRef
    world: PlayerRef
    people_trials: int
    simulator_trials: int
    people: dict[str, float]
    simulator: dict[str, float]


class OutcomeMeasure(Frozen):
    """Means over paired cells that have a value on both sides (pooled ratios: over all paired cells), and their
    difference, simulator minus people; intervals by task.
    """

    name: str
    people: Statistic
    simulator: Statistic
    difference: Statistic


class Outcome(Frozen):
    """Scores with a simulator compared with people on the same task revisions, agents and worlds. `judge`: whose
    scores, "" if nothing was judged. `only_people`, `only_simulator`: cells without a counterpart on tasks that people
    played, which enter no number. `baselines`: agents, worlds and judges that are offline baselines. `people_ends`,
    `simulator_ends`: how the trials of the paired cells ended.
    """

    simulator: PlayerRef
    agent: str
    judge: str
    baselines: tuple[str, ...]
    cells: tuple[OutcomeCell, ...]
    tasks: int
    people_trials: int
    simulator_trials: int
    only_people: int
    only_simulator: int
    measures: tuple[OutcomeMeasure, ...]
    people_ends: dict[str, int]
    simulator_ends: dict[str, int]

    def measure(self, name: str) -> OutcomeMeasure | None:
        return next((found for found in self.measures if found.name == name), None)


class Point(Frozen):
    """A session in a scatter plot: `x` the person's answer, `y` the score."""

    trial_id: int
    task_id: str
    person: str
    x: float
    y: float


class Correlation(Frozen):
    """Answers on one scale correlated with one measure over `sessions` sessions on `tasks` tasks.

    `spearman`, `kendall`: over all sessions, with intervals by resampling tasks. `spearman_within`: of ranks minus
    their task's mean, `kendall_within`: over pairs of sessions of the same task, both over tasks with two sessions or
    more. `design_effect`: the factor by which dependence within tasks increases the variance
    (`correlation.design_effect`), None if undefined.
    """

    scale: str
    label: str
    measure: str
    sessions: int
    tasks: int
    spearman: Statistic
    kendall: Statistic
    spearman_within: Statistic
    kendall_within: Statistic
    design_effect: float | None
    points: tuple[Point, ...]


class Meaning(Frozen):
    """Whether scores agree with people's ratings: `sessions` have a form, `scored` of them were judged by `judge`;
    `baselines`: agents, worlds and judges among them that are offline baselines.
    """

    judge: str
    sessions: int
    scored: int
    people: tuple[str, ...]
    baselines: tuple[str, ...]
    correlations: tuple[Correlation, ...]

    def of(self, scale: str) -> tuple[Correlation, ...]:
        return tuple(found for found in self.correlations if found.scale == scale)


class Fidelity(Frozen):
    """The whole report. `simulators`: as `inputs.Simulators` combines players. `stale`: shadow replies to turns that
    were taken back; `unsure`, `undecided`: decisions left open by people, and by simulators. `worst`: the turns to read
    first.
    """

    runs: tuple[int, ...]
    tasks: tuple[str, ...]
    trials: int
    played: int
    turns: int
    simulators: tuple[PlayerRef, ...]
    people: tuple[str, ...]
    stale: int
    unsure: int
    undecided: int
    agreements: tuple[Agreement, ...]
    among_people: tuple[PeopleAgreement, ...]
    ceilings: tuple[Ceiling, ...]
    findings: tuple[SimulatorFindings, ...]
    worst: tuple[TurnFindings, ...]
    outcomes: tuple[Outcome, ...]
    meaning: Meaning | None

    def agreement(
        self, simulator: PlayerRef, subject: Subject, by: GroupBy | None = None, value: str = ""
    ) -> Agreement | None:
        return next(
            (
                found
                for found in self.agreements
                if (found.simulator, found.subject, found.by, found.value)
                == (simulator, subject, by, value)
            ),
            None,
        )
