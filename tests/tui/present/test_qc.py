"""Quality control as rows and paragraphs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cuecard.annotate.quality.decision_table import STAGES, Signals, propose
from cuecard.annotate.quality.report import PersonDecision, QcReport, StageReport
from cuecard.core.engine.events import (
    CallAnswered,
    RunBegan,
    Termination,
    TrialBegan,
    TrialFinished,
)
from cuecard.core.engine.messages import Usage
from cuecard.core.probes.results import ProbeResult
from cuecard.tui.live_runs import LiveQc
from cuecard.tui.present.qc import (
    badge,
    detail,
    heading,
    models,
    outcome,
    probe_answers,
    summary,
    who,
)

DAY = datetime(2030, 1, 2, 12, tzinfo=UTC)


def _report(**more: Any) -> QcReport:
    signals = Signals(errors="clear", leaked="most")
    tried = [
        ProbeResult(probe="closed_book", trial_id=1, model="big", score=1.0, right=True, findings=("answered: \x1b[31m8",)),
        ProbeResult(probe="closed_book", trial_id=2, model="big", sample=1, score=0.0, right=False),
        ProbeResult(probe="closed_book", trial_id=3, model="offline", baseline=True, right=True),
        ProbeResult(probe="closed_book", trial_id=4, model="big", skipped="no answer", why="failed"),
    ]  # fmt: skip
    reports = {name: StageReport(stage=name, state="open", said="…") for name in STAGES}
    reports["closed_book"] = StageReport(
        stage="closed_book",
        state="flagged",
        said="1 of 2 attempts was right.",
        n=2,
        baselines=1,
        models=("big",),
        cost=0.5,
        at=DAY,
        results=tuple(tried),
    )
    reports["laws"] = StageReport(stage="laws", state="skipped", said="n/a", baselines=1)
    return QcReport(
        task_id="t",
        title="Title",
        revision=3,
        stages=tuple(reports.values()),
        signals=signals,
        proposal=propose(signals),
        **more,
    )


def _text(lines: Any) -> str:
    return "\n".join(getattr(line, "text", "") for line in lines)


def test_rows_say_what_was_seen_by_whom() -> None:
    report = _report()
    assert [badge(report.stage(name))[0] for name in ("closed_book", "laws")] == [
        "! flagged",
        "– skipped",
    ]
    assert [models(report.stage(name)) for name in ("closed_book", "laws")] == ["big", "baseline"]
    # Nothing is run for those: a person is waited for.
    assert badge(report.stage("ambiguity")) == ("○ not run", "muted")
    assert (
        badge(report.stage("agreement")) == badge(report.stage("verdict")) == ("○ pending", "muted")
    )
    results = report.stage("closed_book").results
    assert [(who(result), outcome(result).text) for result in results] == [
        ("big", "! right"),
        ("big", "· wrong"),
        ("offline (baseline)", "· right"),
        ("big", "– no result"),
    ]
    assert probe_answers(results[0], probe=False) == "answered: 8"
    assert probe_answers(results[3], probe=True) == "closed book: no answer"


def test_what_stands_behind_a_stage_and_beside_a_review() -> None:
    closed = _text(detail(_report(), "closed_book"))
    assert "leaks from its memory" in closed
    assert "1 result is an offline baseline's: shown, but no evidence." in closed
    hidden = PersonDecision(verdict="keep", proposed="remove", by="", at=DAY, rules=(), hidden=True)
    mine = PersonDecision(
        verdict="remove", proposed="remove", by="Eve", at=DAY, rules=(), reason="leaks"
    )
    report = _report(decisions=(hidden, mine))
    verdict = _text(detail(report, "verdict"))
    assert "Models know the answer" in verdict
    assert "rule: right from memory: in most attempts" in verdict
    assert "somebody: ✓ keep (proposed was: remove)" in verdict
    assert "Name and reason are shown when the reviews are in." in verdict
    assert "2030-01-02 Eve: ✗ remove\nleaks" in verdict
    head = "".join(piece.text for line in heading(report) for piece in line)
    assert "revision 3proposed: ✗ remove so far   decided: ✓ keep" in head
    beside = _text(summary(report))
    assert "! Closed book: 1 of 2 attempts was right." in beside
    assert "– skipped: Laws" in beside
    assert "keep" not in beside


def test_how_far_it_is() -> None:
    live = LiveQc()
    assert (live.going_on, live.stopped_by(), live.progress("USD")) == (False, None, "Beginning…")
    live.begins("closed_book")
    for event in (
        RunBegan(3, 2),
        TrialBegan("1", False),
        TrialBegan("2", False),
        CallAnswered("1", "agent", "big", Usage(), 0.25),
        TrialFinished("1", Termination.ANSWERED, problem="not judged"),
    ):
        live.on_event(event)
    assert live.progress("USD") == (
        "Playing closed book: 1 of 3 · 1 under way · 1 call · 0.2500 USD"
    )
    assert live.problem() == "not judged"
    live.begins("with_facts")
    assert live.progress("USD").startswith("Playing with all facts: 0 of 0 ")
