"""Offers the trials of a run to workers, follows how they get on, and passes on orders: what whoever enters a run does."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from pydantic import JsonValue

from cuecard.core.archive import outlast, outlasting
from cuecard.core.config import Config
from cuecard.core.engine.events import RunBegan, RunEvent, TrialFinished
from cuecard.core.engine.run import tell
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import CuecardError, DatabaseAway, Halt, StoppedByPerson
from cuecard.core.evaluation.ended_work import end_work, offer_work, set_work, stop_work
from cuecard.core.evaluation.plans import PlayerConfigs, memory_of, player_configs, settings_of
from cuecard.core.evaluation.runs import change_budget, conclude, judges_of
from cuecard.core.evaluation.sharing import asked_for
from cuecard.core.i18n import _, beside
from cuecard.core.llm.hub import ModelHub
from cuecard.core.records import OrderKind, RunOrder, RunRecord, RunState
from cuecard.core.worker_archive import AlreadyPlayed, Purpose

if TYPE_CHECKING:
    from cuecard.core.archive import Archive

_LOOK = 0.5


async def offer_run(
    workspace: Archive,
    run_id: int,
    *,
    by: str,
    purpose: Purpose = "play",
    only: Collection[int] | None = None,
) -> int:
    """Offer the run's open trials to workers (failed ones too to `retry`, ended ones to `judge`), or `only` those of these
    ids; how many that are. What workers were asked to do with ended trials goes on instead. Trials of an agent whose memory
    goes from one to the next are played by one worker, in their order. Raises `AlreadyPlayed`, and `CuecardError` where
    workers cannot be.
    """
    run = await outlast(workspace, workspace.runs.get, run_id)
    if (judging := settings_of(run).judging) is not None:
        if run.finished == run.trials or judging.shadows:
            return await offer_work(workspace, run_id, judging, by)
        await outlast(workspace, set_work, workspace, run_id, None)
    configs = settings_of(run).roster
    lanes: dict[str, list[int]] = {}
    for trial in await outlast(workspace, workspace.runs.trials, run_id):
        end = trial.termination
        wanted = end is None or (purpose == "retry" and end.is_failure)
        if only is not None and trial.id not in only:
            continue
        if wanted if purpose != "judge" else end is not None:
            name = trial.agent.name
            ordered = purpose != "judge" and memory_of(configs, name) == "lifelong"
            lanes.setdefault(name if ordered else f"/{trial.id}", []).append(trial.id)

    async def offer() -> int:
        async with workspace.workers.queue(by) as queue:
            return await queue.offer(run_id, lanes, purpose)

    return await outlasting(workspace, offer)


async def follow_run(
    workspace: Archive,
    run_id: int,
    *,
    config: Config,
    by: str,
    control: RunControl,
    on_event: Callable[[RunEvent], None] | None = None,
    on_left: Callable[[int], None] | None = None,
) -> Halt | None:
    """Tell how the workers get on with a run until it is over, and conclude it if none of them does. Returns why it is
    paused, or who stopped it meanwhile, if anybody did. `control` stops only this looking on. `on_left` is told how many
    trials are left to do.
    """
    judging = settings_of(await outlast(workspace, workspace.runs.get, run_id)).judging
    seen: set[int] = set()
    version = ""
    last = await outlast(workspace, workspace.orders.last)
    trials = await outlast(workspace, workspace.runs.trials, run_id)
    tell(on_event, RunBegan(sum(t.termination is None for t in trials), 0))
    seen.update(trial.id for trial in trials if trial.termination is not None)
    while control.halt is None and not control.cancelled:
        now = await outlast(workspace, workspace.version)
        if now != version:
            version = now
            for trial in await outlast(workspace, workspace.runs.trials, run_id):
                if trial.termination is not None and trial.id not in seen:
                    seen.add(trial.id)
                    event = TrialFinished(str(trial.id), trial.termination, trial.detail)
                    tell(on_event, event)
        left = (await outlast(workspace, workspace.workers.offered)).get(run_id)
        run = await outlast(workspace, workspace.runs.get, run_id)
        tell(on_left, left or 0)
        if judging is not None and settings_of(run).judging is None:
            return await outlast(workspace, _halt_of, workspace, run, last)
        if left is None and run.state is not RunState.RUNNING:
            return await outlast(workspace, _halt_of, workspace, run, last)
        if left == 0 and run.state is not RunState.RUNNING:
            hub = ModelHub(config)
            try:
                if judging is not None:
                    await end_work(workspace, run_id, by)
                    continue
                judges = judges_of(settings_of(run).judges, config, hub)
                await conclude(workspace, run_id, judges, None, by)
            except (AlreadyPlayed, DatabaseAway):
                pass  # Whoever plays it concludes it; or the next look waits for the database.
            finally:
                await hub.close()
        await asyncio.sleep(_LOOK)
    return None


def _halt_of(workspace: Archive, run: RunRecord, after: int) -> Halt | None:
    if run.state is RunState.PAUSED:
        return Halt(_("The run is paused"), run.reason)
    stops = [o for o in workspace.orders.of(run.id, after=after) if o.kind == "cancel"]
    return StoppedByPerson(_("The run was stopped"), asked_for(stops[-1])) if stops else None


def differences(run: RunRecord, config: Config) -> list[str]:
    """What of the run's players this configuration has otherwise than the one that the run was entered with: keys and
    addresses may differ.
    """
    settings = settings_of(run)
    if (judging := settings.judging) is not None:
        ours = player_configs(config, judges=judging.judges, users=judging.shadows)
        return list(_differing(judging.roster, ours))
    if settings.probe is not None:
        models = [name.removeprefix("models/") for name in settings.roster if name[:7] == "models/"]
        ours = player_configs(
            config, worlds=(settings.world,), judges=settings.judges, models=models
        )
        return list(_differing(settings.roster, ours)) if settings.roster else []
    agents = [name.removeprefix("agents/") for name in settings.roster if name[:7] == "agents/"]
    ours = player_configs(
        config,
        agents=agents,
        users=(settings.user,),
        worlds=(settings.world,),
        judges=settings.judges,
    )
    return list(_differing(settings.roster, ours)) if settings.roster else []


def _differing(theirs: PlayerConfigs, ours: PlayerConfigs) -> Iterator[str]:
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours:
            yield _("{player} is not in the configuration of this worker").format(player=name)
        elif name not in theirs:
            yield _("{player} is not part of the run").format(player=name)
        else:
            for key in sorted(theirs[name].keys() | ours[name].keys()):
                then, now = theirs[name].get(key), ours[name].get(key)
                if then != now:
                    said = _("{player}: {field} is {now} here and {then} in the run")
                    yield said.format(player=name, field=key, now=_short(now), then=_short(then))


def _short(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)[:80]


def hash_of_players(config: Config) -> str:
    """A short hash of how every player of a configuration is configured, without keys and addresses."""
    sections = ("agents", "users", "worlds", "judges")
    found = player_configs(config, **{name: getattr(config, name) for name in sections})
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def give_order(
    workspace: Archive,
    run_id: int,
    kind: OrderKind,
    by: str,
    value: float | None = None,
    *,
    config: Config | None = None,
) -> RunOrder | None:
    """Ask something of whoever plays the run; None if nobody does and it is kept for whoever goes on with the run.
    `config`: for a budget. Raises `NotFound`, `ConfigError` as `change_budget` does, and `CuecardError` for an order that
    nobody is there to obey.
    """
    run = workspace.runs.get(run_id)
    workers = workspace.workers.handout(run_id) is not None
    played = run.state is RunState.RUNNING and run.lease is not None
    waits = workers and run_id in workspace.workers.offered()
    if kind == "budget" and config is not None:
        change_budget(workspace, run_id, value, config)
    if kind == "resume" and (run.finished < run.trials or settings_of(run).judging):
        if workers and not waits and not played:
            return _offer_again(workspace, run_id, by)
        title = _("This run is being played") if played else _("Nobody plays this run")
        hint = _("`cuecard run --resume {id}` goes on with it.").format(id=run_id)
        raise CuecardError(title, run.name, "" if played else hint)
    if not (played or waits) and kind == "budget":
        return None
    if not (played or waits):
        hint = _("`cuecard run --resume {id} --concurrency N` goes on with it.").format(id=run_id)
        told = hint if kind == "concurrency" and run.finished < run.trials else ""
        raise CuecardError(_("Nobody plays this run"), beside(run.name, run.state.label), told)
    order = workspace.orders.give(run_id, kind, by, value)
    if waits and kind in ("pause", "cancel"):
        # Workers that come later take nothing of it.
        if kind == "cancel" and settings_of(run).judging is not None:
            stop_work(workspace, run_id, asked_for(order))
        else:
            state = RunState.PAUSED if kind == "pause" else RunState.CANCELLED
            workspace.runs.set_state(run_id, state, asked_for(order))
    return order


def _offer_again(workspace: Archive, run_id: int, by: str) -> RunOrder:
    asyncio.run(offer_run(workspace, run_id, by=by))
    return workspace.orders.give(run_id, "resume", by)
