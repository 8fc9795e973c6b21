"""The form after a session: what an answer is, whose are missing; and notes that reach the authors."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from cuecard.annotate.review.comments import threads_for
from cuecard.annotate.review.workflow import retire, submit
from cuecard.annotate.sessions import (
    EMBEDDED_FORM,
    check_answers,
    keep_form,
    questions_of,
    session_reports,
    sessions_csv,
)
from cuecard.annotate.task_feedback import comment_to_authors, place_at_play
from cuecard.annotate.waiting import FAILED_LATELY, REMEMBERED, forms_missing, pending_for
from cuecard.core.config import EMBEDDED
from cuecard.core.config_schema import PlayConfig
from cuecard.core.engine.events import AgentSpoke, Event, Termination, TrialEnded, UserSpoke
from cuecard.core.engine.messages import Evidence, UserReply
from cuecard.core.errors import CuecardError, NotAllowed, NotFound
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from lab_players import play_out
from offline_trials import CHAIN, GRAPH

WHO = FormQuestion(key="who", label="Who found it?", kind="choice", options=("agent", "me"))
MakeTask = Callable[..., Task]
FULL = {"satisfaction": 6, "understood": 5, "usable": 7, "effort": 2, "naturalness": 4}


def test_what_is_missing_or_no_answer_is_said_and_the_rest_is_kept_in_order() -> None:
    with pytest.raises(CuecardError, match="Effort it took me"):
        check_answers(EMBEDDED_FORM, {**FULL, "effort": ""})
    for wrong in (0, 8, True, "6", 2.0):
        with pytest.raises(CuecardError, match="whole number from 1 to 7"):
            check_answers(EMBEDDED_FORM, {**FULL, "usable": wrong})  # pyright: ignore[reportArgumentType]
    with pytest.raises(CuecardError, match="one of: agent, me"):
        check_answers((WHO,), {"who": "nobody"})
    with pytest.raises(CuecardError, match="words"):
        check_answers(EMBEDDED_FORM, {**FULL, "remarks": 3})
    backwards = dict(reversed({**FULL, "remarks": " slow\x00 \ud800 ", "gone": 3}.items()))
    kept = check_answers(EMBEDDED_FORM, backwards)
    assert list(kept) == [q.key for q in EMBEDDED_FORM]
    assert "\x00" not in str(kept["remarks"])
    assert str(kept["remarks"]).startswith("slow")
    assert check_answers(EMBEDDED_FORM, {**FULL, "remarks": "  "}) == FULL


def test_the_questions_are_those_of_the_configuration() -> None:
    own = EMBEDDED.model_copy(update={"play": PlayConfig(form=(WHO,))})
    assert (questions_of(EMBEDDED), questions_of(own)) == (EMBEDDED_FORM, (WHO,))


async def test_a_session_asks_for_its_form_until_it_is_given_declined_or_forgotten(
    workspace: Workspace,
) -> None:
    workspace.tasks.save(CHAIN, author="Bo")
    ids: list[int] = []
    for _session in range(2):
        session = await PlaySession.start(workspace, CHAIN.id, by="Ana")
        await play_out(session)
        ids.append(session.trial.id)
    left = await PlaySession.start(workspace, CHAIN.id, by="Ana")
    await left.wait_turn()
    await left.submit(UserReply(text="=SUM(A1)", evidence=Evidence(start=0, end=2, text="is")))
    await left.wait_turn()
    await left.note("task", "step 1 =\nis unclear")
    await left.retry("too short")
    await left.wait_turn()
    await left.close()

    assert [trial.id for trial in forms_missing(workspace, "Ana")] == ids[::-1]
    assert forms_missing(workspace, "Bo") == []
    assert forms_missing(workspace, "Ana", datetime.now(UTC) + REMEMBERED + timedelta(1)) == []
    waiting = pending_for(workspace, "Ana")
    spoken = [e for e in left.events if isinstance(e.body, UserSpoke | AgentSpoke)]
    assert workspace.runs.words(left.trial.id) == spoken
    (opened,) = waiting.sessions
    assert (opened.trial.id, opened.turns, opened.phase) == (left.trial.id, 1, "yours")
    assert (waiting.total - waiting.verdicts, len(waiting.forms)) == (3, 2)

    last = workspace.runs.log(left.trial.id)[-1]
    broken = TrialEnded(termination=Termination.API_ERROR)
    ending = Event(seq=last.seq + 1, take=last.take, at=datetime.now(UTC), body=broken)
    workspace.runs.append_events([(left.trial.id, ending)])
    later = datetime.now(UTC) + FAILED_LATELY + timedelta(minutes=1)
    assert [s.phase for s in pending_for(workspace, "Ana").sessions] == ["failed"]
    assert pending_for(workspace, "Ana", now=later).sessions == ()
    assert len(forms_missing(workspace, "Ana")) == 2

    keep_form(workspace, ids[0], "Ana", EMBEDDED_FORM, {**FULL, "remarks": "=1+1"})
    with pytest.raises(CuecardError, match="not complete"):
        keep_form(workspace, ids[1], "Ana", EMBEDDED_FORM, {})
    keep_form(workspace, ids[1], "Ana", EMBEDDED_FORM, None)
    assert forms_missing(workspace, "Ana") == []

    given, declined, opened_report = session_reports(workspace)
    assert given.forms[0].answers == {**FULL, "remarks": "=1+1"}
    assert declined.forms[0].answers == {}
    (note,) = opened_report.notes
    assert (note.about, note.text, note.by) == ("task", "step 1 =\nis unclear", "Ana")
    assert (note.turn, opened_report.turns, opened_report.termination) == (1, 1, broken.termination)
    assert (given.taken_back, opened_report.taken_back) == (0, 1)
    assert [turn.reply.evidence for turn in opened_report.said] == [
        Evidence(start=0, end=2, text="is")
    ]
    assert [r.trial_id for r in session_reports(workspace, [given.run_id])] == [ids[0]]
    with pytest.raises(NotFound):
        session_reports(workspace, [99])

    text = sessions_csv([given, declined, opened_report])
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert [row["declined"] for row in rows] == ["no", "yes", ""]
    assert (rows[0]["satisfaction"], rows[0]["remarks"]) == ("6", "'=1+1")
    assert (rows[2]["satisfaction"], rows[2]["notes"], rows[2]["turns"]) == ("", "1", "1")


async def test_a_note_about_the_task_reaches_its_authors_unless_it_is_in_review(
    workspace: Workspace,
) -> None:
    workspace.tasks.save(GRAPH, author="Bo")
    session = await PlaySession.start(workspace, GRAPH.id, by="Ana")
    await session.close()
    trial_id, place = session.trial.id, place_at_play(GRAPH, stage=1)
    comment_to_authors(workspace, trial_id, "Ana", " cannot be met \n", place)
    (thread,) = threads_for(workspace, "Bo", GRAPH.id)
    assert thread.place == "persona.stages[0]"
    assert thread.comment.by == "Ana"
    assert thread.comment.text == f"Noted at play, trial {trial_id}:\ncannot be met"

    submit(workspace, GRAPH.id, "Bo")
    with pytest.raises(NotAllowed, match="in review"):
        comment_to_authors(workspace, trial_id, "Ana", "again")
    comment_to_authors(workspace, trial_id, "Bo", "my own doubt")
    assert len(threads_for(workspace, "Bo", GRAPH.id)) == 2


async def test_nobody_is_told_of_an_archived_task(
    workspace: Workspace, make_task: MakeTask
) -> None:
    workspace.tasks.save(make_task("t"), author="Bo")
    session = await PlaySession.start(workspace, "t", by="Ana")
    await session.close()
    retire(workspace, "t", "Bo", "done")
    with pytest.raises(NotAllowed, match="archived"):
        comment_to_authors(workspace, session.trial.id, "Ana", "too late")


def test_a_note_stands_at_the_stage_or_step_at_hand() -> None:
    assert place_at_play(CHAIN, step=1) == "gold.steps[1]"
    for task, stage, step in ((CHAIN, 1, 99), (GRAPH, 99, 0), (GRAPH, None, None)):
        assert place_at_play(task, stage, step) == ""
