"""Whatever a person does in a session, and wherever it is dropped, nothing is lost or doubled."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.samples import import_samples
from cuecard.core.engine.events import Marked, TrialRetried, UserSpoke, dialogue_of, effective_log
from cuecard.core.engine.messages import UserReply
from cuecard.core.errors import NotAllowed
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.store.workspace import Workspace
from lab_players import in_a_loop_that_dies
from play_bench import TASK, check_log

ACTS = st.tuples(
    st.sampled_from(("say", "say", "interrupt", "retry", "undo", "note")),
    st.integers(0, 60),
)
"""What is done, and how many steps of the loop are let pass before it."""
SEGMENTS = st.lists(st.tuples(st.lists(ACTS, max_size=5), st.booleans()), min_size=1, max_size=3)
"""What is done before the session is closed (True) or dropped as by a kill (False)."""


class Person:
    """Acts in a session, and knows what was acknowledged."""

    def __init__(self) -> None:
        self.trial: int | None = None
        self.said: list[str] = []
        self.noted: list[str] = []

    async def act(self, session: PlaySession, what: str) -> None:
        number = len(self.said) + len(self.noted)
        if what == "say":
            # The agent may be stopped for good: nobody waits for it.
            if session.phase != "stopped" and await session.wait_turn():
                await session.submit(UserReply(text=f"say {number}"))
                self.said.append(f"say {number}")
        elif what == "note":
            await session.note("task", f"note {number}")
            self.noted.append(f"note {number}")
        elif what == "interrupt":
            await session.interrupt()
        elif what == "retry":
            await session.retry()
        else:
            await session.undo()

    def check(self, workspace: Workspace, session: PlaySession) -> None:
        log = check_log(workspace, session)
        assert dialogue_of(session.events) == dialogue_of(workspace.runs.events(session.trial.id))
        said = {e.body.reply.text for e in log if isinstance(e.body, UserSpoke)}
        assert set(self.said) <= said
        standing = [e.body.mark for e in session.events if isinstance(e.body, Marked)]
        assert [m.text for m in standing if m.kind == "remark"] == self.noted
        turns = [(m.role, m.turn) for m in dialogue_of(session.events).messages]
        assert turns == [(r, n // 2) for n, (r, _t) in enumerate(turns)]
        assert [role for role, _turn in turns] == ["user", "agent"] * (len(turns) // 2) + [
            "user"
        ] * (len(turns) % 2)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("random") / "w.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, "ann")
    return path


@settings(
    max_examples=examples(5),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(segments=SEGMENTS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_whatever_is_done(shared: Path, segments: list[tuple[list[tuple[str, int]], bool]]) -> None:
    person = Person()

    async def segment(workspace: Workspace, acts: list[tuple[str, int]], close: bool) -> None:
        if person.trial is None:
            session = await PlaySession.start(workspace, TASK, by="ann")
            person.trial = session.trial.id
        else:
            session = await PlaySession.resume(workspace, person.trial, by="ann")
        person.check(workspace, session)
        for what, steps in acts:
            for _step in range(steps):
                await asyncio.sleep(0)
            with contextlib.suppress(NotAllowed):
                await person.act(session, what)
            person.check(workspace, session)
        if close:
            await session.close()
            person.check(workspace, session)

    for acts, close in segments:
        # Of each its own, as of processes: what one holds that ends in the middle, it lets go.
        with Workspace.open(shared) as workspace:
            in_a_loop_that_dies(segment(workspace, acts, close))
    with Workspace.open(shared) as workspace:
        assert person.trial is not None
        log = workspace.runs.log(person.trial)
        assert list(effective_log(log)) == workspace.runs.events(person.trial)
        retried = [e for e in log if isinstance(e.body, TrialRetried)]
        assert [e.take for e in retried] == list(range(1, len(retried) + 1))
