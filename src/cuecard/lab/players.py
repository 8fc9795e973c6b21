"""The players of a trial, by the names that a run or a session gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuecard.core.config import Config
from cuecard.core.errors import ConfigError
from cuecard.core.events import Limits
from cuecard.core.i18n import _
from cuecard.core.parts import Agent, PlayerRef, User
from cuecard.core.seats import Seating, seat
from cuecard.core.tasks import Task
from cuecard.core.trial import TrialSetup
from cuecard.store.records import TrialCell, TrialRecord

if TYPE_CHECKING:
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.worlds.tape import Tape


def cell_for(
    task: Task,
    revision: int,
    seating: Seating,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
    sample: int = 0,
    seed: int = 0,
) -> TrialCell:
    """What a trial of `task` with these players is to be. Raises `ConfigError` for a player that
    cannot be made.
    """
    players = seat(task, seating, config, hub, human=human, human_agent=human_agent)
    return TrialCell(
        task_id=task.id,
        revision=revision,
        agent=players.agent.ref,
        user=players.user.ref,
        world=players.world.ref,
        sample=sample,
        seed=seed,
    )


def setup_for(
    trial: TrialRecord,
    task: Task,
    limits: Limits,
    seating: Seating,
    config: Config,
    hub: ModelHub,
    *,
    human: User | None = None,
    human_agent: Agent | None = None,
    tape: Tape | None = None,
    notes: tuple[str, ...] = (),
) -> TrialSetup:
    """The trial with players made anew; `human` takes the user's seat, `human_agent` the agent's.

    Raises `ConfigError` if a player can no longer be made, or is another than the trial was begun
    with: one dialogue is not continued with another model.
    """
    players = seat(
        task, seating, config, hub, human=human, human_agent=human_agent, tape=tape, notes=notes
    )
    _same(_("The agent {name} has changed"), trial.agent, players.agent.ref)
    if human is None:
        _same(_("The user {name} has changed"), trial.user, players.user.ref)
    _same(_("The world {name} has changed"), trial.world, players.world.ref)
    return TrialSetup(
        task=task,
        agent=players.agent,
        user=players.user,
        world=players.world,
        revision=trial.revision,
        sample=trial.sample,
        seed=trial.seed,
        limits=limits,
    )


def _same(title: str, before: PlayerRef, now: PlayerRef) -> None:
    if before == now:
        return
    raise ConfigError(
        title.format(name=before.name),
        _("This trial was begun with {before}, the configuration now says {now}.").format(
            before=_told(before), now=_told(now)
        ),
        _("Restore it in cuecard.yaml, or start a new run."),
    )


def _told(ref: PlayerRef) -> str:
    return f"{ref.model or ref.kind} ({ref.version})"
