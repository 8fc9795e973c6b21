"""What one who plays a run has in common with all others: allowances of models, the budget, and orders that people give."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from cuecard.core.engine.events import CallAnswered
from cuecard.core.errors import (
    BudgetSpent,
    CuecardError,
    DatabaseAway,
    ModelPaused,
    PausedByPerson,
    StoppedByPerson,
    error_text,
)
from cuecard.core.i18n import _
from cuecard.core.records import RunOrder
from cuecard.core.worker_archive import LAPSE, Refusal

if TYPE_CHECKING:
    from datetime import datetime

    from cuecard.core.archive import Archive
    from cuecard.core.engine.events import RunEvent
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.engine.step_context import RecordedCall
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.llm.limiter import Need
    from cuecard.core.worker_archive import Shares

LOOK = 1.0
"""Seconds between looks at orders and at what others use."""
_SOON = 0.2
_LEAST = 0.05
_ALONE = LAPSE / 3
_PATIENCE = 5.0
_NEARLY = 0.05
_MOST_TRIALS = 1024
_LOG = logging.getLogger(__name__)


class Budget:
    """What a run may cost in total, in the price table's currency; None: without limit. May be changed from any thread
    while the run is played.
    """

    def __init__(self, amount: float | None = None) -> None:
        self._amount = amount
        self._changed: Callable[[], None] = lambda: None

    @property
    def amount(self) -> float | None:
        return self._amount

    def change(self, amount: float | None) -> None:
        """Set another amount, at once: if more than that is spent, the run pauses."""
        self._amount = amount
        self._changed()

    def when_changed(self, listener: Callable[[], None]) -> None:
        self._changed = listener


class Meter:
    """Adds up the cost of calls and pauses the run when the budget is spent. Calls under way at that moment are
    finished and recorded, so a run may exceed its budget by their cost. `part`: what this process may still spend where
    others play the run too; None: all that is left.
    """

    def __init__(self, spent: float, budget: Budget | float | None, control: RunControl) -> None:
        self.spent = spent
        self.part: float | None = None
        self._budget = budget if isinstance(budget, Budget) else Budget(budget)
        self._control = control
        self._on_short: Callable[[bool], None] | None = None
        self._budget.when_changed(self._check)
        self._check()

    @property
    def amount(self) -> float | None:
        """The budget."""
        return self._budget.amount

    def change(self, amount: float | None) -> None:
        """Set another budget."""
        self._budget.change(amount)

    def when_short(self, listener: Callable[[bool], None] | None) -> None:
        """Have `listener` told whether this process has used up its part, each time that may have changed."""
        self._on_short = listener

    def share(self, spent: float, part: float | None) -> None:
        """Take over what was spent by all who play the run, and this process's part of what is left."""
        self.spent, self.part = spent, part
        self._check()
        self._tell()

    def on_event(self, event: RunEvent) -> None:
        if isinstance(event, CallAnswered):
            self.add(event.cost)

    def judged(self, call: RecordedCall) -> None:
        self.add(call.reply.cost)

    def add(self, cost: float | None) -> None:
        self.spent += cost or 0.0
        if self.part is not None and cost:
            self.part -= cost
            self._tell()
        self._check()

    def _tell(self) -> None:
        if self._on_short:
            self._on_short(self.part is not None and self.part <= 0)

    def _check(self) -> None:
        budget = self._budget.amount
        if budget is not None and self.spent >= budget:
            self._control.pause(
                BudgetSpent(
                    _("The budget is spent"),
                    _("{spent:.4f} of {budget:.4f}").format(spent=self.spent, budget=budget),
                    _("go on with a larger --budget"),
                    in_app=_("<run.budget> gives it a larger budget, {PLAY} goes on"),
                )
            )


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
    most: int = _MOST_TRIALS,
    trials: int = 0,
    idles: bool = False,
) -> AsyncGenerator[None]:
    """While the block plays the run as `party`, the models of the hub are called within what all parties may use together,
    what the run costs is held against its budget together, and orders with an id above `after` are obeyed. `most`: trials
    that this party plays at the same time, whatever is ordered; `trials`: how many were ordered, over all who play it.
    `idles`: it calls so seldom that it keeps nothing between calls. `run_id` 0: it is no run's.
    """
    sharing = _Sharing(workspace, party, run_id, hub, control, meter, after, most, trials, idles)
    task = asyncio.create_task(sharing.go_on())
    try:
        yield
    finally:
        sharing.end()
        await asyncio.wait({task}, timeout=_PATIENCE)
        task.cancel()
        await sharing.leave()


@asynccontextmanager
async def within_limits(
    workspace: Archive,
    hub: ModelHub,
    *,
    run_id: int = 0,
    control: RunControl | None = None,
    idles: bool = False,
) -> AsyncGenerator[Meter]:
    """`shared` for calls beside the playing of a run: of judges, shadows and people's sessions. Gives what is to be told of
    costs, which count against the budget of the run `run_id`. In a file, what `idles` calls alone. Raises `NotFound`.
    """
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.evaluation.runs import budget_of, spent_on

    control = control or RunControl()
    control.when_paused(hub.stop)
    budget, spent, after = None, 0.0, 0
    if run_id:
        budget = budget_of(await asyncio.to_thread(workspace.runs.get, run_id))
        spent = await asyncio.to_thread(spent_on, workspace, run_id)
        after = await asyncio.to_thread(workspace.orders.last)
    meter = Meter(spent, budget, control)
    if idles and not workspace.allowances.across:
        yield meter
        return
    async with shared(
        workspace, uuid4().hex, run_id, hub, control, meter, after=after, idles=idles
    ):
        yield meter


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
        most: int,
        trials: int,
        idles: bool,
    ) -> None:
        self._idles = idles
        self._workspace, self._party, self._run_id = workspace, party, run_id
        self._hub, self._control, self._meter = hub, control, meter
        self._after = after
        self._cost, self._trials = f"cost of run {run_id}", f"trials of run {run_id}"
        self._most, self._ordered, self._concurrency = most, trials, 0
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
            except DatabaseAway as away:
                _LOG.info("what others use, or ask for, is not known: %s", away)
            except Exception as error:  # noqa: BLE001 - the boundary of a worker: the next look may come through
                _LOG.warning(
                    "what others use, or ask for, could not be read: %s", error_text(error)
                )
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
        except CuecardError as error:
            _LOG.info("an allowance could not be given back, and lapses: %s", error)

    def _short(self, short: bool) -> None:
        self._hub.hold(short)
        if short:
            self._wake.set()

    async def _obey(self) -> None:
        if not self._run_id:
            return
        for order in await asyncio.to_thread(
            self._workspace.orders.of, self._run_id, after=self._after
        ):
            self._after = order.id
            obey(order, self._control, self._meter)
            if order.kind == "concurrency" and order.value is not None:
                self._ordered, self._due = int(order.value), True

    def _needs(self) -> list[Need]:
        needs = [
            replace(need, key=_join(key, need.key))
            for key, limiter in self._hub.limiters.items()
            for need in limiter.needs()
        ]
        budget = self._meter.amount
        if budget is None and not self._ordered:
            return needs
        from cuecard.core.llm.limiter import Need  # A run without models needs none of it.

        if budget is not None:
            part = self._meter.part
            if part is None and self._alone:
                part = budget - self._meter.spent
            needs.append(Need(self._cost, budget, max(0.0, part or 0.0), 0.0, want=budget))
        if self._ordered:
            needs.append(Need(self._trials, self._ordered, self._concurrency, 0.0, self._ordered))
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
        if self._idles and not refused and not any(need.want or need.used for need in needs):
            await self._rest()
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
        if (trials := shares.amounts.get(self._trials)) is not None:
            now_at = max(1, min(int(trials), self._most))
            if now_at != self._concurrency:
                self._concurrency = now_at
                self._control.resize(now_at)
        part = shares.amounts.get(self._cost)
        if shares.spent is not None:
            self._meter.share(shares.spent, None if shares.alone else part)
        for each in shares.refusals:
            if each.at and self._since and each.at >= self._since and each.key not in self._known:
                self._known.add(each.key)
                self._hub.limiters[each.key].pause(ModelPaused(*each.said))

    async def _rest(self) -> None:
        """Give everything back; the next call wakes us."""
        self._settled = True
        if self._shared_at > float("-inf"):
            self._shared_at = float("-inf")
            for limiter in self._hub.limiters.values():
                limiter.give({}, 0.0)
            await asyncio.to_thread(self._workspace.allowances.leave, self._party, {})

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
    asked = asked_for(order)
    match order.kind:
        case "pause":
            control.drain(_ordered(PausedByPerson(_("The run is paused"), asked)))
        case "cancel" if control.halt is None:
            control.drain(_ordered(StoppedByPerson(_("The run was stopped"), asked)))
        case "cancel":
            control.cancel()
        case "budget":
            meter.change(order.value)
        case _:
            pass


def asked_for(order: RunOrder) -> str:
    """Who asked for it, and when."""
    return _("{person} asked for it at {time}").format(
        person=order.person, time=f"{order.at.astimezone():%H:%M}"
    )


def _ordered(halt: StoppedByPerson) -> StoppedByPerson:
    halt.ordered = True
    return halt
