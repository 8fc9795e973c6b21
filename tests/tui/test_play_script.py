"""The same seed and script give the same trial, whether the user is scripted or a person who types the
script's words and marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from cuecard.annotate.results.trial_disclosure import stages_seen
from cuecard.annotate.samples import import_samples
from cuecard.core.engine.events import Event, TrialStarted, UserSpoke
from cuecard.core.engine.messages import UserReply
from cuecard.core.engine.step_context import StepContext
from cuecard.core.engine.trial import prediction_of
from cuecard.core.evaluation.items import trial_view
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.play_session import PlaySession
from cuecard.core.evaluation.runs import start_run
from cuecard.core.users.scripted import scripted_user_for
from cuecard.store.workspace import Workspace
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import mark_of, reading_of

TASKS = (
    "graph-astronomy-zh",
    "espresso",
    "table-solar-terms-zh",
    "checkpoints-highest-mountain",
    "facts-night-train",
)


def told(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The bodies, without who the user was and why the script lost its patience."""
    bodies: list[dict[str, Any]] = []
    for event in events:
        body = event.body.model_dump(mode="json")
        if isinstance(event.body, TrialStarted):
            del body["user"]
        elif isinstance(event.body, UserSpoke):
            del body["reply"]["reason"]
        bodies.append(body)
    return bodies


async def typed(session: PlaySession, state: PlayState, script: UserReply) -> None:
    """Mark the agent's reply as the script does, and type its words."""
    state.mark = None if state.opening else mark_of(script)
    if state.chain:
        at_last = state.step_number == len(state.chain.steps) - 1
        state.reading = reading_of(script, at_last=at_last)
    await session.submit(state.reply(script.text, done=script.done))


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("script") / "w.db"
    with Workspace.open(path) as workspace:
        import_samples(workspace, "ann")
    return path


@pytest.mark.parametrize("task_id", TASKS)
async def test_a_person_typing_the_script_plays_the_scripted_trial(db: Path, task_id: str):
    with Workspace.open(db) as workspace:
        run = await start_run(workspace, RunPlan(tasks=(task_id,)), by="ann")
        (scripted,) = workspace.runs.trials(run.run.id)

        state = PlayState(workspace.tasks.revision(task_id).task)
        script, context = scripted_user_for(state.task), cast(StepContext, None)
        session = await PlaySession.start(workspace, task_id, by="ann", on_event=state.follow)
        while await session.wait_turn():
            dialogue = state.dialogue
            reply = await (
                script.reply(dialogue, context) if dialogue.messages else script.open(context)
            )
            await typed(session, state, reply)
        outcome = await session.wait()
        assert outcome is not None
        assert outcome.judged
        assert session.trial.seed == scripted.seed
        assert state.phase == "ended"

        left, right = (workspace.runs.events(t.id) for t in (scripted, session.trial))
        assert told(right) == told(left)
        assert prediction_of(left) == prediction_of(right)
        one, other = (trial_view(workspace, t.id) for t in (scripted, session.trial))
        assert one.verdicts == other.verdicts
        assert one.measures == other.measures
        assert stages_seen(one.task.stages, left) == stages_seen(other.task.stages, right)
