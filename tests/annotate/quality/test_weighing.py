"""From results to signals and reports, without a workspace."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from cuecard.annotate.lint.codes import Finding, Severity
from cuecard.annotate.quality.decision_table import STAGE, STAGES, StageName, propose
from cuecard.annotate.quality.report import ExpertCheck, QcInputs, StageReport, share_of, weigh
from cuecard.core.probes.results import ProbeName, ProbeResult
from cuecard.core.records import EffortTotals
from cuecard.core.tables.table import Statistic
from cuecard.core.tasks.models import Task
from cuecard.core.tasks.yaml_io import load_tasks

DAY = datetime(2030, 1, 2, tzinfo=UTC)


@cache
def _sample(task_id: str) -> Task:
    with resources.as_file(resources.files("cuecard") / "sample_tasks") as folder:
        loaded, _problems = load_tasks([Path(folder)])
    return next(task for _path, task in loaded if task.id == task_id)


CHAIN, FACTS, TABLE = "checkpoints-highest-mountain", "facts-night-train", "table-us-states"


def _tried(probe: ProbeName, rights: str, model: str = "m", **more: Any) -> list[ProbeResult]:
    """An attempt for each letter: `r`ight or `w`rong."""
    return [
        ProbeResult(
            probe=probe, run_id=1, trial_id=i + 1, model=model, sample=i, right=c == "r", **more
        )
        for i, c in enumerate(rights)
    ]


def _weighed(task_id: str, stage: StageName, **inputs: Any) -> tuple[Any, StageReport]:
    signals, reports = weigh(QcInputs(task=_sample(task_id), **inputs))
    return signals, next(report for report in reports if report.stage == stage)


def test_stages_come_in_the_order_in_which_they_are_numbered() -> None:
    _signals, reports = weigh(QcInputs(task=_sample(CHAIN)))
    assert [report.stage for report in reports] == list(STAGES[:-1])
    assert [STAGE[name].number for name in STAGES] == list(range(1, 9))
    assert all(report.said for report in reports)


def test_nothing_was_run() -> None:
    signals, report = _weighed(CHAIN, "closed_book")
    assert (report.state, report.n, report.said) == ("open", 0, "Not run yet.")
    assert signals.leaked == signals.solvable == signals.shallow == signals.hurried == "open"
    assert signals.lawless == signals.missed == "off"
    assert propose(signals).verdict == "keep"
    assert "leaked" in propose(signals).unknown


@pytest.mark.parametrize(
    ("rights", "share"), [("", "open"), ("www", "clear"), ("rww", "some"), ("rrw", "most")]
)
def test_right_answers_from_memory_are_leakage(rights: str, share: str) -> None:
    probes = _tried("closed_book", rights, cost=0.5)
    signals, report = _weighed(CHAIN, "closed_book", probes=probes, run_dates={1: DAY})
    assert signals.leaked == share
    assert report.state == {"open": "open", "clear": "passed"}.get(share, "flagged")
    assert report.n == len(rights)
    if rights:
        assert (report.models, report.cost, report.at) == (("m",), 1.5, DAY)
        assert report.said.startswith(f"{rights.count('r')} of 3")


def test_the_model_that_knows_most_counts() -> None:
    weak, strong = _tried("closed_book", "www", "weak"), _tried("closed_book", "rrr", "strong")
    assert share_of([*weak, *strong]) == "most"
    # Where being wrong is the flaw, it is enough that one model is right.
    missed, reached = _tried("with_facts", "www", "weak"), _tried("with_facts", "rrr", "strong")
    assert share_of([*missed, *reached]) == "clear"
    assert share_of(missed) == "most"


def test_baselines_are_shown_but_are_no_evidence() -> None:
    probes = [
        *_tried("closed_book", "rrr", "offline", baseline=True),
        *_tried("open_book", "r", "offline", baseline=True),
    ]
    signals, report = _weighed(CHAIN, "closed_book", probes=probes)
    assert (signals.leaked, signals.solvable) == ("open", "open")
    assert (report.state, report.n, report.baselines) == ("skipped", 0, 3)
    assert "embedded" in report.said
    assert len(report.results) == 3
    both = [*probes, *_tried("closed_book", "ww")]
    signals, report = _weighed(CHAIN, "closed_book", probes=both)
    assert (signals.leaked, report.state, report.n, report.baselines) == ("clear", "passed", 2, 3)


def test_skipped_says_why() -> None:
    none = [ProbeResult(probe="closed_book", skipped="there is no model", why="no_model")]
    _signals, report = _weighed(CHAIN, "closed_book", probes=none)
    assert (report.state, report.said) == ("skipped", "There is no model.")
    waits = [ProbeResult(probe="closed_book", trial_id=3, skipped="not ended", why="open")]
    signals, report = _weighed(CHAIN, "closed_book", probes=waits)
    assert (report.state, signals.leaked) == ("open", "open")
    signals, report = _weighed(CHAIN, "closed_book", probes=[*_tried("closed_book", "w"), *waits])
    assert report.said == "0 of 1 attempt was right. 1 gave no result."
    for stage in ("open_book", "ambiguity", "laws"):
        _signals, report = _weighed(TABLE, stage)
        assert report.state == "skipped"
        assert report.said


def test_what_an_examiner_finds() -> None:
    seen = ProbeResult(probe="ambiguity", model="m", trial_id=4, right=True, findings=("common",))
    signals, report = _weighed(CHAIN, "ambiguity", probes=[seen])
    assert (signals.shallow, report.state, report.findings) == ("found", "flagged", ("common",))
    hidden = seen.model_copy(update={"right": False})
    signals, report = _weighed(CHAIN, "ambiguity", probes=[hidden])
    assert (signals.shallow, report.state) == ("clear", "passed")


@pytest.mark.parametrize(
    ("laws", "facts", "signs", "state"),
    [
        (True, "rrr", ("clear", "clear"), "passed"),
        (True, "rrw", ("clear", "some"), "flagged"),
        (False, "rrr", ("found", "clear"), "flagged"),
        (False, "www", ("found", "most"), "flagged"),
        (True, "", ("clear", "open"), "open"),
    ],
)
def test_laws(laws: bool, facts: str, signs: tuple[str, str], state: str) -> None:
    probes = [ProbeResult(probe="laws", model="m", right=laws), *_tried("with_facts", facts)]
    signals, report = _weighed(FACTS, "laws", probes=probes)
    assert ((signals.lawless, signals.missed), report.state) == (signs, state)
    assert report.n == 1 + len(facts)


def test_rules_count_for_what_they_find_not_for_what_they_do_not() -> None:
    found = ProbeResult(probe="laws", right=False, findings=("a clashes with b",))
    signals, report = _weighed(FACTS, "laws", probes=[found])
    assert (signals.lawless, report.state, report.findings) == (
        "found",
        "flagged",
        ("a clashes with b",),
    )
    nothing = ProbeResult(probe="laws", right=True)
    signals, report = _weighed(FACTS, "laws", probes=[nothing])
    assert (signals.lawless, report.state) == ("open", "open")
    without: frozenset[ProbeName] = frozenset({"laws", "with_facts"})
    _signals, report = _weighed(FACTS, "laws", probes=[nothing], without_model=without)
    assert (report.state, report.said) == (
        "skipped",
        "No model: name one in cuecard.yaml.",
    )


def test_effort_against_what_is_asked_for() -> None:
    signals, report = _weighed(CHAIN, "difficulty")
    assert (report.state, signals.hurried) == ("skipped", "open")
    enough = EffortTotals(seconds=660, queries=4, pages=10)
    signals, report = _weighed(CHAIN, "difficulty", effort=enough)
    assert (report.state, signals.hurried) == ("passed", "clear")
    assert report.said == "11 minutes (at least 10), 10 pages (at least 10), 4 queries"
    few = enough.model_copy(update={"pages": 9})
    assert _weighed(CHAIN, "difficulty", effort=few)[0].hurried == "found"
    # Nobody reads pages for facts that are made up.
    assert _weighed(FACTS, "difficulty", effort=few)[0].hurried == "clear"
    assert _weighed(FACTS, "difficulty", effort=EffortTotals(seconds=60))[0].hurried == "found"


def test_errors_that_nobody_silenced() -> None:
    found = Finding(code="L001", severity=Severity.ERROR, place="gold", reason="bad", hint="mend")
    quiet = found.model_copy(update={"silenced": "meant"})
    mild = found.model_copy(update={"severity": Severity.WARNING})
    signals, report = _weighed(CHAIN, "structure", findings=[quiet, mild])
    assert (signals.errors, report.state, report.n) == ("clear", "passed", 0)
    signals, report = _weighed(CHAIN, "structure", findings=[found, quiet, mild])
    assert (signals.errors, report.state, report.n) == ("found", "flagged", 1)
    assert report.findings == ("gold: bad [L001]",)


@pytest.mark.parametrize(
    ("labelled", "value", "state", "sign"),
    [
        (19, 1.0, "open", "open"),
        (20, 0.95, "passed", "clear"),
        (20, 0.9, "flagged", "found"),
        (20, None, "skipped", "open"),
    ],
)
def test_judge_and_expert(labelled: int, value: float | None, state: str, sign: str) -> None:
    check = ExpertCheck(
        run_id=1,
        run_name="run",
        trial_id=2,
        agent="live",
        judge="lexical",
        baseline=True,
        people=("Eve",),
        items=20,
        labelled=labelled,
        agreement=Statistic(name="percent", value=value, n=20, reason="" if value else "none"),
    )
    signals, report = _weighed(CHAIN, "agreement", check=check)
    assert (report.state, signals.disputed) == (state, sign)
    if state == "flagged":
        assert report.said.startswith("lexical and people agree on 90% of 20 items (at least 95%).")
        assert "baseline" in report.said
    assert _weighed(CHAIN, "agreement")[1].state == "skipped"
