"""Output of `cuecard qc`: progress of probes, and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cuecard.annotate.quality.decision_table import (
    RULES,
    SIGNAL_LABEL,
    STAGE,
    STATE_LABEL,
    VERDICT_LABEL,
    StageName,
    StageState,
)
from cuecard.annotate.quality.report import QcReport, StageReport
from cuecard.core.engine.events import RunBegan, RunEvent
from cuecard.core.evaluation.probe_plan import PROBE_LABEL
from cuecard.core.evaluation.run_trials import Tally
from cuecard.core.i18n import _, listed, ngettext
from cuecard.core.text import one_line
from cuecard.tui.commands.output import console, note, say, table
from cuecard.tui.commands.run_output import tally_line

if TYPE_CHECKING:
    from rich.status import Status

    from cuecard.core.probes.results import ProbeName


_SIGN: dict[StageState, str] = {"open": "○", "skipped": "–", "passed": "✓", "flagged": "!"}
_IN_FULL = 3


def reports_json(
    reports: Sequence[QcReport], stages: Sequence[StageName], stopped: str
) -> dict[str, Any]:
    """`tasks`, `flagged` (ids) and why playing stopped."""
    return {
        "tasks": [_report_json(report, stages) for report in reports],
        "flagged": [report.task_id for report in reports if _flagged(report, stages)],
        "stopped": stopped,
    }


def show_reports(reports: Sequence[QcReport], stages: Sequence[StageName], currency: str) -> None:
    """Each task in full; of many a line each, then in full those that are flagged."""
    flagged = [report for report in reports if _flagged(report, stages)]
    shown = reports if len(reports) <= _IN_FULL else flagged
    if len(reports) > _IN_FULL:
        _overview(reports, stages)
    for report in shown:
        _in_full(report, stages, currency)
    text = ngettext(
        "{n} of {all} task is flagged.", "{n} of {all} tasks are flagged.", len(reports)
    )
    note(text.format(n=len(flagged), all=len(reports)))


def rules_json() -> dict[str, Any]:
    """The decision table, the gravest outcomes first."""
    rules = [
        {
            "key": rule.key,
            "proposes": rule.outcome,
            "when": {name: list(signs) for name, signs in rule.when.items()},
            "one_is": rule.one_is,
            "condition": rule.condition,
            "says": _(rule.says),
        }
        for rule in RULES
    ]
    return {"rules": rules}


def show_rules() -> None:
    rows = [
        (rule.key, _(VERDICT_LABEL[rule.outcome]), rule.condition, _(rule.says)) for rule in RULES
    ]
    table("", (_("rule"), _("proposes"), _("when"), _("because")), rows)


def _overview(reports: Sequence[QcReport], stages: Sequence[StageName]) -> None:
    table(
        "",
        (_("task"), *(str(STAGE[name].number) for name in stages), _("proposed"), _("decided")),
        [
            (
                report.task_id,
                *(_SIGN[report.stage(name).state] for name in stages),
                _proposed(report),
                _(VERDICT_LABEL[report.decided.verdict]) if report.decided else "–",
            )
            for report in reports
        ],
        numbers=range(1, len(stages) + 1),
    )
    signs = listed(f"{sign} {_(STATE_LABEL[state])}" for state, sign in _SIGN.items())
    names = listed(f"{STAGE[name].number} {_(STAGE[name].label)}" for name in stages)
    note(f"{names}\n{signs}")


def _in_full(report: QcReport, stages: Sequence[StageName], currency: str) -> None:
    title = _("{task}, revision {n}").format(task=report.task_id, n=report.revision)
    found = [report.stage(name) for name in stages]
    table(
        title,
        ("#", _("stage"), _("state"), "n", _("what came out")),
        [
            (
                STAGE[stage.stage].number,
                _(STAGE[stage.stage].label),
                f"{_SIGN[stage.state]} {_(STATE_LABEL[stage.state])}",
                stage.n,
                _outcome(stage, currency),
            )
            for stage in found
        ],
        numbers=(0, 3),
    )
    for stage in found:
        for text in stage.findings:
            say(f"  {_(STAGE[stage.stage].label)}: {one_line(text)}")
    if "verdict" in stages:
        _verdict(report)


def _outcome(stage: StageReport, currency: str) -> str:
    parts = [stage.said, listed(stage.models)]
    if stage.baselines:
        parts.append(
            ngettext(
                "{n} result of an offline baseline, not counted",
                "{n} results of offline baselines, not counted",
                stage.baselines,
            ).format(n=stage.baselines)
        )
    if stage.cost is not None:
        parts.append(f"{stage.cost:.4f} {currency}")
    return " · ".join(filter(None, parts))


def _verdict(report: QcReport) -> None:
    say(_("Proposed: {verdict}, because").format(verdict=_proposed(report)))
    for reason in report.proposal.reasons:
        say(f"  · {reason}")
    if report.proposal.unknown:
        names = listed(_(SIGNAL_LABEL[name]) for name in report.proposal.unknown)
        say(_("Not looked at: {signals}").format(signals=names))
    decided = report.decided
    if decided is None:
        say(_("Nobody has confirmed or changed it yet; in the app a person can.") + "\n")
        return
    who, said = decided.by or _("Somebody"), _(VERDICT_LABEL[decided.verdict])
    text = _("{person} decided: {verdict}.").format(person=one_line(who), verdict=said)
    say(f"{text} {one_line(decided.reason)}".rstrip() + "\n")


def _proposed(report: QcReport) -> str:
    verdict = _(VERDICT_LABEL[report.proposal.verdict])
    return _("{verdict} so far").format(verdict=verdict) if report.proposal.unknown else verdict


def _flagged(report: QcReport, stages: Sequence[StageName]) -> bool:
    return any(report.stage(name).state == "flagged" for name in stages)


def _report_json(report: QcReport, stages: Sequence[StageName]) -> dict[str, Any]:
    """The report with the stages that were asked for, and reasons as sentences."""
    data = report.model_dump(mode="json")
    data["stages"] = [report.stage(name).model_dump(mode="json") for name in stages]
    data["proposal"]["reasons"] = list(report.proposal.reasons)
    return {**data, "flagged": _flagged(report, stages)}


class Watch:
    """A progress line if stderr is a terminal, else a line for each probe."""

    def __init__(self, currency: str) -> None:
        self._currency = currency
        self._tally = Tally()
        self._label = ""
        self._status: Status | None = None

    def __enter__(self) -> Watch:
        if console(stderr=True).is_terminal:
            self._status = console(stderr=True).status("…")
            self._status.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._status:
            self._status.stop()

    def begins(self, probe: ProbeName) -> None:
        """The next probe's turn."""
        self._label, self._tally = _(PROBE_LABEL[probe]), Tally()
        self._show()

    def on_event(self, event: RunEvent) -> None:
        """Take in what the probe's run tells."""
        self._tally.on_event(event)
        if self._status:
            self._show()
        elif isinstance(event, RunBegan) and event.cells:
            note(_("{probe}: {n} to play").format(probe=self._label, n=event.cells))

    def _show(self) -> None:
        if self._status:
            counts = f"{self._tally.ended}/{self._tally.total}"
            line = f"{self._label} {counts} · {tally_line(self._tally, self._currency)}"
            self._status.update(one_line(line))
