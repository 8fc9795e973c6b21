"""The part of the port to storage that is about who plays: holds on runs and trials, the queue of workers, what all of them share, and orders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import uuid4

from cuecard.core.errors import Conflict
from cuecard.core.i18n import _, ngettext
from cuecard.core.records import OfferProgress, OrderKind, RunLease, RunOrder

if TYPE_CHECKING:
    from cuecard.core.llm.limiter import Need


LAPSE = 15.0
"""Seconds without a heartbeat after which a lease may lapse."""


WORKER_LAPSE = 10.0
"""Seconds without a sign of life after which what a worker holds is handed to others."""


class AlreadyPlayed(Conflict):
    """Another process plays the run, or the person's `session`, or workers do. `certain`: it is known to be alive; otherwise
    that shows within `LAPSE` seconds.
    """

    def __init__(self, lease: RunLease, *, certain: bool = True, session: bool = False) -> None:
        whose = _("{person} plays it on {host}, process {pid}, since {time}.")
        if lease.workers:
            whose = ngettext(
                "{n} worker plays it since {time}: {person}'s on {host}, process {pid}.",
                "{n} workers play it since {time}; the first is {person}'s on {host}, process {pid}.",
                lease.workers,
            )
        super().__init__(
            _("This session is being played") if session else _("This run is being played"),
            whose.format(
                person=lease.person or _("Somebody"),
                host=lease.host,
                pid=lease.pid,
                time=f"{lease.since.astimezone():%Y-%m-%d %H:%M}",
                n=lease.workers,
            ),
            _("Leave it there first; then it goes on here.")
            if session
            else _("Stop it there, or wait until it is over."),
        )
        self.certain = certain


@dataclass(eq=False)
class Lease:
    """This process's hold on a run. `lost`: another process took it over, because this one seemed gone."""

    run_id: int
    owner: str = field(default_factory=lambda: uuid4().hex)
    on_lost: Callable[[], None] | None = None
    lost: bool = False


POISON, POISON_AT_LAST = 3, 10
"""So many more workers than without it must die while they hold a trial, in a row and before anything more of it is
recorded, for it to end as the cause; or so many in all.
"""


Purpose = Literal["play", "retry", "judge"]
"""What a trial is offered for: to be played to its end and judged; the same, though it failed; or, when it has ended, to be
judged or to have shadows asked.
"""


@dataclass(frozen=True)
class Claim:
    """A worker's hold on a trial. `fence` grows with each take: what is written with an
    older one is refused (`ClaimLost`). `lost`: how many workers in a row died while they held the trial and got no further;
    `elsewhere`: how many others of its run died in that time.
    """

    trial_id: int
    run_id: int
    fence: int
    purpose: Purpose = "play"
    lost: int = 0
    elsewhere: int = 0

    @property
    def poisons(self) -> bool:
        """Whether workers die of this trial, as far as that can be told."""
        return self.lost >= POISON_AT_LAST or self.lost - self.elsewhere >= POISON


class TrialQueue(Protocol):
    """Hands out the trials of runs to workers, and takes them back: of one worker's own. It forgets nothing when a worker
    dies; what that worker held is handed out again after `WORKER_LAPSE` seconds.
    """

    async def offer(
        self, run_id: int, lanes: Mapping[str, Sequence[int]], purpose: Purpose = "play"
    ) -> int:
        """Offer trials, lanes of them by names that are always the same in a run; how many are new. Those of one lane are
        played by one worker, one after the other.
        """
        ...

    async def take(self, run_id: int, most: int) -> list[Claim]:
        """At most so many trials of the run, none if there are none now. Raises `AlreadyPlayed`."""
        ...

    async def beat(self, calls: int, note: str) -> list[Claim]:
        """Say that this worker is alive, how many calls it made, and what it has to say. Returns what it has lost."""
        ...

    async def give_back(self, claim: Claim, *, done: bool) -> None:
        """Let go of a trial: nothing is left to do, or somebody else may take it."""
        ...

    async def cancel(self, run_id: int) -> None:
        """Take back what is offered of a run and not held; what is held is given back by whoever holds it."""
        ...

    async def wait(self, seconds: float) -> None:
        """Wait until this process gives something back, but no longer than that."""
        ...


class LeaseArchive(Protocol):
    """Which process plays which run."""

    def take(self, run_id: int, person: str, on_lost: Callable[[], None] | None = None) -> Lease:
        """Hold the run until `release`. `on_lost` is called, on another thread, if another process takes it over.
        Raises `NotFound`, and `AlreadyPlayed` while another process plays it.
        """
        ...

    def release(self, lease: Lease) -> None:
        """Release a run; a second call does nothing. If that cannot be written, the lease lapses by itself."""
        ...


class WorkerArchive(Protocol):
    """Workers, and the trials offered to them."""

    def check(self) -> None:
        """Raise `CuecardError` unless workers can share runs of this archive."""
        ...

    def offered(self) -> dict[int, int]:
        """How many trials are left to do of each run that was offered and is not over or stopped, by run id."""
        ...

    def handout(self, run_id: int) -> OfferProgress | None:
        """Where the run's offered trials stand; None if it was never offered to workers."""
        ...

    def queue(
        self, person: str, concurrency: int = 0, *, players: str = "", lapse: float = WORKER_LAPSE
    ) -> AbstractAsyncContextManager[TrialQueue]:
        """This process's access to the queue. With `concurrency` it is that of a worker. Raises what `check` raises."""
        ...


@dataclass(frozen=True)
class Refusal:
    """A model that some party found to refuse everybody, and why: title, message and hint. `at`: by the database's clock."""

    key: str
    said: tuple[str, str, str]
    at: datetime | None = None


@dataclass(frozen=True)
class Shares:
    """What a party may use until it asks again, by key, as of `at` by the database's clock. `spent`: recorded cost of the run
    whose budget is shared. `alone`: nobody else uses any of it.
    """

    amounts: Mapping[str, float]
    alone: bool
    at: datetime
    refusals: Sequence[Refusal] = ()
    spent: float | None = None


class AllowanceArchive(Protocol):
    """What all who play runs of the workspace may use together: calls, tokens and concurrency of models, budgets. Each party
    (somebody who plays a run) takes a part of each ahead of need; together they never hold more than there is. The part
    of one that is silent for `LAPSE` seconds is lost, and free for others once what it used counts no more.
    """

    def share(
        self, party: str, needs: Sequence[Need], refused: Sequence[Refusal] = (), run_id: int = 0
    ) -> Shares:
        """Take and give back, so that `party` has its part of each. `refused`: what it found, to be told to others.
        `run_id`: the run whose recorded cost counts against the budget among `needs`.
        """
        ...

    @property
    def across(self) -> bool:
        """Whether programs on several machines share them."""
        ...

    def others(self, party: str, keys: Collection[str]) -> bool:
        """Whether somebody else has, or waits for, a part of any of these; cheap enough for asking each second."""
        ...

    def leave(self, party: str, used: Mapping[str, float]) -> None:
        """Give back all that `party` has, but for what it `used` and still counts."""
        ...


class OrderArchive(Protocol):
    """What people asked of those who play runs."""

    def give(
        self, run_id: int, kind: OrderKind, person: str, value: float | None = None
    ) -> RunOrder:
        """Record an order; whoever plays the run obeys within two seconds. Raises `NotFound`."""
        ...

    def of(self, run_id: int, *, after: int = 0) -> list[RunOrder]:
        """The orders about a run with an id above `after`, oldest first."""
        ...

    def last(self) -> int:
        """The id of the newest order about any run; 0 if there is none."""
        ...
