"""What one who plays a run has in common with all others: allowances of models, the budget, and orders that people give."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cuecard.core.archive import LAPSE, Refusal
from cuecard.core.errors import CuecardError, Drained, Held, ModelPaused
from cuecard.core.i18n import _
from cuecard.core.llm.limiter import Need
from cuecard.core.records import OrderKind, RunOrder, RunState

if TYPE_CHECKING:
    from datetime import datetime

    from cuecard.core.archive import Archive, Shares
    from cuecard.core.config import Config
    from cuecard.core.engine.run import RunControl
    from cuecard.core.evaluation.runs import Meter
    from cuecard.core.llm.hub import ModelHub

LOOK = 1.0
"""Seconds between looks at orders and at what others use."""
_SOON = 0.2
_LEAST = 0.05
_ALONE = LAPSE / 3
_PATIENCE = 5.0
_NEARLY = 0.05
_LOG = logging.getLogger(__name__)


@asynccontextmanager
async def shared(
    workspace: Archive,
    party: str,
    run_id: int,
    hub: ModelHub,
    control: RunControl,
    meter: Meter,
    *,
    after: int = 0,
) -> AsyncGenerator[None]:
    """While the block plays the run as `party`, the models of the hub are called within what all parties may use together,
    what the run costs is held against its budget together, and orders with an id above `after` are obeyed.
    """
    sharing = _Sharing(workspace, party, run_id, hub, control, meter, after)
    task = asyncio.create_task(sharing.go_on())
    try:
        yield
    finally:
        sharing.end()
        await asyncio.wait({task}, timeout=_PATIENCE)
        task.cancel()
        await sharing.leave()


class _Sharing:
    def __init__(
        self,
        workspace: Archive,
        party: str,
        run_id: int,
        hub: ModelHub,
        control: RunControl,
        meter: Meter,
        after: int,
    ) -> None:
        self._workspace, self._party, self._run_id = workspace, party, run_id
        self._hub, self._control, self._meter = hub, control, meter
        self._after = after
        self._cost = f"cost of run {run_id}"
        self._since: datetime | None = None
        self._alone = self._settled = False
        self._shared_at = float("-inf")
        self._known: set[str] = set()
        self._wake = asyncio.Event()
        self._due = self._ended = False
        hub.share_out(self._wake.set)
        meter.when_short(self._short)

    async def go_on(self) -> None:
        while not self._ended:
            try:
                await self._obey()
                await self._share()
            except Exception:  # noqa: BLE001 - the boundary of a worker: the next look may come through
                _LOG.warning("what others use, or ask for, could not be read", exc_info=True)
            await asyncio.sleep(_LEAST)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), LOOK if self._settled else _SOON)
            self._due = self._wake.is_set()
            self._wake.clear()

    def end(self) -> None:
        """Have `go_on` return when it has nothing under way."""
        self._ended = True
        self._wake.set()

    async def leave(self) -> None:
        """Give back what is left, and tell what was found last."""
        used = {need.key: need.used for need in self._needs()}
        self._hub.share_out(None)
        self._meter.when_short(None)
        try:
            if refused := self._refused():
                await self._ask([], refused)
            if self._since is not None:
                await asyncio.to_thread(self._workspace.allowances.leave, self._party, used)
        except CuecardError:
            _LOG.warning("an allowance could not be given back: it lapses", exc_info=True)

    def _short(self, short: bool) -> None:
        self._hub.hold(short)
        if short:
            self._wake.set()

    async def _obey(self) -> None:
        for order in await asyncio.to_thread(
            self._workspace.orders.of, self._run_id, after=self._after
        ):
            self._after = order.id
            obey(order, self._control, self._meter)

    def _needs(self) -> list[Need]:
        needs = [
            replace(need, key=_join(key, need.key))
            for key, limiter in self._hub.limiters.items()
            for need in limiter.needs()
        ]
        if (budget := self._meter.amount) is not None:
            part = self._meter.part
            if part is None and self._alone:
                part = budget - self._meter.spent
            needs.append(Need(self._cost, budget, max(0.0, part or 0.0), 0.0, want=budget))
        return needs

    def _refused(self) -> list[Refusal]:
        """Models that were found to refuse everybody since the last time."""
        found = [
            Refusal(key, (halt.title, halt.message, halt.hint))
            for key, limiter in self._hub.limiters.items()
            if key not in self._known and isinstance(halt := limiter.paused, ModelPaused)
        ]
        self._known.update(each.key for each in found)
        return found

    async def _share(self) -> None:
        needs, refused = self._needs(), self._refused()
        now = time.monotonic()
        if not needs:
            self._settled = True
            return
        due = self._due or refused or now - self._shared_at > _ALONE
        if self._alone and self._settled and not due:
            keys = [need.key for need in needs]
            others = self._workspace.allowances.others
            if not await asyncio.to_thread(others, self._party, keys):
                return
        until = asyncio.get_running_loop().time() + LAPSE
        shares = await self._ask(needs, refused)
        self._shared_at, self._alone = now, shares.alone
        self._settled = not any(_unsettled(need, shares.amounts[need.key]) for need in needs)
        for key, limiter in self._hub.limiters.items():
            parts = {
                need.key: shares.amounts[name]
                for need in limiter.needs()
                if (name := _join(key, need.key)) in shares.amounts
            }
            if parts:
                limiter.give(parts, until)
        part = shares.amounts.get(self._cost)
        if shares.spent is not None:
            self._meter.share(shares.spent, None if shares.alone else part)
        for each in shares.refusals:
            if each.at and self._since and each.at >= self._since and each.key not in self._known:
                self._known.add(each.key)
                self._hub.limiters[each.key].pause(ModelPaused(*each.said))

    async def _ask(self, needs: list[Need], refused: list[Refusal]) -> Shares:
        run_id = self._run_id if self._meter.amount is not None else 0
        shares = await asyncio.to_thread(
            self._workspace.allowances.share, self._party, needs, refused, run_id
        )
        self._since = self._since or shares.at
        return shares


def _unsettled(need: Need, part: float) -> bool:
    """Whether somebody waits for what is to be given back, or nothing at all can be done with the part."""
    starved = part < need.step and need.used < need.step
    return starved or need.has > part + _NEARLY * need.whole


def _join(model: str, kind: str) -> str:
    return f"{model}, {kind}"


def obey(order: RunOrder, control: RunControl, meter: Meter) -> None:
    """Do what a person asked of whoever plays the run."""
    asked = _("{person} asked for it at {time}").format(
        person=order.person, time=f"{order.at.astimezone():%H:%M}"
    )
    match order.kind:
        case "pause":
            control.drain(_ordered(Held(_("The run is paused"), asked)))
        case "cancel" if control.halt is None:
            control.drain(_ordered(Drained(_("The run was stopped"), asked)))
        case "cancel":
            control.cancel()
        case "budget":
            meter.change(order.value)
        case "concurrency" if order.value is not None:
            control.resize(int(order.value))
        case _:
            pass


def _ordered(halt: Drained) -> Drained:
    halt.ordered = True
    return halt


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
    from cuecard.core.evaluation.runs import change_budget

    run = workspace.runs.get(run_id)
    played = run.state is RunState.RUNNING and run.lease is not None
    if kind == "budget" and config is not None:
        change_budget(workspace, run_id, value, config)
    if kind == "resume" and run.finished < run.trials:
        title = _("This run is being played") if played else _("Nobody plays this run")
        hint = _("`cuecard run --resume {id}` goes on with it.").format(id=run_id)
        raise CuecardError(title, run.name, "" if played else hint)
    if not played and kind == "budget":
        return None
    if not played:
        hint = _("`cuecard run --resume {id} --concurrency N` goes on with it.").format(id=run_id)
        told = hint if kind == "concurrency" and run.finished < run.trials else ""
        raise CuecardError(_("Nobody plays this run"), f"{run.name}: {run.state.label}", told)
    return workspace.orders.give(run_id, kind, by, value)
