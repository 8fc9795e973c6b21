"""The quality report of one revision: findings combined into signals, a report for each stage, and the proposal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cuecard.annotate.authoring.changes import place_in_words
from cuecard.annotate.lint.codes import Finding, Severity, finding_line
from cuecard.annotate.quality.decision_table import (
    STAGE,
    VERDICT_LABEL,
    Proposal,
    Signals,
    StageName,
    StageState,
)
from cuecard.core.config_schema import QcConfig
from cuecard.core.contributions import QcVerdict
from cuecard.core.families.registry import facts_of
from cuecard.core.i18n import _, joined, ngettext, plural
from cuecard.core.probes.results import ATTEMPTS, ProbeName, ProbeResult, not_applicable
from cuecard.core.records import EffortTotals
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task


class ExpertCheck(Frozen):
    """One judged response that people label item by item. `items`: those the judge decided; `labelled`: those with a
    label. `agreement`: percent, over the items that `judge` and the majority of people both decided; undefined until
    every item is labelled. `baseline`: the judge is no model.
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


class PersonDecision(Frozen):
    """A person's decision on a proposal. `hidden`: `by` and `reason` are "" because they might disclose reviews that
    the reader must not see yet. `outdated`: the signals have changed since.
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
    """The result of one stage. `said`: the result, or why there is none, translated. `n`: attempts, findings or items
    that count; `baselines`: results of offline baselines, shown but not counted. `cost`: None if nothing was spent or
    has a price. `at`: when it last ran.
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
    decisions: tuple[PersonDecision, ...] = ()

    def stage(self, name: StageName) -> StageReport:
        return next(report for report in self.stages if report.stage == name)

    @property
    def decided(self) -> PersonDecision | None:
        """The newest decision, which counts."""
        return self.decisions[0] if self.decisions else None


Share = Literal["open", "off", "clear", "some", "most"]
Seen = Literal["open", "off", "clear", "found"]


@dataclass(frozen=True)
class QcInputs:
    """What a report is computed from. `findings`: of the linter; `probes`: all results for the revision; `run_dates`:
    when their runs began; `effort`: on the task, None if none was recorded; `without_model`: probes without a
    configured model.
    """

    task: Task
    findings: Sequence[Finding] = ()
    probes: Sequence[ProbeResult] = ()
    run_dates: Mapping[int, datetime] = field(default_factory=dict[int, datetime])
    effort: EffortTotals | None = None
    check: ExpertCheck | None = None
    bars: QcConfig = field(default_factory=QcConfig)
    without_model: frozenset[ProbeName] = frozenset()

    def of(self, *probes: ProbeName) -> tuple[ProbeResult, ...]:
        return tuple(result for result in self.probes if result.probe in probes)


def weigh(inputs: QcInputs) -> tuple[Signals, tuple[StageReport, ...]]:
    """The signals, and the report of every stage but the verdict."""
    leaked, closed_book = _attempts(inputs, "closed_book", "closed_book")
    solvable, open_book = _attempts(inputs, "open_book", "open_book")
    shallow, ambiguity = _examined(inputs, "ambiguity")
    lawless, missed, laws = _laws(inputs)
    structure, difficulty = _structure(inputs), _difficulty(inputs)
    agreement = _agreement(inputs)
    signals = Signals(
        errors="found" if structure.state == "flagged" else "clear",
        leaked="open" if leaked == "off" else leaked,
        solvable=solvable,
        shallow=shallow,
        lawless=lawless,
        missed=missed,
        hurried=_found(difficulty),
        disputed=_found(agreement),
    )
    reports = (structure, closed_book, open_book, ambiguity, laws, difficulty, agreement)
    return signals, reports


def verdict_report(proposal: Proposal, decisions: Sequence[PersonDecision]) -> StageReport:
    """The last stage: a person's decision, or else the proposal."""
    if not decisions:
        said = _("Proposed: {verdict}. Nobody has confirmed it yet.")
        verdict = _(VERDICT_LABEL[proposal.verdict])
        return StageReport(stage="verdict", state="open", said=said.format(verdict=verdict))
    newest = decisions[0]
    said = _("{person} decided: {verdict}.").format(
        person=newest.by or _("Somebody"), verdict=_(VERDICT_LABEL[newest.verdict])
    )
    if newest.outdated:
        said = joined((said, _("The signals have changed since.")))
    return StageReport(
        stage="verdict",
        state="passed" if newest.verdict == "keep" else "flagged",
        said=said,
        n=len(decisions),
        at=newest.at,
    )


def evidence_in(results: Sequence[ProbeResult]) -> tuple[ProbeResult, ...]:
    """The results that count as evidence. Those of offline baselines do not; from our own rules only positive findings
    do.
    """
    said = (r for r in results if not r.baseline and r.flagged is not None)
    return tuple(result for result in said if result.model or result.flagged)


def share_of(results: Sequence[ProbeResult]) -> Share:
    """How often a flaw was found, by the model that is right most often: the highest share if being right is the flaw,
    the lowest if being wrong is. `open` without evidence.
    """
    by_model: dict[str, list[bool]] = defaultdict(list)
    for result in evidence_in(results):
        by_model[result.model].append(bool(result.flagged))
    if not by_model:
        return "open"
    shares = [sum(flags) / len(flags) for flags in by_model.values()]
    share = min(shares) if results[0].probe == "with_facts" else max(shares)
    return "clear" if share == 0 else "some" if share < 0.5 else "most"


def _attempts(inputs: QcInputs, stage: StageName, probe: ProbeName) -> tuple[Share, StageReport]:
    if why := not_applicable(probe, inputs.task):
        return "off", StageReport(stage=stage, state="skipped", said=_sentence(why))
    results = inputs.of(probe)
    share = share_of(results)
    said = _said_of_attempts(results)
    state = "passed" if share == "clear" else "flagged"
    return share, _report(stage, results, inputs, said, state)


def _examined(inputs: QcInputs, stage: Literal["ambiguity"]) -> tuple[Seen, StageReport]:
    if why := not_applicable(stage, inputs.task):
        return "off", StageReport(stage=stage, state="skipped", said=_sentence(why))
    results = inputs.of(stage)
    seen = _seen(results)
    said = (
        _("It can be seen through without any search.")
        if seen == "found"
        else _("It takes a search to see it.")
    )
    state = "flagged" if seen == "found" else "passed"
    return seen, _report(stage, results, inputs, said, state)


def _laws(inputs: QcInputs) -> tuple[Seen, Share, StageReport]:
    if why := not_applicable("laws", inputs.task):
        return "off", "off", StageReport(stage="laws", state="skipped", said=_sentence(why))
    laws, facts = inputs.of("laws"), inputs.of("with_facts")
    seen, share = _seen(laws), share_of(facts)
    said = {
        "open": _("The facts were not examined."),
        "clear": _("The facts hold together."),
        "found": _("The facts do not hold together."),
    }[seen]
    if evidence_in(facts):
        said = joined((said, _("With all facts given:"), _said_of_attempts(facts)))
    elif evidence_in(laws):
        said = joined((said, _("Nobody has tried with all facts given.")))
    flagged = seen == "found" or share in ("some", "most")
    sound = seen == share == "clear"
    state = "flagged" if flagged else "passed" if sound else "open"
    return seen, share, _report("laws", (*laws, *facts), inputs, said, state)


def _seen(results: Sequence[ProbeResult]) -> Literal["open", "clear", "found"]:
    flags = [result.flagged for result in evidence_in(results)]
    return "open" if not flags else "found" if any(flags) else "clear"


def _report(
    stage: StageName,
    results: tuple[ProbeResult, ...],
    inputs: QcInputs,
    said: str,
    state: StageState,
) -> StageReport:
    """The report of a stage with these results. `said` and `state` apply if there is evidence."""
    evidence = evidence_in(results)
    baselines = sum(result.baseline and result.flagged is not None for result in results)
    costs = [result.cost for result in results if result.cost is not None]
    dates = [at for r in results if r.run_id and (at := inputs.run_dates.get(r.run_id))]
    if evidence:
        if missing := sum(result.why not in ("", "no_model") for result in results):
            said = joined((said, plural("{n} gave no result.", "{n} gave no result.", missing)))
    elif baselines:
        state = "skipped"
        said = _("Only embedded players or worlds took part; that says nothing about models.")
    elif inputs.without_model.issuperset(STAGE[stage].probes) and not any(
        result.trial_id for result in results
    ):
        state, said = "skipped", _("No model: name one in cuecard.yaml.")
    elif reasons := tuple(dict.fromkeys(r.skipped for r in results if r.skipped)):
        state = "open" if all(result.why == "open" for result in results) else "skipped"
        said = _sentence(_("; ").join(reasons))
    else:
        state, said = "open", _("Not run yet.")
    return StageReport(
        stage=stage,
        state=state,
        said=said,
        n=len(evidence),
        baselines=baselines,
        models=tuple(dict.fromkeys(result.model for result in evidence if result.model)),
        cost=sum(costs) if costs else None,
        at=max(dates, default=None),
        findings=_findings(results),
        results=tuple(result for result in results if result.trial_id is not None),
    )


def _sentence(text: str) -> str:
    return _("{sentence}.").format(sentence=text[:1].upper() + text[1:])


def _findings(results: Sequence[ProbeResult]) -> tuple[str, ...]:
    """What examinations found; results of attempts stand with each attempt."""
    examined = [result for result in results if result.probe not in ATTEMPTS]
    return tuple(dict.fromkeys(text for result in examined for text in result.findings))


def _said_of_attempts(results: Sequence[ProbeResult]) -> str:
    evidence = evidence_in(results)
    right = sum(bool(result.right) for result in evidence)
    return plural(
        "{k} of {n} attempt was right.", "{k} of {n} attempts were right.", len(evidence), k=right
    )


def _structure(inputs: QcInputs) -> StageReport:
    errors = [f for f in inputs.findings if f.severity is Severity.ERROR and not f.silenced]
    text = ngettext("The linter finds {n} error.", "The linter finds {n} errors.", len(errors))
    data = inputs.task.model_dump(mode="json") if errors else {}
    return StageReport(
        stage="structure",
        state="flagged" if errors else "passed",
        said=text.format(n=len(errors)) if errors else _("The linter finds no error."),
        n=len(errors),
        findings=tuple(finding_line(f, place_in_words(f.place, data)) for f in errors),
    )


def _difficulty(inputs: QcInputs) -> StageReport:
    effort, bars = inputs.effort, inputs.bars
    if effort is None:
        said = _("No effort was recorded: the task was not written here.")
        return StageReport(stage="difficulty", state="skipped", said=said)
    minutes = effort.seconds / 60
    # A world of invented facts is not looked up anywhere.
    pages = None if facts_of(inputs.task) else effort.pages
    said = [_("{n:.0f} minutes (at least {bar:g})").format(n=minutes, bar=bars.minutes)]
    if pages is not None:
        said.append(
            plural("{n} page (at least {bar})", "{n} pages (at least {bar})", pages, bar=bars.pages)
        )
    said.append(plural("{n} query", "{n} queries", effort.queries))
    short = minutes < bars.minutes or (pages is not None and pages < bars.pages)
    return StageReport(
        stage="difficulty", state="flagged" if short else "passed", said=_(", ").join(said), n=1
    )


def _agreement(inputs: QcInputs) -> StageReport:
    check = inputs.check
    if check is None:
        said = _("No response to this revision was judged yet; play and judge it first.")
        return StageReport(stage="agreement", state="skipped", said=said)
    if not check.complete:
        said = plural(
            "{labelled} of {n} item is labelled.",
            "{labelled} of {n} items are labelled.",
            check.items,
            labelled=check.labelled,
        )
        return StageReport(stage="agreement", state="open", said=said)
    found = check.agreement
    report = StageReport(
        stage="agreement", state="skipped", said=found.reason, n=found.n, models=(check.judge,)
    )
    if found.value is None:
        return report
    said = ngettext(
        "{judge} and people agree on {share:.0%} of {n} item (at least {bar:.0%}).",
        "{judge} and people agree on {share:.0%} of {n} items (at least {bar:.0%}).",
        found.n,
    ).format(judge=check.judge, share=found.value, n=found.n, bar=inputs.bars.agreement)
    if check.baseline:
        said = joined((said, _("The judge is an offline baseline, not an LLM.")))
    state = "passed" if found.value >= inputs.bars.agreement else "flagged"
    return report.model_copy(update={"state": state, "said": said})


def _found(report: StageReport) -> Literal["open", "clear", "found"]:
    if report.state in ("open", "skipped"):
        return "open"
    return "found" if report.state == "flagged" else "clear"
