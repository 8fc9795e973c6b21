"""The port to storage: what evaluation asks of an archive of tasks, runs and judgements, and who plays a run.

`cuecard.store.workspace.Workspace` is such an archive. Calls block; they may come from any thread.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol
from uuid import uuid4

from pydantic import JsonValue

from cuecard.core.engine.events import Event, Limits, RunState
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import RecordedCall, SeatMove
from cuecard.core.engine.trial_log import Sink
from cuecard.core.errors import Conflict
from cuecard.core.i18n import _
from cuecard.core.label_records import JudgementHead, JudgementRecord
from cuecard.core.records import (
    KeptFigures,
    Outline,
    Person,
    Pulse,
    Revision,
    RunLease,
    RunRecord,
    SeatStep,
    Shadow,
    TaskTraits,
    TrialCell,
    TrialRecord,
    UsageRecord,
)
from cuecard.core.verdicts import Item, Judgement

RunKind = Literal["grid", "play", "probe"]
"""How a run came about: a grid of trials, a person's live session, or probes of quality."""

Acquaintance = Literal["wrote", "edited", "reviewed", "built", "judged", "played", ""]
"""How a person can know the gold of a task; "" if nothing tells that they do. `built`: an independent gold, or began one.
`judged`: gave or saw verdicts. `played`: was its user.
"""

LAPSE = 15.0
"""Seconds without a beat after which a lease may lapse."""


class BeingPlayed(Conflict):
    """Somebody else plays the run. `certain`: their life was seen; otherwise watching for `LAPSE` will tell."""

    def __init__(self, lease: RunLease, *, certain: bool = True) -> None:
        whose = _("{person} plays it on {host}, process {pid}, since {time}.")
        super().__init__(
            _("This run is being played"),
            whose.format(
                person=lease.person or _("Somebody"),
                host=lease.host,
                pid=lease.pid,
                time=f"{lease.since.astimezone():%Y-%m-%d %H:%M}",
            ),
            _("Stop it there, or wait until it is over."),
        )
        self.certain = certain


@dataclass(eq=False)
class Lease:
    """A run that is held here. `lost`: somebody else took it over, because this process seemed gone."""

    run_id: int
    owner: str = field(default_factory=lambda: uuid4().hex)
    on_lost: Callable[[], None] | None = None
    lost: bool = False


class TaskArchive(Protocol):
    """Tasks and their revisions."""

    def revision(self, task_id: str, number: int | None = None) -> Revision:
        """One revision, the newest by default. Raises `NotFound`."""
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
    ) -> RunRecord:
        """`plan` is kept for whoever resumes the run."""
        ...

    def get(self, run_id: int) -> RunRecord:
        """Raises `NotFound`."""
        ...

    def all(self, kind: RunKind | None = None, *, unfinished: bool = False) -> list[RunRecord]:
        """Newest first. `unfinished`: those that were entered or gone on with and neither finished nor stopped,
        whether somebody plays them or not.
        """
        ...

    def set_state(self, run_id: int, state: RunState, reason: str = "") -> None:
        """Mark how whoever played the run left it; see `core.run_state`. `reason`: why it is paused. Raises
        `NotFound`.
        """
        ...

    def set_plan(self, run_id: int, plan: Mapping[str, JsonValue]) -> None:
        """Keep another plan for whoever resumes the run. Raises `NotFound`."""
        ...

    def add_trials(self, run_id: int, cells: Sequence[TrialCell]) -> list[TrialRecord]:
        """All cells of a grid at once, or none. Raises `NotFound` as `add_trial` does."""
        ...

    def trial(self, trial_id: int) -> TrialRecord:
        """Raises `NotFound`."""
        ...

    def trials(self, run_id: int) -> list[TrialRecord]:
        """In the order in which they were added. Raises `NotFound` for an unknown run."""
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
        """Trials without an end, whatever the state of their run; with `failed_since` also those that have
        ended since then because something failed.
        """
        ...

    def append_events(self, batch: Sequence[tuple[int, Event]]) -> None:
        """Record events, as pairs of trial id and event, all or none.

        Each trial's events come in the order of `seq`, without gaps. What is already recorded alike is
        passed over. A `TrialEnded` ends its trial, a `TrialRetried` opens it again. Usage is counted
        with the calls. Raises `Conflict` if another event stands in the place or has the key in this
        take, if one is missing in between, or if the trial has ended; `NotFound` for an unknown trial.
        """
        ...

    def log(self, trial_id: int) -> list[Event]:
        """All that was ever recorded, earlier takes and retries too: what a trial log goes on from.
        Raises `NotFound`.
        """
        ...

    def events(self, trial_id: int, *, after: int = -1) -> list[Event]:
        """The trial's effective log (see `core.events.effective_log`) from `seq` > `after` on, whole. Raises
        `NotFound`.
        """
        ...

    def outline(self, trial_id: int) -> Outline:
        """The trial's effective log without its large texts, which are not read. Enough for scores: calls,
        hits, usage, acts and all that was said are there. Raises `NotFound`.
        """
        ...

    def whole(self, trial_id: int, *seqs: int) -> list[Event]:
        """Some events with their large texts, in the log's order. Raises `NotFound`."""
        ...

    def traits(self, run_id: int) -> dict[tuple[str, int], TaskTraits]:
        """Of the revisions that the run plays, by task and number. Raises `NotFound`."""
        ...

    def usage(self, run_id: int) -> list[UsageRecord]:
        """What each trial has cost, by payer and model. Raises `NotFound`."""
        ...

    def usage_of(self, trial_ids: Collection[int]) -> list[UsageRecord]:
        """What these trials have cost, by trial, payer and model."""
        ...


class VerdictArchive(Protocol):
    """Judgements of trials. Judging adds, it never replaces."""

    def add(self, trial_id: int, judgement: Judgement) -> JudgementRecord:
        """Record a judgement. Raises `NotFound` for an unknown trial."""
        ...

    def of_trial(self, trial_id: int) -> list[JudgementRecord]:
        """All judgements of a trial, newest first."""
        ...

    def of_run(self, run_id: int) -> list[JudgementRecord]:
        """The newest judgement of each judge on each trial, by trial and judge. Raises `NotFound`."""
        ...

    def heads(self, run_id: int) -> list[JudgementHead]:
        """`of_run` without the verdicts. Raises `NotFound`."""
        ...

    def judgements(self, ids: Collection[int]) -> list[JudgementRecord]:
        """Those that there are, newest first."""
        ...


class JudgeCallArchive(Protocol):
    """Model calls of judges, kept so that none is paid for twice."""

    def of(self, trial_id: int, judge: str, attempt: int) -> dict[str, ModelReply]:
        """The recorded replies by key: of one judge's `attempt` at a trial."""
        ...

    def add(self, trial_id: int, judge: str, attempt: int, call: RecordedCall) -> None:
        """Record a call; it is on the disk when this returns. The same again is passed over.

        Raises `Conflict` if another reply is recorded under this key, `NotFound` for an unknown trial.
        """
        ...

    def next_attempt(self, trial_id: int, judge: str) -> int:
        """The number of a new attempt: one more than the last that has recorded calls, from 0."""
        ...


class FigureArchive(Protocol):
    """Figures of judged trials that were counted once; losing them loses nothing."""

    def of_run(self, run_id: int, language: str) -> dict[int, KeptFigures]:
        """By the judgement's id, those that are kept."""
        ...

    def keep(
        self, figures: Iterable[KeptFigures], language: str, *, patience: float | None = None
    ) -> None:
        """Keep these, in place of what was kept for the same judgements. `patience`: see `Database.write`."""
        ...


class LeaseArchive(Protocol):
    """Who plays which run."""

    def take(self, run_id: int, person: str, on_lost: Callable[[], None] | None = None) -> Lease:
        """Hold the run until `release`. `on_lost` is called, on another thread, should somebody else take it over.
        Raises `NotFound`, and `BeingPlayed` while somebody plays it.
        """
        ...

    def release(self, lease: Lease) -> None:
        """Let go of a run; a second time, nothing happens. Where that cannot be written, it lapses by itself."""
        ...


class AgentSeatArchive(Protocol):
    """People who play the agent of a trial, and the moves that they made."""

    def pulse(self, trial_id: int) -> Pulse | None:
        """The newest event of a trial, without reading it: cheap enough to be asked again and again."""
        ...

    def take_seat(self, trial_id: int, person: str) -> None:
        """Have `person` play the agent of a trial; taking one's own seat again changes nothing. Raises
        `NotFound`, `NotAllowed` if somebody else has it.
        """
        ...

    def holder(self, trial_id: int) -> str:
        """Who plays the agent of a trial; "" if nobody does yet."""
        ...

    def known(self, task_id: str, person: str) -> Acquaintance:
        """How `person` can know a task's gold or what its user will say; "" if nothing tells that they do."""
        ...

    def add(self, trial_id: int, take: int, place: str, person: str, move: SeatMove) -> SeatStep:
        """Make a move. Raises `NotAllowed` for who has not taken the seat, `Conflict` where this step has
        been made already.
        """
        ...

    def find(self, trial_id: int, take: int, place: str) -> SeatStep | None:
        """The move at one step, once it has been made."""
        ...


class ShadowArchive(Protocol):
    """What simulators would have said in trials that somebody else played."""

    def add(self, shadow: Shadow) -> bool:
        """Keep it, unless this simulator has been asked at this point already; whether it was kept.
        Raises `NotFound` for an unknown trial.
        """
        ...

    def of(self, trial_ids: Collection[int] | None = None) -> list[Shadow]:
        """Those of these trials, of all without `trial_ids`, in the order in which they were kept."""
        ...


class PromptArchive(Protocol):
    """Texts of prompts by their hash."""

    def keep(self, digest: str, text: str) -> None:
        """Keep a prompt's text under its hash; quick if it is there. Raises `ValueError` if the hash
        is another text's.
        """
        ...

    def get(self, digest: str) -> str:
        """Raises `NotFound`."""
        ...


class PeopleArchive(Protocol):
    """Who works here."""

    def add(self, name: str) -> Person:
        """The person of this name, entered if new; whoever is known is only looked up. Raises `CuecardError` for an
        unusable name.
        """
        ...


class Archive(Protocol):
    """All of it."""

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
    def seat_moves(self) -> AgentSeatArchive: ...

    @property
    def shadows(self) -> ShadowArchive: ...

    @property
    def prompts(self) -> PromptArchive: ...

    @property
    def people(self) -> PeopleArchive: ...

    def sink(self, trial_id: int) -> Sink:
        """A trial's way in: `append` returns when the event is on the disk, or can be made again."""
        ...


class Discretion(Protocol):
    """What one person may be told of decisions on the items of trials; see `cuecard.store.workspace.Sight`."""

    def may_tell(self, trial_id: int, item: Item) -> bool:
        """Whether decisions on the item may be told now; they then count as seen."""
        ...

    def may_open(self, trial_id: int) -> bool:
        """Whether all of a trial may be told: nothing of it waits to be labelled."""
        ...

    def record(self) -> None:
        """Remember what was told. Where nothing can be written, nothing can be labelled either, and an uncovering
        raises `CuecardError`.
        """
        ...
