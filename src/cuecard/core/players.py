"""The embedded offline players of a task: deterministic, without a network, labelled baselines."""

from __future__ import annotations

from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.agents.public import public_task
from cuecard.core.parts import User
from cuecard.core.tasks import Task
from cuecard.core.users.oneshot import OneShotUser
from cuecard.core.users.responder import ScriptedResponder
from cuecard.core.users.scripted import ScriptedUser
from cuecard.core.worlds.closed import ClosedWorld


def scripted_user_for(task: Task) -> User:
    """A responder for checkpoints, a scripted user for a persona, otherwise one who asks once."""
    if task.family == "checkpoints":
        return ScriptedResponder(task)
    return ScriptedUser(task) if task.persona else OneShotUser(task)


def closed_world_for(task: Task) -> ClosedWorld:
    return ClosedWorld(task)


def offline_agent_for(task: Task) -> OfflineAgent:
    """The agent gets the task's public side only."""
    return OfflineAgent(public_task(task))
