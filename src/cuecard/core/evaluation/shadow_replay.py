"""Asks simulators afterwards what they would have said at each turn of recorded trials (their shadows)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuecard.core.archive import outlast
from cuecard.core.config import Config
from cuecard.core.engine.events import AgentSpoke, Event, UserSpoke
from cuecard.core.engine.messages import Dialogue, ModelReply, PlayerRef
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import User
from cuecard.core.evaluation.judging import OnProgress, judge_each
from cuecard.core.evaluation.shadows import (
    ShadowTurn,
    ask_shadow,
    keep_shadow,
    shadow_of,
    shadow_user,
    state_of,
)
from cuecard.core.evaluation.sharing import Meter, within_limits
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.base import Frozen

if TYPE_CHECKING:
    from cuecard.core.archive import Archive
    from cuecard.core.worker_archive import Claim

OnCall = Callable[[PlayerRef, ModelReply], None]


class ShadowFailure(Frozen):
    """A turn at which a simulator gave no answer; it can be asked again. `halted`: it was not asked, because all asking
    had to stop (a model that keeps failing, a budget, a person).
    """

    trial_id: int
    turn: int
    name: str
    reason: str
    halted: bool = False


class ShadowCount(Frozen):
    """How many turns one simulator was asked about now (`asked`), earlier (`before`), and in vain or not at all
    (`failed`). `players`: more than one if the user plays some tasks with a model and others by a script.
    """

    name: str
    players: tuple[PlayerRef, ...]
    asked: int
    before: int
    failed: int


class Shadowed(Frozen):
    """The result of `shadow_trials`. `halt`: why asking had to stop; empty if it did not."""

    trials: int
    shadows: tuple[ShadowCount, ...]
    failures: tuple[ShadowFailure, ...] = ()
    halt: str = ""

    @property
    def asked(self) -> int:
        return sum(shadow.asked for shadow in self.shadows)

    @property
    def before(self) -> int:
        return sum(shadow.before for shadow in self.shadows)

    def since(self, first: Shadowed, halt: str = "") -> Shadowed:
        """What others asked between two counts of the same (`count_shadows`). `halt`: why they had to stop."""
        shadows = tuple(
            now.model_copy(update={"asked": now.before - then.before, "before": then.before})
            for then, now in zip(first.shadows, self.shadows, strict=True)
        )
        failures = tuple(
            each.model_copy(update={"halted": bool(halt)} | ({"reason": halt} if halt else {}))
            for each in self.failures
        )
        return self.model_copy(update={"shadows": shadows, "failures": failures, "halt": halt})


@dataclass(frozen=True)
class Point:
    """One turn that one simulator is to be asked about."""

    trial_id: int
    dialogue: Dialogue
    name: str
    user: User


def turns_of(effective: Sequence[Event]) -> Iterator[Dialogue]:
    """The dialogue before each of the user's turns that answers the agent, in order."""
    dialogue = Dialogue()
    for event in effective:
        if isinstance(event.body, UserSpoke | AgentSpoke):
            if isinstance(event.body, UserSpoke) and dialogue.messages:
                yield dialogue
            dialogue = dialogue.plus(event.body.message)


async def shadow_trials(
    workspace: Archive,
    trial_ids: Sequence[int],
    names: Sequence[str],
    config: Config,
    *,
    concurrency: int = 4,
    budget: float | None = None,
    on_progress: OnProgress | None = None,
    on_call: OnCall | None = None,
    control: RunControl | None = None,
) -> Shadowed:
    """Ask the users `names` of the configuration what they would have said at each user turn of these trials, given
    the dialogue up to there as it really was, and store it. One model call per turn, `concurrency` at a time.

    Stored answers are not asked for again, so a second call goes on where the first stopped; a failure is reported and
    stops nothing else. `budget`: what these calls may cost; those under way when it is spent are finished and stored.
    `on_call` is called with each call that was made.

    Raises `NotFound`, and `ConfigError` for a user that cannot be made.
    """
    control = control or RunControl()
    hub = ModelHub(config)
    plan = await asyncio.to_thread(
        plan_shadows, workspace, trial_ids, tuple(dict.fromkeys(names)), config, hub
    )
    meter = Meter(0.0, budget, control)

    async def ask(point: Point) -> None:
        control.check()
        said = await ask_about(workspace, point)
        for call in said.calls:
            meter.add(call.cost)
            if on_call:
                on_call(said.player, call)

    try:
        async with within_limits(workspace, hub, control=control):
            with _cancelled_by(control):
                failures = await _ask_all(plan.points, ask, max(concurrency, 1), on_progress)
    finally:
        await hub.close()
    return Shadowed(
        trials=len(set(trial_ids)),
        shadows=tuple(plan.count(name, failures) for name in dict.fromkeys(names)),
        failures=failures,
        halt=next((failure.reason for failure in failures if failure.halted), ""),
    )


async def _ask_all(
    points: Sequence[Point],
    ask: Callable[[Point], Awaitable[None]],
    concurrency: int,
    on_progress: OnProgress | None,
) -> tuple[ShadowFailure, ...]:
    """Ask one simulator after another; a `Halt` of one simulator's model stops no other simulator."""
    failures: list[ShadowFailure] = []
    done = 0
    for name in dict.fromkeys(point.name for point in points):
        own = [point for point in points if point.name == name]

        def moved(asked: int, _of: int, before: int = done) -> None:
            if on_progress:
                on_progress(before + asked, len(points))

        for n, trouble in (await judge_each(own, ask, concurrency, moved)).items():
            failure = ShadowFailure(
                trial_id=own[n].trial_id,
                turn=own[n].dialogue.turn + 1,
                name=name,
                reason=trouble.reason,
                halted=trouble.halted,
            )
            failures.append(failure)
        done += len(own)
    return tuple(failures)


async def ask_about(workspace: Archive, point: Point, claim: Claim | None = None) -> ShadowTurn:
    """Ask, and store the answer. Raises `ModelCallError`, `Halt`, and `ClaimLost` if `claim` stands no more."""
    said = await ask_shadow(point.user, point.dialogue)
    await keep_shadow(workspace, shadow_of(point.trial_id, point.dialogue, said, live=False), claim)
    return said


async def count_shadows(
    workspace: Archive, trial_ids: Sequence[int], names: Sequence[str], config: Config, why: str
) -> Shadowed:
    """As `shadow_trials` when nobody could be asked, because of `why`: what is stored counts as answered before."""
    async with ModelHub(config) as hub:
        plan = await outlast(workspace, plan_shadows, workspace, trial_ids, names, config, hub)
    failures = tuple(
        ShadowFailure(
            trial_id=point.trial_id, turn=point.dialogue.turn + 1, name=point.name, reason=why
        )
        for point in plan.points
    )
    return Shadowed(
        trials=len(set(trial_ids)),
        shadows=tuple(plan.count(name, failures) for name in dict.fromkeys(names)),
        failures=failures,
    )


@dataclass
class ShadowPlan:
    """The points to ask about, and for each user its players and how many points were asked about before."""

    points: list[Point]
    before: Counter[str]
    players: dict[tuple[str, PlayerRef], None]

    def count(self, name: str, failures: Sequence[ShadowFailure]) -> ShadowCount:
        failed = sum(failure.name == name for failure in failures)
        return ShadowCount(
            name=name,
            players=tuple(ref for user, ref in self.players if user == name),
            asked=sum(point.name == name for point in self.points) - failed,
            before=self.before[name],
            failed=failed,
        )


def plan_shadows(
    workspace: Archive,
    trial_ids: Sequence[int],
    names: Sequence[str],
    config: Config,
    hub: ModelHub,
) -> ShadowPlan:
    """What is to be asked, and what was before. Blocks for the database. Raises `NotFound`, and `ConfigError` for a user that
    cannot be made.
    """
    trial_ids = tuple(dict.fromkeys(trial_ids))
    kept = {(s.trial_id, s.state, s.player) for s in workspace.shadows.of(trial_ids)}
    made: dict[tuple[str, int], dict[str, User]] = {}
    plan = ShadowPlan([], Counter(), {})
    for trial_id in trial_ids:
        trial = workspace.runs.trial(trial_id)
        played = (trial.task_id, trial.revision)
        if played not in made:
            task = workspace.tasks.revision(*played).task
            made[played] = {name: shadow_user(name, config, task, hub) for name in names}
        for dialogue in turns_of(workspace.runs.outline(trial_id).events):
            state = state_of(dialogue)
            for name, user in made[played].items():
                plan.players[name, user.ref] = None
                if (trial_id, state, user.ref) in kept:
                    plan.before[name] += 1
                else:
                    plan.points.append(Point(trial_id, dialogue, name, user))
    return plan


@contextmanager
def _cancelled_by(control: RunControl) -> Generator[None]:
    """While the block runs, cancelling the control cancels the task that it runs in."""
    task = asyncio.current_task()

    def stop() -> None:
        if task is not None:
            task.cancel()

    control.attach(stop)
    try:
        yield
    finally:
        control.detach()
