"""An expert's labels on one response, and a person's answer to the table, in a real workspace."""

from __future__ import annotations

import pytest

from cuecard.annotate.labelling.session import LabelSession
from cuecard.annotate.quality.decision_table import Signals, propose
from cuecard.annotate.quality.pipeline import decide, decisions_for, expert_check
from cuecard.annotate.quality.report import PersonDecision, QcReport
from cuecard.annotate.review.workflow import retire, submit
from cuecard.core.config_schema import QcConfig
from cuecard.core.contributions import QcVerdict, ReviewDecision, Reviewed, TaskState
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.evaluation.judging import judge_run
from cuecard.core.label_records import LabelValue
from cuecard.store.workspace import Workspace
from judged_trials import GOLD, ended_run, graph_task, triples

LEAKED = Signals(errors="clear", leaked="most")


def _report(task_id: str = "makers", revision: int = 1, signals: Signals = LEAKED) -> QcReport:
    return QcReport(
        task_id=task_id,
        title="Makers",
        revision=revision,
        stages=(),
        signals=signals,
        proposal=propose(signals),
    )


async def _judged(workspace: Workspace) -> list[int]:
    """Two judged responses to revision 1 (5 and 6 of 6 triples), by age."""
    run_id = ended_run(workspace, graph_task(), [triples(*GOLD[:5]), triples(*GOLD)])
    await judge_run(workspace, run_id)
    return [trial.id for trial in workspace.runs.trials(run_id)]


def _label(workspace: Workspace, person: str, trial_id: int, values: list[LabelValue]) -> None:
    session = LabelSession(workspace, person, None, trial_id)
    assert session.total == 6
    for value in values:
        assert session.current is not None
        assert session.current.trial_id == trial_id
        session.label(value)
        session.next()


async def test_the_newest_response_is_labelled_and_the_one_labelled_throughout_counts(
    workspace: Workspace,
) -> None:
    bars = QcConfig()
    assert expert_check(workspace, "makers", 1, bars) is None
    older, newer = await _judged(workspace)
    check = expert_check(workspace, "makers", 1, bars)
    assert check is not None
    assert (check.trial_id, check.items, check.labelled) == (newer, 6, 0)
    assert (check.judge, check.baseline, check.complete) == ("lexical", True, False)
    _label(workspace, "Eve", older, [LabelValue.YES] * 4)
    check = expert_check(workspace, "makers", 1, bars)
    assert check is not None
    assert (check.trial_id, check.labelled, check.complete) == (older, 4, False)
    _label(workspace, "Eve", newer, [LabelValue.YES] * 4 + [LabelValue.NO, LabelValue.UNSURE])
    check = expert_check(workspace, "makers", 1, bars)
    assert check is not None
    assert (check.trial_id, check.labelled, check.people) == (newer, 6, ("Eve",))
    assert (check.agreement.value, check.agreement.n) == (0.8, 5)
    assert expert_check(workspace, "makers", 2, bars) is None


def _seen(
    workspace: Workspace, person: str, signals: Signals = LEAKED
) -> tuple[PersonDecision, ...]:
    log, standing = (
        workspace.reviews.seen_log(person, "makers"),
        workspace.reviews.standing("makers"),
    )
    return decisions_for(log, standing, 1, person, signals)


def _review(workspace: Workspace, person: str) -> None:
    body = Reviewed(ratings={}, decision=ReviewDecision.APPROVE)
    workspace.reviews.act("makers", person, body, revision=1)


def test_a_person_confirms_or_changes_and_nothing_follows(workspace: Workspace) -> None:
    workspace.tasks.save(graph_task(), author="ann", message="")
    with pytest.raises(NotAllowed, match="reason"):
        decide(workspace, _report(), "Eve", "keep", "  ")
    decide(workspace, _report(), "Eve", "remove")
    decide(workspace, _report(), "Bob", "keep", "a lucky guess ")
    assert workspace.reviews.state("makers") is TaskState.DRAFT
    newest, first = _seen(workspace, "ann")
    assert (newest.by, newest.verdict, newest.proposed) == ("Bob", "keep", "remove")
    assert (newest.reason, newest.hidden, newest.outdated) == ("a lucky guess", False, False)
    assert (first.by, first.verdict, first.rules) == ("Eve", "remove", ("known",))
    assert _seen(workspace, "ann", Signals(errors="clear"))[0].outdated
    # Removing is a step of its own, and an author's.
    retire(workspace, "makers", "ann", "leaks")
    assert workspace.reviews.state("makers") is TaskState.RETIRED
    workspace.tasks.save(graph_task(gold=GOLD[:3]), author="ann", message="", base=1)
    with pytest.raises(Conflict):
        decide(workspace, _report(), "Eve", "remove")


@pytest.mark.parametrize("verdict", ["keep", "remove"])
def test_who_has_not_reviewed_reads_no_reason_that_may_quote_reviews(
    workspace: Workspace, verdict: QcVerdict
) -> None:
    workspace.tasks.save(graph_task(), author="ann", message="")
    submit(workspace, "makers", "ann")
    decide(workspace, _report(), "Eve", verdict, "early")
    assert [d.reason for d in _seen(workspace, "Cid")] == ["early"]
    _review(workspace, "Bob")
    decide(workspace, _report(), "Bob", verdict, "as I said in my review")
    for person in ("Cid", "ann", "Eve"):
        newest = _seen(workspace, person)[0]
        assert (newest.verdict, newest.by, newest.reason, newest.hidden) == (verdict, "", "", True)
        # The store gives neither away, whoever asks it.
        told = workspace.reviews.seen_log(person, "makers").model_dump_json()
        assert "as I said" not in told
        assert "Bob" not in told
    assert _seen(workspace, "Bob")[0].reason == "as I said in my review"
    _review(workspace, "Cid")
    for person in ("Cid", "ann", "Eve", "Bob"):
        assert [d.hidden for d in _seen(workspace, person)] == [False, False]
