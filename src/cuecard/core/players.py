"""The embedded offline players of a task: deterministic, without a network, labelled baselines."""

from __future__ import annotations

from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.agents.public import public_task
from cuecard.core.events import Limits
from cuecard.core.parts import User
from cuecard.core.tasks import Task
from cuecard.core.users.oneshot import OneShotUser
from cuecard.core.users.responder import ScriptedResponder
from cuecard.core.users.scripted import PATIENCE, ScriptedUser
from cuecard.core.worlds.closed import ClosedWorld


def scripted_user_for(task: Task) -> User:
    """A responder for checkpoints, a scripted user for a persona, otherwise one who asks once.

    With many stages the scripted user has less patience, so that even an agent that never meets a
    cue gets to the last of them within the usual limit of turns.
    """
    if task.family == "checkpoints":
        return ScriptedResponder(task)
    if task.persona is None:
        return OneShotUser(task)
    turns_a_stage = (Limits().max_turns - 1) // len(task.stages)
    return ScriptedUser(task, patience=min(PATIENCE, max(turns_a_stage - 1, 0)))


def closed_world_for(task: Task) -> ClosedWorld:
    return ClosedWorld(task)


def offline_agent_for(task: Task) -> OfflineAgent:
    """The agent gets the task's public side only."""
    return OfflineAgent(public_task(task))
