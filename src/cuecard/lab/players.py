"""The players of a trial, by the names that a run or a session gives them."""

from __future__ import annotations

from cuecard.core.agents.registry import build_agent
from cuecard.core.config import Config
from cuecard.core.errors import ConfigError
from cuecard.core.events import Limits
from cuecard.core.i18n import _
from cuecard.core.parts import User
from cuecard.core.players import closed_world_for, scripted_user_for
from cuecard.core.tasks import Task
from cuecard.core.trial import TrialSetup
from cuecard.store.records import TrialCell, TrialRecord


def cell_for(
    task: Task,
    revision: int,
    agent: str,
    config: Config,
    *,
    user: User | None = None,
    sample: int = 0,
    seed: int = 0,
) -> TrialCell:
    """What a trial of `task` with these players is to be. Raises `ConfigError` for an agent that
    cannot be made.
    """
    return TrialCell(
        task_id=task.id,
        revision=revision,
        agent=build_agent(agent, config, task).ref,
        user=(user or scripted_user_for(task)).ref,
        world=closed_world_for(task).ref,
        sample=sample,
        seed=seed,
    )


def setup_for(
    trial: TrialRecord, task: Task, limits: Limits, config: Config, user: User | None = None
) -> TrialSetup:
    """The trial with players made anew; `user` takes the place of the scripted one.

    Raises `ConfigError` if an agent can no longer be made, or is another than the trial was begun
    with: one dialogue is not continued with another model.
    """
    agent = build_agent(trial.agent.name, config, task)
    if agent.ref != trial.agent:
        raise ConfigError(
            _("The agent {name} has changed").format(name=trial.agent.name),
            _("This trial was begun with {before}, the configuration now says {now}.").format(
                before=trial.agent.model or trial.agent.kind, now=agent.ref.model or agent.ref.kind
            ),
            _("Restore the agent in cuecard.yaml, or start a new run."),
        )
    return TrialSetup(
        task=task,
        agent=agent,
        user=user or scripted_user_for(task),
        world=closed_world_for(task),
        revision=trial.revision,
        sample=trial.sample,
        seed=trial.seed,
        limits=limits,
    )
