"""What waits on this machine is delivered in order, once, and what cannot be is kept."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cuecard.annotate.review.comments import comments_for
from cuecard.annotate.samples import import_samples
from cuecard.annotate.sessions import EMBEDDED_FORM
from cuecard.core.contributions import Commented
from cuecard.core.engine.messages import UserReply
from cuecard.core.engine.step_context import ReplyMove
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.core.evaluation.wizard_of_oz import WizardPlayer
from cuecard.core.label_records import LabelValue
from cuecard.core.verdicts import Item
from cuecard.store.workspace import Workspace
from cuecard.tui.present.journal import CALLS, Journal

NOW = datetime(2026, 11, 24, 16, 0, tzinfo=UTC)
TASK, SESSION = "espresso", 2


@pytest.fixture
async def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Workspace.open(tmp_path / "cuecard.db") as workspace:
        import_samples(workspace, by="Ana")
        await start_run(workspace, RunPlan(tasks=(TASK,), name="run"), by="Ana")
        workspace.reviews.act(TASK, "Ben", Commented(place="title", text="Why?"))
        session = await PlaySession.start(workspace, TASK, by="Cy", agent="person")
        assert session.trial.id == SESSION
        WizardPlayer.take(workspace, SESSION, "Di")
        await session.wait_turn()
        await session.submit(UserReply(text="What is it?"))
        await session.close()
        yield workspace


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(f"sqlite:///{tmp_path}/cuecard.db")


def calls(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Something for each call that can be kept."""
    found = comments_for(workspace, "Ana", TASK)
    assert found is not None
    draft = {
        "key": TASK,
        "person": "Ana",
        "base": 1,
        "changed": True,
        "data": {"id": TASK, "title": "A"},
    }
    told = {"trial_id": 1, "by": "Ana", "text": "Look here", "place": "title"}
    label = {
        "trial_id": 1,
        "item": Item.of_key("triple/0"),
        "person": "Ana",
        "value": LabelValue.NO,
    }
    return {
        "draft": draft | {"origins": (), "history": None},
        "review_form": {"task_id": TASK, "revision": 1, "reviewer": "Ben", "data": {"a": 1}},
        "label": label | {"at": NOW, "comment": "hm"},
        "answer": {
            "comment": found.threads[0].comment,
            "by": "Ana",
            "text": "So.",
            "turns": "resolved",
        },
        "tell_authors": told,
        "comment": told,
        "trial_note": {
            "trial_id": 1,
            "person": "Ana",
            "kind": "comment",
            "place": "turn/0",
            "text": "x",
            "uid": "1" * 32,
        },
        "move": moved("Espresso."),
        "session_form": {
            "trial_id": SESSION,
            "person": "Cy",
            "questions": EMBEDDED_FORM,
            "answers": None,
        },
    }


def moved(text: str, place: str = "agent/0/move/0") -> dict[str, Any]:
    """What keeps a reply of Di, who plays the agent."""
    at = {"trial_id": SESSION, "attempt": 0, "place": place, "person": "Di"}
    return {**at, "move": ReplyMove(text=text)}


def content(workspace: Workspace) -> list[Any]:
    draft = workspace.drafts.get(TASK, "Ana")
    return [
        draft and draft.data,
        workspace.review_forms.get(TASK, 1, "Ben"),
        workspace.verdicts.item_labels([1]),
        workspace.reviews.log(TASK).contributions,
        workspace.trial_notes.of([1]),
        workspace.player_moves.of(SESSION),
        workspace.session_forms.newest(),
    ]


def test_delivering_twice_does_no_more_than_once(workspace: Workspace, journal: Journal) -> None:
    given, after = calls(workspace), list[Any]()
    assert given.keys() == CALLS.keys()
    for _time in range(2):
        for name, each in given.items():
            journal.add(name, "", each, datetime.now(UTC) if name == "draft" else NOW)
        paths = journal.waiting
        assert len(paths) == len(CALLS)
        assert {stat.S_IMODE(os.stat(path).st_mode) for path in paths} == {0o600}
        before = content(workspace)
        assert journal.deliver(workspace) == (len(CALLS), [])
        assert not journal.waiting
        after = content(workspace)
        assert (before == after) is bool(_time)
    assert after[0] == {"id": TASK, "title": "A"}
    (label,) = after[2]
    assert (label.value, label.comment, label.created_at) == (LabelValue.NO, "hm", NOW)
    assert len(after[3]) == 4
    assert len(after[4]) == 1


def test_of_two_with_one_key_the_later_is_delivered(workspace: Workspace, journal: Journal) -> None:
    for number in range(3):
        form = calls(workspace)["review_form"] | {"data": {"a": number}}
        journal.add("review_form", "Ben's", form, NOW)
    assert len(journal.waiting) == 1
    journal.deliver(workspace)
    assert workspace.review_forms.get(TASK, 1, "Ben") == {"a": 2}


def test_a_later_draft_stays_and_the_kept_one_is_not_lost(
    workspace: Workspace, journal: Journal
) -> None:
    workspace.drafts.keep(TASK, "Ana", 1, {"id": TASK, "title": "Later"})
    journal.add("draft", "", calls(workspace)["draft"], NOW - timedelta(days=400))
    journal.add("label", "", calls(workspace)["label"], NOW)
    taken, (refused,) = journal.deliver(workspace)
    assert taken == 1
    assert "a later one of yours" in refused.reason
    assert '"title": "A"' in refused.file.read_text()
    draft = workspace.drafts.get(TASK, "Ana")
    assert draft is not None
    assert draft.data["title"] == "Later"
    assert journal.deliver(workspace) == (0, [])


def test_what_nobody_can_read_is_put_aside(workspace: Workspace, journal: Journal) -> None:
    journal.add("label", "", calls(workspace)["label"], NOW)
    (path,) = journal.waiting
    path.write_text("half a li")
    assert journal.deliver(workspace)[0] == 0
    assert path.with_suffix(".refused").read_text() == "half a li"


def test_answers_that_arrive_twice_are_kept_once(
    workspace: Workspace, journal: Journal, tmp_path: Path
) -> None:
    answers = {"satisfaction": 5, "understood": 4, "usable": 3, "effort": 2, "naturalness": 1}
    form = calls(workspace)["session_form"] | {"answers": answers}
    for at in (NOW, NOW, NOW + timedelta(seconds=1)):
        journal.add("session_form", "", form, at)
        assert journal.deliver(workspace) == (1, [])
    with closing(sqlite3.connect(tmp_path / "cuecard.db")) as database:
        assert database.execute("SELECT count(*) FROM sessionform").fetchone() == (2,)
    (form,) = workspace.session_forms.newest()
    assert (form.answers, form.at) == (answers, NOW + timedelta(seconds=1))


async def test_a_move_on_a_dialogue_that_went_on_is_not_made_and_not_lost(
    workspace: Workspace, journal: Journal
) -> None:
    workspace.player_moves.add(**moved("Lungo."))
    journal.add("move", "", moved("Espresso."), NOW)
    journal.add("move", "", moved("Later.", "agent/1/move/0"), NOW)
    taken, (other, early) = journal.deliver(workspace)
    assert taken == 0
    assert "made already" in other.reason
    assert "dialogue has changed" in early.reason
    assert "Espresso." in other.file.read_text()
    assert [step.move for step in workspace.player_moves.of(SESSION)] == [ReplyMove(text="Lungo.")]
