"""What quality control knows of one revision: a report for each stage, the signals, the proposal."""

from __future__ import annotations

from datetime import datetime

from cuecard.annotate.agreement import Statistic
from cuecard.annotate.qc.decision import Proposal
from cuecard.annotate.qc.signals import Signals
from cuecard.annotate.qc.stages import StageName, StageState
from cuecard.core.probes.results import ProbeResult
from cuecard.core.review import QcVerdict
from cuecard.core.tasks.base import Frozen


class ExpertCheck(Frozen):
    """One judged response that people label item by item. `items`: what the judge decided; `labelled`:
    how many of them have a label. `agreement`: percent, over the items that `judge` and the majority of
    people both decided; its n is theirs; undefined until every item is labelled. `baseline`: the judge
    is no model.
    """

    run_id: int
    run_name: str
    trial_id: int
    agent: str
    judge: str
    baseline: bool
    people: tuple[str, ...]
    items: int
    labelled: int
    agreement: Statistic

    @property
    def complete(self) -> bool:
        return self.labelled >= self.items


class Decided(Frozen):
    """What a person made of a proposal. `hidden`: `by` and `reason` are "" because they might tell of
    reviews that the reader must not see yet. `outdated`: the signals are others now.
    """

    verdict: QcVerdict
    proposed: QcVerdict
    by: str
    at: datetime
    rules: tuple[str, ...]
    reason: str = ""
    hidden: bool = False
    outdated: bool = False


class StageReport(Frozen):
    """`said`: what came out, or why nothing did, translated. `n`: attempts, findings or items that
    count; `baselines`: results of embedded players, which are shown and count for nothing. `cost`: None
    where nothing was spent or has a price. `at`: when it was last run.
    """

    stage: StageName
    state: StageState
    said: str
    n: int = 0
    baselines: int = 0
    models: tuple[str, ...] = ()
    cost: float | None = None
    at: datetime | None = None
    findings: tuple[str, ...] = ()
    results: tuple[ProbeResult, ...] = ()


class QcReport(Frozen):
    """Everything about one revision, as one person may see it. `decisions` the newest first."""

    task_id: str
    title: str
    revision: int
    stages: tuple[StageReport, ...]
    signals: Signals
    proposal: Proposal
    check: ExpertCheck | None = None
    decisions: tuple[Decided, ...] = ()

    def stage(self, name: StageName) -> StageReport:
        return next(report for report in self.stages if report.stage == name)

    @property
    def decided(self) -> Decided | None:
        """The decision that counts."""
        return self.decisions[0] if self.decisions else None
