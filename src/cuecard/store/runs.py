"""Saves runs, adds their trials, and reads trials' logs: in full, as an outline, or only what was said."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, cast
from uuid import uuid4

from pydantic import JsonValue
from sqlalchemy import insert
from sqlalchemy import select as select_columns
from sqlmodel import Session, and_, col, func, or_, select

from cuecard.core.archive import RunKind
from cuecard.core.engine.events import Concluded, Event, Limits, Termination, run_state
from cuecard.core.engine.messages import PlayerRef
from cuecard.core.predictions import Prediction
from cuecard.core.records import (
    Outline,
    RunLease,
    RunRecord,
    RunState,
    TaskTraits,
    TrialCell,
    TrialRecord,
    UsageRecord,
)
from cuecard.store.codec import from_json, read_payloads, to_json
from cuecard.store.engine import Database
from cuecard.store.leases import Leases
from cuecard.store.roles import ensure_person
from cuecard.store.rows import revision_missing, run_row, task_row, trial_row
from cuecard.store.task_tables import RevisionRow, TaskRow, metadata
from cuecard.store.tasks import load_traits
from cuecard.store.trial_logs import (
    Line,
    completed,
    effective,
    load_usage,
    outline,
    read_beginning,
    read_ends,
    read_events,
    read_lines,
    read_logs,
    read_words,
)
from cuecard.store.trial_tables import EventRow, RunRow, TrialRow
from cuecard.store.writer import Appender


class Runs:
    """Runs, their trials and the logs of these. Runs and trials are named by their numbers in this workspace."""

    def __init__(
        self, database: Database, leases: Leases, settle: Callable[[], None] = lambda: None
    ) -> None:
        """`settle` returns once all submitted events are on the disk; reading a log calls it first."""
        self._database = database
        self._leases = leases
        self._settle = settle

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
        """Save a new run with a trial for each cell, all or nothing. `samples`: trials per cell of its grid; `plan`: JSON
        by which whoever resumes the run can go on. Raises `NotFound` for an unknown revision.
        """
        with self._database.append() as session:
            row = RunRow(
                uid=uuid4().hex,
                name=name,
                kind=kind,
                created_by=ensure_person(session, created_by).name,
                created_at=datetime.now(UTC),
                state=RunState.RUNNING.value,
                samples=samples,
                limits=limits.model_dump_json(),
                plan=to_json(dict(plan or {})).decode(),
            )
            session.add(row)
            session.flush()
            _insert_trials(session, row.id or 0, cells)
            return _run(row, (len(cells), 0, 0), None)

    def get(self, run_id: int) -> RunRecord:
        """The run with this number. Raises `NotFound`."""
        with self._database.read() as session:
            run_row(session, run_id)
            return _runs(session, self._leases, RunRow.id == run_id)[0]

    def all(
        self, kind: RunKind | None = None, *, unfinished: bool = False, paused: bool = False
    ) -> list[RunRecord]:
        """All runs, newest first. `unfinished`: only those recorded as running, whether a process still plays them or
        was killed; those that are `paused` with them.
        """
        conditions: list[Any] = []
        if kind is not None:
            conditions.append(RunRow.kind == kind)
        if unfinished:
            states = [RunState.RUNNING, *([RunState.PAUSED] if paused else [])]
            conditions.append(col(RunRow.state).in_([state.value for state in states]))
        with self._database.read() as session:
            return _runs(session, self._leases, *conditions)

    def set_state(self, run_id: int, state: RunState, reason: str = "") -> None:
        """Set the state in which a run was left, and the `reason` why it is paused; see `core.engine.events.run_state`.
        Raises `NotFound`.
        """
        with self._database.append() as session:
            row = run_row(session, run_id)
            row.state = state.value
            row.reason = reason
            session.add(row)

    def rename(self, run_id: int, name: str) -> None:
        """Raises `NotFound`."""
        with self._database.append() as session:
            row = run_row(session, run_id)
            row.name = name.strip() or row.name
            session.add(row)

    def set_plan(self, run_id: int, plan: Mapping[str, JsonValue]) -> None:
        """Replace the plan of a run. Raises `NotFound`."""
        with self._database.append() as session:
            row = run_row(session, run_id)
            row.plan = to_json(dict(plan)).decode()
            session.add(row)

    def add_trials(self, run_id: int, cells: Sequence[TrialCell]) -> list[TrialRecord]:
        """Add the trials of all cells of a grid, or none of them. Raises `NotFound` for an unknown run or
        revision.
        """
        with self._database.append() as session:
            run_row(session, run_id)
            last = select(func.coalesce(func.max(TrialRow.id), 0)).where(TrialRow.run_id == run_id)
            before = session.exec(last).one()
            uids = _insert_trials(session, run_id, cells)
            found = _trials(session, TrialRow.run_id == run_id, col(TrialRow.id) > before)
            return [trial for trial in found if trial.uid in uids]

    def trial(self, trial_id: int) -> TrialRecord:
        """One trial. Raises `NotFound`."""
        with self._database.read() as session:
            trial_row(session, trial_id)
            return _trials(session, TrialRow.id == trial_id)[0]

    def trials(self, run_id: int) -> list[TrialRecord]:
        """In the order in which they were added. Raises `NotFound` for an unknown run."""
        with self._database.read() as session:
            run_row(session, run_id)
            return _trials(session, TrialRow.run_id == run_id)

    def some_trials(self, trial_ids: Collection[int]) -> list[TrialRecord]:
        """Those of these trials that there are, by one query."""
        with self._database.read() as session:
            return _trials(session, col(TrialRow.id).in_(trial_ids)) if trial_ids else []

    def trials_of(self, task_id: str, revision: int, kind: RunKind) -> list[TrialRecord]:
        """The trials of a revision in runs of one kind, in the order in which they were added."""
        with self._database.read() as session:
            return _trials(
                session,
                TrialRow.task_id == task_id,
                TrialRow.revision == revision,
                RunRow.kind == kind,
            )

    def open_trials(
        self,
        created_by: str | None = None,
        kind: RunKind | None = None,
        *,
        failed_since: datetime | None = None,
    ) -> list[TrialRecord]:
        """Trials that have not ended, whatever the state of their run; with `failed_since` also those that ended with a
        failure at that time or later.
        """
        is_open: Any = col(TrialRow.termination).is_(None)
        if failed_since is not None:
            failures = [end.value for end in Termination if end.is_failure]
            failed = col(TrialRow.termination).in_(failures)
            is_open = or_(is_open, and_(failed, col(TrialRow.ended_at) >= failed_since))
        conditions: list[Any] = [is_open]
        if created_by is not None:
            conditions.append(RunRow.created_by == created_by)
        if kind is not None:
            conditions.append(RunRow.kind == kind)
        with self._database.read() as session:
            return _trials(session, *conditions)

    def append_events(self, batch: Sequence[tuple[int, Event]]) -> None:
        """Append events, given as pairs of trial id and event: all of them, or none.

        Each trial's events come in the order of `seq`, without gaps. An event that is recorded already is passed over.
        `TrialEnded` ends its trial, `TrialRetried` opens it again; the usage of model calls is counted. Raises
        `Conflict` if another event has this `seq`, or this key within the attempt, if one is missing in between, or if the
        trial has ended; `NotFound` for an unknown trial.
        """
        if batch:
            Appender(self._database).append(batch)

    def log(self, trial_id: int) -> list[Event]:
        """All events ever recorded, with those that retries took back: what a trial resumes from. Raises `NotFound`."""
        return self._read(trial_id, lambda lines: lines)

    def logs(self, trial_ids: Collection[int]) -> dict[int, list[Event]]:
        """As `log`, of several trials, by id; those without events are left out."""
        self._settle()
        with self._database.read() as session:
            return read_logs(session.connection(), trial_ids)

    def conclusions(self, trial_ids: Collection[int]) -> dict[int, Prediction]:
        """What these trials handed in, by trial, with large texts cut short; those that handed in nothing are left out."""
        return {
            trial_id: event.body.prediction
            for trial_id, events in self.ends(trial_ids, ended=False).items()
            for event in events
            if isinstance(event.body, Concluded)
        }

    def ends(
        self, trial_ids: Collection[int], *, ended: bool = True
    ) -> dict[int, tuple[Event, ...]]:
        """What these trials handed in and (`ended`) how they ended: of their effective logs these events alone, with large texts cut
        short. Trials without any are left out.
        """
        self._settle()
        with self._database.read() as session:
            return read_ends(session.connection(), trial_ids, ended=ended)

    def events(self, trial_id: int, *, after: int = -1) -> list[Event]:
        """The events of the trial's effective log (see `core.engine.events`) with `seq` > `after`, with their large
        texts. Raises `NotFound`.
        """
        return self._read(
            trial_id, lambda lines: [line for line in effective(lines) if line.event.seq > after]
        )

    def outline(self, trial_id: int) -> Outline:
        """The trial's effective log without its large texts, which are not read. It has all that scores need: calls,
        hits, usage, acts and what was said. Raises `NotFound`.
        """
        return outline(effective(self._lines(trial_id)))

    def beginning(self, trial_id: int, events: int) -> Outline:
        """As `outline`, but only the first `events` events, so that a screen can show a long trial early. All of them
        if the trial was ever retried. Raises `NotFound`.
        """
        self._settle()
        with self._database.read() as session:
            lines = read_beginning(session.connection(), trial_id, events)
        return outline(lines) if lines else self.outline(trial_id)

    def words(self, trial_id: int) -> list[Event]:
        """What user and agent said, from the trial's effective log, without very long texts. Reads no other events."""
        self._settle()
        with self._database.read() as session:
            lines = read_words(session.connection(), trial_id)
        return [line.event for line in effective(lines)]

    def whole(self, trial_id: int, *seqs: int) -> list[Event]:
        """The events with these `seq`, with their large texts, in the log's order. Raises `NotFound`."""
        self._settle()
        with self._database.read() as session:
            return read_events(session.connection(), trial_id, seqs)

    def payload(self, digest: str) -> bytes:
        """The large content with this SHA-256: a text, or a tool's answer as JSON. Raises `NotFound`."""
        with self._database.read() as session:
            return read_payloads(session.connection(), [digest])[digest]

    def traits(self, run_id: int) -> dict[tuple[str, int], TaskTraits]:
        """Family, language, difficulty and domain of each revision that the run plays, by task id and revision number:
        for results by groups of tasks. Raises `NotFound`.
        """
        with self._database.read() as session:
            run_row(session, run_id)
            return load_traits(session, run_id)

    def usage(self, run_id: int) -> list[UsageRecord]:
        """Calls, tokens and cost of each trial, by payer and model. Raises `NotFound`."""
        with self._database.read() as session:
            run_row(session, run_id)
            return load_usage(session, TrialRow.run_id == run_id)

    def usage_of(self, trial_ids: Collection[int]) -> list[UsageRecord]:
        """Calls, tokens and cost of these trials, by trial, payer and model."""
        with self._database.read() as session:
            return load_usage(session, col(TrialRow.id).in_(trial_ids))

    def _lines(self, trial_id: int) -> list[Line]:
        self._settle()
        with self._database.read() as session:
            lines = read_lines(session.connection(), trial_id)
            if not lines:
                trial_row(session, trial_id)
            return lines

    def _read(self, trial_id: int, choose: Callable[[list[Line]], list[Line]]) -> list[Event]:
        lines = choose(self._lines(trial_id))
        with self._database.read() as session:
            return completed(session.connection(), lines)


_AT_ONCE = 5000


def _insert_trials(session: Session, run_id: int, cells: Sequence[TrialCell]) -> set[str]:
    """Insert a trial for each cell; gives their uids. Raises `NotFound` for an unknown revision."""
    known: set[tuple[str, int]] = set()
    tasks = list({cell.task_id for cell in cells})
    numbers = select(RevisionRow.task_id, RevisionRow.number)
    for at in range(0, len(tasks), _AT_ONCE):
        some = tasks[at : at + _AT_ONCE]
        known.update(session.exec(numbers.where(col(RevisionRow.task_id).in_(some))))
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = []
    for cell in cells:
        if (cell.task_id, cell.revision) not in known:
            task_row(session, cell.task_id)
            raise revision_missing(cell.task_id, cell.revision)
        rows.append(
            {
                "uid": uuid4().hex,
                "run_id": run_id,
                "task_id": cell.task_id,
                "revision": cell.revision,
                "agent": cell.agent.model_dump_json(),
                "user": cell.user.model_dump_json(),
                "world": cell.world.model_dump_json(),
                "sample": cell.sample,
                "seed": cell.seed,
                "detail": "",
                "created_at": now,
            }
        )
    for at in range(0, len(rows), _AT_ONCE):
        session.connection().execute(insert(TrialRow), rows[at : at + _AT_ONCE])
    return {row["uid"] for row in rows}


def _runs(session: Session, leases: Leases, *conditions: Any) -> list[RunRecord]:
    of_run = TrialRow.run_id == RunRow.id
    total = select(func.count()).select_from(TrialRow).where(of_run).correlate(RunRow)
    ended, failures = col(TrialRow.termination), [t for t in Termination if t.is_failure]
    finished, failed = total.where(ended.is_not(None)), total.where(ended.in_(failures))
    query = (
        select(
            RunRow, total.scalar_subquery(), finished.scalar_subquery(), failed.scalar_subquery()
        )
        .where(*conditions)
        .order_by(col(RunRow.id).desc())
    )
    held = leases.of(session)
    return [_run(row, numbers, held.get(row.id or 0)) for row, *numbers in session.exec(query)]


def _run(row: RunRow, numbers: Sequence[int], lease: RunLease | None) -> RunRecord:
    trials, finished, failed = numbers
    played = "no" if lease is None else "now" if lease.alive else "lapsed"
    state = run_state(RunState(row.state), played, trials=trials, finished=finished)
    return RunRecord.from_fields(
        row,
        state=state,
        limits=Limits.model_validate_json(row.limits),
        trials=trials,
        finished=finished,
        failed=failed,
        plan=from_json(row.plan),
        lease=lease,
    )


def _trials(session: Session, *conditions: Any) -> list[TrialRecord]:
    # Events are numbered without gaps, so that the last one tells how many there are.
    last = (
        select(func.max(EventRow.seq))
        .where(EventRow.trial_id == TrialRow.id)
        .correlate(TrialRow)
        .scalar_subquery()
    )
    query = (
        select_columns(
            *(metadata.tables["trial"].columns[name] for name in _OF_TRIAL),
            col(RevisionRow.title),
            col(TaskRow.family),
            last.label("last"),
        )
        .select_from(TrialRow)
        .join(RunRow)
        .join(
            RevisionRow,
            (col(RevisionRow.task_id) == TrialRow.task_id)
            & (col(RevisionRow.number) == TrialRow.revision),
        )
        .join(TaskRow, col(TaskRow.id) == TrialRow.task_id)
        .where(*conditions)
        .order_by(col(TrialRow.id))
    )
    ends: dict[str | None, Termination | None] = {end.value: end for end in Termination}
    ends[None] = None
    # Unpacked: a row's columns by name take several times as long as all that is made of them.
    return [
        TrialRecord(
            id,
            run_id,
            task_id,
            title,
            family,
            revision,
            _player(agent),
            _player(user),
            _player(world),
            sample,
            seed,
            ends[termination],
            detail,
            created_at,
            ended_at,
            0 if last is None else last + 1,
            uid,
        )
        for (
            id,
            uid,
            run_id,
            task_id,
            revision,
            agent,
            user,
            world,
            sample,
            seed,
            termination,
            detail,
            created_at,
            ended_at,
            title,
            family,
            last,
        ) in cast("Iterable[tuple[Any, ...]]", session.connection().execute(query))
    ]


_OF_TRIAL = (
    "id",
    "uid",
    "run_id",
    "task_id",
    "revision",
    "agent",
    "user",
    "world",
    "sample",
    "seed",
    "termination",
    "detail",
    "created_at",
    "ended_at",
)


@lru_cache(maxsize=256)
def _player(payload: str) -> PlayerRef:
    return PlayerRef.model_validate_json(payload)
