"""What a play session is begun or gone on with: its trial, its names, and who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from cuecard.core.config import Config
from cuecard.core.errors import NotAllowed
from cuecard.core.events import Event, Limits, Termination
from cuecard.core.i18n import _
from cuecard.core.journal import Journal
from cuecard.core.llm.hub import ModelHub
from cuecard.core.parts import Dialogue, UserReply
from cuecard.core.seats import Seating
from cuecard.core.tasks import Task
from cuecard.core.tasks.base import Frozen
from cuecard.core.users.human import HumanUser
from cuecard.lab.plans import RunSettings, settings_of
from cuecard.lab.play_course import last_words
from cuecard.lab.players import cell_for
from cuecard.lab.playing import take
from cuecard.lab.roster import roster_of
from cuecard.lab.sinks import OnEvent, OnStream, TrialSink
from cuecard.lab.wizard_seat import absent_agent
from cuecard.store.leases import Lease
from cuecard.store.records import RunState, TrialRecord

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

PlayPhase = Literal["yours", "writing", "stopped", "concluding", "ended"]


class PlayOutcome(Frozen):
    """How a session ended. `termination` is None when it could not go on and is left open;
    `problem` then says why, or why it could not be judged.
    """

    trial_id: int
    termination: Termination | None
    detail: str = ""
    judged: bool = False
    problem: str = ""


OnEnd = Callable[[PlayOutcome], None]
OnPhase = Callable[[PlayPhase], None]


@dataclass(frozen=True)
class Audience:
    """Who is told what: of events when they are safe, of pieces of a reply (turn and text) as they are
    written, of the session's phase when it changes, and of the end.
    """

    on_event: OnEvent | None = None
    on_stream: OnStream | None = None
    on_phase: OnPhase | None = None
    on_end: OnEnd | None = None


@dataclass(frozen=True)
class Opened:
    """A trial to be played by a person. `past`: its whole log; `lease`: its run, held for them."""

    trial: TrialRecord
    task: Task
    limits: Limits
    settings: RunSettings
    past: list[Event] = field(default_factory=list[Event])
    lease: Lease | None = None


async def enter(
    workspace: Workspace,
    task_id: str,
    revision: int | None,
    by: str,
    agent: str,
    settings: RunSettings,
    config: Config,
    limits: Limits,
) -> Opened:
    """A new trial in a run of its own. Raises `NotFound`, `ConfigError`."""

    def work() -> Opened:
        played = workspace.tasks.revision(task_id, revision)
        person = HumanUser(workspace.people.add(by).name, _nobody)
        seating = settings.seating(agent)
        hub = ModelHub(config)
        cell = cell_for(
            played.task,
            played.number,
            seating,
            config,
            hub,
            human=person,
            human_agent=absent_agent(agent, played.task),
        )
        _check_names(settings, config, hub)
        roster = roster_of(
            config,
            agents=(agent,),
            users=settings.shadows,
            worlds=(settings.world,),
            judges=settings.judges,
        )
        described = settings.model_copy(update={"roster": roster})
        run = workspace.runs.create(
            name=played.task.title,
            kind="play",
            created_by=by,
            samples=1,
            limits=limits,
            plan=described.model_dump(mode="json"),
        )
        trial = workspace.runs.add_trials(run.id, [cell])[0]
        return Opened(trial, played.task, limits, described)

    opened = await asyncio.to_thread(work)
    return replace(opened, lease=await take(workspace, opened.trial.run_id, by))


async def take_up(workspace: Workspace, trial_id: int, by: str, config: Config) -> Opened:
    """An open trial of `by`, or one that failed: that goes on where it did. Raises `NotFound`,
    `ConfigError`, `NotAllowed`, and `BeingPlayed` where they play it already, in another window.
    """

    def check() -> int:
        trial = workspace.runs.trial(trial_id)
        _check_resumable(trial, by)
        return trial.run_id

    def work() -> Opened:
        trial = workspace.runs.trial(trial_id)
        _check_resumable(trial, by)  # It may have ended before it was held.
        task = workspace.tasks.revision(trial.task_id, trial.revision).task
        run = workspace.runs.get(trial.run_id)
        settings = settings_of(run)
        _check_names(settings, config, ModelHub(config))
        return Opened(trial, task, run.limits, settings, workspace.runs.log(trial_id))

    lease = await take(workspace, await asyncio.to_thread(check), by)
    try:
        opened = replace(await asyncio.to_thread(work), lease=lease)
        return opened if opened.trial.termination is None else await _reopened(workspace, opened)
    except BaseException:
        workspace.leases.release(lease)
        raise


async def _reopened(workspace: Workspace, opened: Opened) -> Opened:
    """The agent takes the turn again in which the trial failed; nothing that the person said is lost."""
    trial, run_id = opened.trial, opened.trial.run_id
    journal = Journal(TrialSink(workspace, trial.id), opened.past)
    words = last_words(journal.events)
    reason = trial.termination.value if trial.termination else ""
    await journal.reopen(keep=True, reason=reason, back_to=words[0].seq + 1 if words else None)

    def again() -> Opened:
        workspace.runs.set_state(run_id, RunState.RUNNING)
        return replace(
            opened, trial=workspace.runs.trial(trial.id), past=workspace.runs.log(trial.id)
        )

    return await asyncio.to_thread(again)


def seating_of(opened: Opened) -> Seating:
    return opened.settings.seating(opened.trial.agent.name)


def _check_names(settings: RunSettings, config: Config, hub: ModelHub) -> None:
    """Raises `ConfigError` for a judge or a shadow that is not there: better now than at the end."""
    from cuecard.core.judges.registry import build_judge

    for name in settings.judges:
        build_judge(name, config, hub)
    for name in settings.shadows:
        config.user(name)


def _check_resumable(trial: TrialRecord, by: str) -> None:
    title = _("This session cannot be resumed")
    if trial.user.kind != "human":
        raise NotAllowed(title, _("It is no play session."))
    if trial.termination is not None and not trial.termination.is_failure:
        raise NotAllowed(title, _("It has ended."))
    if trial.user.name != by.strip():
        raise NotAllowed(title, _("It is {name}'s.").format(name=trial.user.name))


async def _nobody(_dialogue: Dialogue | None) -> UserReply:
    raise NotAllowed(_("Nobody is playing"))
