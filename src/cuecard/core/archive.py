"""The port to storage: the protocol of an archive of tasks, runs and judgements that `core.evaluation` works with.

`cuecard.store.workspace.Workspace` is such an archive. Calls block; they may come from any thread.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, ParamSpec, Protocol, TypeVar

from pydantic import JsonValue

from cuecard.core.engine.events import Event, Limits, RunState
from cuecard.core.engine.messages import ModelReply
from cuecard.core.engine.step_context import PlayMove, RecordedCall
from cuecard.core.engine.trial_log import Sink
from cuecard.core.errors import PAUSES, DatabaseAway
from cuecard.core.label_records import JudgementHead, JudgementRecord
from cuecard.core.records import (
    PLACED,
    KeptFigures,
    LatestEvent,
    NoteKind,
    Outline,
    Person,
    PlayStep,
    Revision,
    RunRecord,
    Shadow,
    TaskTraits,
    TrialCell,
    TrialNote,
    TrialRecord,
    UsageRecord,
)
from cuecard.core.verdicts import Item, Judgement
from cuecard.core.worker_archive import (
    AllowanceArchive,
    Claim,
    LeaseArchive,
    OrderArchive,
    WorkerArchive,
)

RunKind = Literal["grid", "play", "probe"]
"""The kind of a run: an automated grid of trials, a person's live session, or a quality probe."""

Acquaintance = Literal["wrote", "edited", "reviewed", "built", "judged", "played", ""]
"""How a person may know a task's gold: they wrote, edited or reviewed it, `built` (or began) an independent gold,
`judged` (gave or saw verdicts), or `played` its user; "" if nothing suggests that they do.
"""


PATIENCE = 60.0
"""Seconds for which what is played waits by default for a database that is away."""
Given = ParamSpec("Given")
Done = TypeVar("Done")


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

    def all(
        self, kind: RunKind | None = None, *, unfinished: bool = False, paused: bool = False
    ) -> list[RunRecord]:
        """All runs (of one kind), newest first. `unfinished`: only those that are neither finished nor stopped, whether
        they are being played or not; those that are `paused` with them.
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


class MoveArchive(Protocol):
    """Who plays the agent of a trial (Wizard of Oz), and the moves that they made."""

    def pulse(self, trial_id: int) -> LatestEvent | None:
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
    began, (pause, longest) = time.monotonic(), PAUSES
    while True:
        try:
            return await attempt()
        except DatabaseAway:
            if time.monotonic() - began >= workspace.patience:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


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
