"""The port to storage: the protocol of an archive of tasks, runs and judgements that `core.evaluation` works with.

`cuecard.store.workspace.Workspace` is such an archive. Calls block; they may come from any thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, TypeVar
from uuid import uuid4

from pydantic import JsonValue

from cuecard.core.engine.events import Event, Limits, RunState
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import PlayMove, RecordedCall
from cuecard.core.engine.trial_log import Sink
from cuecard.core.errors import Conflict, DatabaseAway
from cuecard.core.i18n import _, ngettext
from cuecard.core.label_records import JudgementHead, JudgementRecord
from cuecard.core.records import (
    PLACED,
    Handout,
    KeptFigures,
    NoteKind,
    OrderKind,
    Outline,
    Person,
    PlayStep,
    Pulse,
    Revision,
    RunLease,
    RunOrder,
    RunRecord,
    Shadow,
    TaskTraits,
    TrialCell,
    TrialNote,
    TrialRecord,
    UsageRecord,
)
from cuecard.core.verdicts import Item, Judgement

if TYPE_CHECKING:
    from cuecard.core.llm.limiter import Need

RunKind = Literal["grid", "play", "probe"]
"""The kind of a run: an automated grid of trials, a person's live session, or a quality probe."""

Acquaintance = Literal["wrote", "edited", "reviewed", "built", "judged", "played", ""]
"""How a person may know a task's gold: they wrote, edited or reviewed it, `built` (or began) an independent gold,
`judged` (gave or saw verdicts), or `played` its user; "" if nothing suggests that they do.
"""

LAPSE = 15.0
"""Seconds without a heartbeat after which a lease may lapse."""

PATIENCE = 60.0
"""Seconds for which what is played waits by default for a database that is away."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 15.0
"""Seconds between attempts meanwhile: each time twice as long."""
Given = ParamSpec("Given")
Done = TypeVar("Done")


WORKER_LAPSE = 10.0
"""Seconds without a sign of life after which what a worker holds is handed to others."""


class BeingPlayed(Conflict):
    """Another process plays the run, or workers do. `certain`: it is known to be alive; otherwise that shows within `LAPSE`
    seconds.
    """

    def __init__(self, lease: RunLease, *, certain: bool = True) -> None:
        whose = _("{person} plays it on {host}, process {pid}, since {time}.")
        if lease.workers:
            whose = ngettext(
                "{n} worker plays it since {time}: {person}'s on {host}, process {pid}.",
                "{n} workers play it since {time}; the first is {person}'s on {host}, process {pid}.",
                lease.workers,
            )
        super().__init__(
            _("This run is being played"),
            whose.format(
                person=lease.person or _("Somebody"),
                host=lease.host,
                pid=lease.pid,
                time=f"{lease.since.astimezone():%Y-%m-%d %H:%M}",
                n=lease.workers,
            ),
            _("Stop it there, or wait until it is over."),
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
        """At most so many trials of the run, none if there are none now. Raises `BeingPlayed`."""
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
        """Wait until something is offered or given back, but no longer than that."""
        ...


class TaskArchive(Protocol):
    """Tasks and their revisions."""

    def revision(self, task_id: str, number: int | None = None) -> Revision:
        """One revision, the newest by default. Raises `NotFound`."""
        ...

    def newest(self, task_ids: Iterable[str]) -> Iterator[Revision]:
        """The newest revision of each of these tasks, in this order, some read at a time. Raises `NotFound`."""
        ...


class RunArchive(Protocol):
    """Runs, their trials and the trials' logs."""

    def create(
        self,
        *,
        name: str,
        kind: RunKind,
        created_by: str,
        samples: int,
        limits: Limits,
        plan: Mapping[str, JsonValue] | None = None,
        cells: Sequence[TrialCell] = (),
    ) -> RunRecord:
        """Create a run with a trial for each cell, all or nothing. `plan`: its settings, stored for resuming it. Raises
        `NotFound` for an unknown revision.
        """
        ...

    def get(self, run_id: int) -> RunRecord:
        """One run. Raises `NotFound`."""
        ...

    def all(self, kind: RunKind | None = None, *, unfinished: bool = False) -> list[RunRecord]:
        """All runs (of one kind), newest first. `unfinished`: only those that are neither finished nor stopped, whether
        they are being played or not.
        """
        ...

    def set_state(self, run_id: int, state: RunState, reason: str = "") -> None:
        """Store the state in which a process left the run; see `core.engine.events.run_state`. `reason`: why it is
        paused. Raises `NotFound`.
        """
        ...

    def set_plan(self, run_id: int, plan: Mapping[str, JsonValue]) -> None:
        """Replace the settings stored for resuming the run. Raises `NotFound`."""
        ...

    def add_trials(self, run_id: int, cells: Sequence[TrialCell]) -> list[TrialRecord]:
        """Add a trial for each cell, all or none. Raises `NotFound` for an unknown run or revision."""
        ...

    def trial(self, trial_id: int) -> TrialRecord:
        """One trial. Raises `NotFound`."""
        ...

    def trials(self, run_id: int) -> list[TrialRecord]:
        """The run's trials in the order in which they were added. Raises `NotFound` for an unknown run."""
        ...

    def trials_of(self, task_id: str, revision: int, kind: RunKind) -> list[TrialRecord]:
        """The trials of a revision in runs of one kind, in the order in which they were added."""
        ...

    def open_trials(
        self,
        created_by: str | None = None,
        kind: RunKind | None = None,
        *,
        failed_since: datetime | None = None,
    ) -> list[TrialRecord]:
        """Trials that have not ended, whatever the state of their run; with `failed_since` also those that ended in a
        failure since then.
        """
        ...

    def append_events(self, batch: Sequence[tuple[int, Event]]) -> None:
        """Record events, as pairs of trial id and event, all or none.

        Each trial's events come in the order of `seq`, without gaps. An event that is already recorded is skipped. A
        `TrialEnded` ends its trial, a `TrialRetried` opens it again. Usage is stored with the calls. Raises `Conflict`
        if another event has this `seq`, or this key in the same attempt, if one is missing in between, or if the trial
        has ended; `NotFound` for an unknown trial.
        """
        ...

    def log(self, trial_id: int) -> list[Event]:
        """The whole log, with earlier attempts, from which a `TrialLog` goes on. Raises `NotFound`."""
        ...

    def logs(self, trial_ids: Collection[int]) -> dict[int, list[Event]]:
        """As `log`, of several trials, by id; those without events are left out."""
        ...

    def events(self, trial_id: int, *, after: int = -1) -> list[Event]:
        """The events of the trial's effective log (`core.engine.events.effective_log`) with `seq` > `after`, with their
        large texts. Raises `NotFound`.
        """
        ...

    def outline(self, trial_id: int) -> Outline:
        """The trial's effective log with large texts cut; they are not read from the database. Enough for scores, since
        calls, hits, usage, acts and the dialogue are complete. Raises `NotFound`.
        """
        ...

    def whole(self, trial_id: int, *seqs: int) -> list[Event]:
        """The events with these `seq`, with their large texts, in the log's order. Raises `NotFound`."""
        ...

    def traits(self, run_id: int) -> dict[tuple[str, int], TaskTraits]:
        """The traits of the revisions that the run plays, by task and number. Raises `NotFound`."""
        ...

    def usage(self, run_id: int) -> list[UsageRecord]:
        """What each trial has cost, by payer and model. Raises `NotFound`."""
        ...

    def usage_of(self, trial_ids: Collection[int]) -> list[UsageRecord]:
        """What these trials have cost, by trial, payer and model."""
        ...


class VerdictArchive(Protocol):
    """Judgements of trials. Judging adds, it never replaces."""

    def add(
        self, trial_id: int, judgement: Judgement, claim: Claim | None = None
    ) -> JudgementRecord:
        """Record a judgement. Raises `NotFound` for an unknown trial, and `ClaimLost` if `claim` stands no more."""
        ...

    def of_trial(self, trial_id: int) -> list[JudgementRecord]:
        """All judgements of a trial, newest first."""
        ...

    def of_run(self, run_id: int) -> list[JudgementRecord]:
        """The newest judgement of each judge on each trial, by trial and judge. Raises `NotFound`."""
        ...

    def newest(self, trial_ids: Collection[int]) -> list[JudgementRecord]:
        """The newest judgement of each judge on each of these trials, newest first."""
        ...

    def heads(self, run_id: int) -> list[JudgementHead]:
        """`of_run` without the verdicts. Raises `NotFound`."""
        ...

    def judgements(self, ids: Collection[int]) -> list[JudgementRecord]:
        """The judgements with these ids, as far as they exist, newest first."""
        ...


class JudgeCallArchive(Protocol):
    """Model calls of judges, stored so that none is paid for twice."""

    def of(self, trial_id: int, judge: str, attempt: int) -> dict[str, ModelReply]:
        """The recorded replies by key: of one judge's `attempt` at a trial."""
        ...

    def add(
        self,
        trial_id: int,
        judge: str,
        attempt: int,
        call: RecordedCall,
        claim: Claim | None = None,
    ) -> None:
        """Record a call; it is stored when this returns. Recording the same again does nothing.

        Raises `Conflict` if another reply is recorded under this key, `NotFound` for an unknown trial, and `ClaimLost` if
        `claim` stands no more.
        """
        ...

    def next_attempt(self, trial_id: int, judge: str) -> int:
        """The number of a new attempt (from 0): one more than that of the last one with recorded calls."""
        ...


class FigureArchive(Protocol):
    """A cache of computed figures of judged trials; what is lost can be computed again."""

    def of_run(self, run_id: int, language: str) -> dict[int, KeptFigures]:
        """The stored figures of a run's trials, by the judgement's id."""
        ...

    def keep(
        self, figures: Iterable[KeptFigures], language: str, *, patience: float | None = None
    ) -> None:
        """Store these, replacing those of the same judgements. `patience`: see `Database.write`."""
        ...


class LeaseArchive(Protocol):
    """Which process plays which run."""

    def take(self, run_id: int, person: str, on_lost: Callable[[], None] | None = None) -> Lease:
        """Hold the run until `release`. `on_lost` is called, on another thread, if another process takes it over.
        Raises `NotFound`, and `BeingPlayed` while another process plays it.
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

    def handout(self, run_id: int) -> Handout | None:
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


class MoveArchive(Protocol):
    """Who plays the agent of a trial (Wizard of Oz), and the moves that they made."""

    def pulse(self, trial_id: int) -> Pulse | None:
        """The number and time of a trial's newest event; cheap enough for polling."""
        ...

    def become_player(self, trial_id: int, person: str) -> None:
        """Have `person` play the agent of a trial; doing so again changes nothing. Raises `NotFound`, and `NotAllowed`
        if somebody else plays it.
        """
        ...

    def holder(self, trial_id: int) -> str:
        """Who plays the agent of a trial; "" if nobody does yet."""
        ...

    def known(self, task_id: str, person: str) -> Acquaintance:
        """How `person` may know a task's gold or what its user will say; "" if nothing suggests that they do."""
        ...

    def add(self, trial_id: int, attempt: int, place: str, person: str, move: PlayMove) -> PlayStep:
        """Record a move. Raises `NotAllowed` if `person` does not play this agent, `Conflict` if the move at this step
        was made already.
        """
        ...

    def find(self, trial_id: int, attempt: int, place: str) -> PlayStep | None:
        """The move at one step; None until it has been made."""
        ...


class ShadowArchive(Protocol):
    """What simulators would have said in trials that somebody else played."""

    def add(self, shadow: Shadow, claim: Claim | None = None) -> bool:
        """Store it, unless this simulator has been asked at this point already; returns whether it was stored. Raises
        `NotFound` for an unknown trial, and `ClaimLost` if `claim` stands no more.
        """
        ...

    def of(self, trial_ids: Collection[int] | None = None) -> list[Shadow]:
        """The shadows of these trials (None: of all), in the order in which they were stored."""
        ...


class NoteArchive(Protocol):
    """What people noted on trials."""

    def add(
        self, trial_id: int, person: str, kind: NoteKind, place: str, text: str = "", uid: str = ""
    ) -> TrialNote:
        """Store it; one with the same `uid` is stored once. Raises `NotFound` for an unknown trial."""
        ...

    def of(
        self, trial_ids: Collection[int] | None = None, kinds: Collection[NoteKind] = PLACED
    ) -> list[TrialNote]:
        """The notes of these kinds that were not taken back, oldest first; of these trials, or of all."""
        ...


class PromptArchive(Protocol):
    """Texts of prompts by their hash."""

    def keep(self, digest: str, text: str) -> None:
        """Store a prompt's text under its hash; quick if it is stored already. Raises `ValueError` if another text is
        stored under the hash.
        """
        ...

    def get(self, digest: str) -> str:
        """The prompt with this hash. Raises `NotFound`."""
        ...


class PeopleArchive(Protocol):
    """The people who work in this workspace."""

    def add(self, name: str) -> Person:
        """The person with this name, added if new. Raises `CuecardError` for an unusable name."""
        ...


class Archive(Protocol):
    """An archive: tasks, runs, judgements and all that belongs to them."""

    patience: float
    """Seconds that whoever plays waits for a database that is away."""

    @property
    def tasks(self) -> TaskArchive: ...

    @property
    def runs(self) -> RunArchive: ...

    @property
    def verdicts(self) -> VerdictArchive: ...

    @property
    def judge_calls(self) -> JudgeCallArchive: ...

    @property
    def figures(self) -> FigureArchive: ...

    @property
    def leases(self) -> LeaseArchive: ...

    @property
    def workers(self) -> WorkerArchive: ...

    @property
    def allowances(self) -> AllowanceArchive: ...

    @property
    def orders(self) -> OrderArchive: ...

    @property
    def player_moves(self) -> MoveArchive: ...

    @property
    def shadows(self) -> ShadowArchive: ...

    @property
    def trial_notes(self) -> NoteArchive: ...

    @property
    def prompts(self) -> PromptArchive: ...

    @property
    def people(self) -> PeopleArchive: ...

    def version(self) -> str:
        """Another text than before if anything was saved since, by anybody. Costs next to nothing."""
        ...

    def sink(self, trial_id: int, claim: Claim | None = None) -> Sink:
        """The sink for a trial's events: `append` returns when the event is stored or can be made again. It raises
        `ClaimLost` if `claim` stands no more.
        """
        ...


async def outlast(
    workspace: Archive, call: Callable[Given, Done], *args: Given.args, **kwargs: Given.kwargs
) -> Done:
    """The result of `call` in a thread. Where the database goes away under it, it is called again when that is back; so it
    must bear being done twice. Raises `DatabaseAway` if that takes longer than the workspace has patience.
    """
    return await outlasting(workspace, lambda: asyncio.to_thread(call, *args, **kwargs))


async def outlasting(workspace: Archive, attempt: Callable[[], Awaitable[Done]]) -> Done:
    """As `outlast`, of what is awaited."""
    began, pause = time.monotonic(), FIRST_PAUSE
    while True:
        try:
            return await attempt()
        except DatabaseAway:
            if time.monotonic() - began >= workspace.patience:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


class Discretion(Protocol):
    """Which decisions on items one person may see, so that labelling stays blind; see `cuecard.store.workspace.Sight`."""

    def may_tell(self, trial_id: int, item: Item) -> bool:
        """Whether decisions on the item may be shown now; if so, they count as seen."""
        ...

    def may_open(self, trial_id: int) -> bool:
        """Whether everything about a trial may be shown, since this person has nothing of it left to label."""
        ...

    def record(self) -> None:
        """Store what counts as seen. In a workspace that cannot be written to, raises `CuecardError` if a decision on an
        item that is still to be labelled was uncovered.
        """
        ...
