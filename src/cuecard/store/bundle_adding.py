"""Adds what is new of a bundle's records, by their declarations, and counts it: what people said, all that is simply rows of a
table, and runs and trials by uid (`RunImport`), of which nothing that is there is changed.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, update
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.engine.events import ModelReplied
from cuecard.core.engine.messages import ModelReply
from cuecard.core.records import RunState
from cuecard.core.tasks.base import Frozen
from cuecard.store import bundle_records as shared
from cuecard.store.bundle_kinds import EVENTS, PARTS, SET_ITEMS, Kind, Rows
from cuecard.store.codec import decode, from_json
from cuecard.store.judgements import insert_judgement
from cuecard.store.roles import ensure_person
from cuecard.store.task_tables import PersonRow, RevisionRow
from cuecard.store.trial_logs import JUDGE, Spent, add_usage
from cuecard.store.trial_tables import (
    EventRow,
    JudgementRow,
    RunRow,
    TrialRow,
    UsageRow,
    VerdictRow,
)


@dataclass(frozen=True, eq=False)
class Source:
    """One of the bundles that are imported; the same bundle may be given twice."""

    person: str


Given = tuple[Source, Any]
"""A record, and the bundle that it is of."""


class ImportTally:
    """What an import added to a workspace, and knew already, within one writing session. `several`: more than one bundle
    is imported; what several hold counts once.
    """

    def __init__(self, session: Session, *, several: bool) -> None:
        self.session = session
        self.new_people: set[str] = set()
        self._people = set(session.exec(select(PersonRow.name)))
        self.added: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.left: Counter[tuple[str, str, str]] = Counter()
        self._counted: set[int] | None = set() if several else None
        self._equal: Counter[Frozen] = Counter()
        self._equal_in: tuple[Source, str] | None = None

    def arrived(self) -> tuple[shared.ImportCount, ...]:
        kinds = sorted({*+self.added, *+self.known})
        return tuple(
            shared.ImportCount(kind=k, added=self.added[k], known=self.known[k]) for k in kinds
        )

    def enter(self, names: Iterable[str]) -> None:
        """Enter those whom nobody here knows."""
        for name in sorted(set(names) - self._people):
            ensure_person(self.session, name)
            self._people.add(name)
            self.new_people.add(name)

    def add(
        self,
        rows: Rows,
        values: Sequence[dict[str, Any]],
        kind: str = "",
        numbers: Sequence[int] | None = None,
    ) -> list[bool]:
        """Insert those that are not there, and give for each whether it was new. They count as of this kind. `numbers`:
        which of several equal ones each is, from 1; by default there is one of each.
        """
        if not values:
            return []
        some = rows.keys[0].in_({each[rows.identity[0]] for each in values})
        equal = Counter[tuple[Any, ...]]()
        known = set[tuple[tuple[Any, ...], int]]()
        for row in self.session.connection().execute(select_columns(*rows.keys).where(some)):
            equal[tuple(row)] += 1
            known.add((tuple(row), equal[tuple(row)]))
        told: list[bool] = []
        fresh: list[dict[str, Any]] = []
        for each, number in zip(values, numbers or [1] * len(values), strict=True):
            identity = tuple(each[name] for name in rows.identity), number
            told.append(identity not in known)
            if told[-1]:
                known.add(identity)
                fresh.append(each)
            if kind:
                self.count(kind, told[-1], identity)
        self.insert(rows.table, fresh)
        return told

    def count(self, kind: str, fresh: bool, identity: Any = None) -> None:
        if self._first_time(kind, identity):
            (self.added if fresh else self.known)[kind] += 1

    def leave(self, kind: Kind, record: Any, trial: str) -> None:
        """Note that a record is left out, because this trial is not here."""
        names = ("uid",) if hasattr(record, "uid") else kind.order
        person = getattr(record, kind.owner)
        if self._first_time(f"no {kind.name}", (person, *(getattr(record, n) for n in names))):
            self.left[person, trial, kind.name] += 1

    def _first_time(self, kind: str, identity: Any) -> bool:
        """Whether it is to be counted: what several bundles hold counts once."""
        if identity is None or self._counted is None:
            return True
        count = len(self._counted)
        self._counted.add(hash((kind, identity)))
        return len(self._counted) > count

    def map(self, *columns: Any, where: Any) -> dict[Any, Any]:
        """The second of two columns by the first."""
        found: Any = self.session.connection().execute(select_columns(*columns).where(where))
        return dict(found.all())

    def insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self.session.flush()
            self.session.connection().execute(insert(table), rows)

    def number(self, source: Source, entry: Any) -> int:
        """Which of the equal ones in its bundle it is. They stand side by side, so those of one task are remembered."""
        if self._equal_in != (source, entry.task_id):
            self._equal_in = source, entry.task_id
            self._equal.clear()
        self._equal[entry] += 1
        return self._equal[entry]

    def said(self, kind: Kind, records: Sequence[Any]) -> None:
        """What people said of items of trials; without its trial it is left out. Of two reveals of an item the first that
        comes in stays: that there is one is what counts.
        """
        rows = kind.rows
        trials = self._trials_here({record.trial for record in records})
        values: list[dict[str, Any]] = []
        for record in records:
            if record.trial in trials:
                values.append(rows.values(record, trial_id=trials[record.trial]))
            elif kind.name != "reveal":
                self.leave(kind, record, record.trial)
        if kind.name == "label":
            verdicts = self._verdicts(trials.values())
            for each in values:
                each["verdict_id"] = verdicts.get((each["trial_id"], each["item_key"]))
        self.add(rows, values, kind.name)

    def _trials_here(self, uids: Iterable[str]) -> dict[str, int]:
        return self.map(TrialRow.uid, TrialRow.id, where=col(TrialRow.uid).in_(uids))

    def _verdicts(self, trials: Iterable[int]) -> dict[tuple[int, str], int]:
        """By trial and item, the first verdict on it. A label belongs to the item: there may be none here."""
        query = (
            select(VerdictRow.trial_id, VerdictRow.item_key, func.min(VerdictRow.id))
            .where(col(VerdictRow.trial_id).in_(trials))
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
        )
        return {(trial, item): id or 0 for trial, item, id in self.session.exec(query)}

    def label_set(self, kind: Kind, drawn: shared.SharedLabelSet) -> None:
        """A set is imported whole or not at all, because its sampling probabilities hold for the whole set."""
        rows, trials = kind.rows, self._trials_here({item.trial for item in drawn.items})
        missing = [item.trial for item in drawn.items if item.trial not in trials]
        known = self.session.exec(select(rows.keys[0]).where(rows.keys[0] == drawn.uid)).first()
        if missing and not known:
            self.leave(kind, drawn, missing[0])
        elif self.add(rows, [rows.values(drawn)], "label_set") == [True]:
            set_id = self.id(rows, drawn.uid)
            items = [
                SET_ITEMS.values(item, set_id=set_id, position=n, trial_id=trials[item.trial])
                for n, item in enumerate(drawn.items)
            ]
            self.insert(SET_ITEMS.table, items)

    def id(self, rows: Rows, uid: str) -> int:
        table: Any = rows.table
        return self.session.exec(select(table.id).where(table.uid == uid)).one()


class RunImport:
    """The runs of some bundles. `check_run` is told of each that is there already, and may refuse it. `other_logs`: packer
    and uid of trials whose log here does not begin like, or continue, the one in the bundle.
    """

    def __init__(self, adding: ImportTally, check_run: Callable[[int], None]) -> None:
        self._adding = adding
        self._session = adding.session
        self._check_run = check_run
        self.other_logs: dict[tuple[str, str], None] = {}
        self._run_ids: dict[str, int] = {}
        self._done: set[int] = set()

    def run(self, rows: Rows, run: shared.SharedRun) -> None:
        (fresh,) = self._adding.add(rows, [rows.values(run)], "run")
        self._run_ids[run.uid] = self._adding.id(rows, run.uid)
        if not fresh:
            self._check_run(self._run_ids[run.uid])
        if run.state is RunState.DONE:
            self._done.add(self._run_ids[run.uid])

    def trial(self, rows: Rows, trial: shared.SharedTrial, person: str) -> None:
        run_id = self._run_ids[trial.run]
        number = select(RevisionRow.number).where(RevisionRow.uid == trial.revision)
        values = rows.values(trial, run_id=run_id, revision=self._session.exec(number).one())
        (fresh,) = self._adding.add(rows, [values])
        row = self._session.get_one(TrialRow, self._adding.id(rows, trial.uid))
        id = row.id or 0
        log = select(EventRow).where(EventRow.trial_id == id).order_by(col(EventRow.seq))
        here = () if fresh else tuple(map(EVENTS.record_of, self._session.exec(log)))
        common = min(len(here), len(trial.events))
        if row.run_id != run_id or here[:common] != trial.events[:common]:
            self.other_logs[person, trial.uid] = None
            return
        self._adding.count("trial", fresh)
        spent = self._events(trial, id, common)
        if len(trial.events) > len(here):
            row.termination, row.detail = values["termination"], trial.detail
            row.ended_at = trial.ended_at
            self._session.add(row)
        for part in PARTS[1:]:
            told = getattr(trial, part.name)
            each = [part.rows.values(one, trial_id=id) for one in told]
            added = self._adding.add(part.rows, each)
            for is_new in added:
                self._adding.count(part.kind, is_new)
            if part.kind == "judge_call":
                spent += [
                    (id, JUDGE, call.model, ModelReply.model_validate(from_json(call.body)))
                    for call, is_new in zip(told, added, strict=True)
                    if is_new
                ]
        if fresh:
            sums = [(used.model_dump(exclude={"usage"}), used.usage) for used in trial.usage]
            usage = [{"trial_id": id, **sum_, **dict(tokens)} for sum_, tokens in sums]
            self._adding.insert(UsageRow, usage)
        else:
            add_usage(self._session.connection(), spent)
        self._judgements(trial, id)
        self._session.flush()
        self._session.expunge(row)

    def _events(self, trial: shared.SharedTrial, trial_id: int, known: int) -> list[Spent]:
        """Append the events that follow the first `known` ones; gives the model calls that they record."""
        rows: list[dict[str, Any]] = []
        spent: list[Spent] = []
        for event in trial.events[known:]:
            body = decode(event.body.encode())
            given = {"trial_id": trial_id, "key": body.key, "type": body.type}
            rows.append(EVENTS.values(event, **given))
            if isinstance(body, ModelReplied):
                spent.append((trial_id, body.payer, body.model, body.reply))
        self._adding.insert(EventRow, rows)
        self._adding.added["event"] += len(rows)
        self._adding.known["event"] += known
        return spent

    def _judgements(self, trial: shared.SharedTrial, trial_id: int) -> None:
        """Add judgements newer than their judge's newest here, which so stays the one that counts."""
        query = (
            select(JudgementRow.judge_name, func.max(JudgementRow.created_at))
            .where(JudgementRow.trial_id == trial_id)
            .group_by(JudgementRow.judge_name)
        )
        newest: dict[str, datetime] = dict(self._session.exec(query).all())
        for given in sorted(trial.judgements, key=lambda each: each.at):
            judge = given.judgement.judge.name
            fresh = judge not in newest or given.at > newest[judge]
            if fresh:
                insert_judgement(self._session, trial_id, given.judgement, at=given.at)
                newest[judge] = given.at
            self._adding.count("judgement", fresh)

    def settle(self) -> None:
        """A run that is done elsewhere is done here once all of its trials have ended."""
        open_ones = select(TrialRow.id).where(
            TrialRow.run_id == RunRow.id, col(TrialRow.termination).is_(None)
        )
        waiting = col(RunRow.state).in_((RunState.RUNNING.value, RunState.PAUSED.value))
        done = update(RunRow).where(col(RunRow.id).in_(self._done), waiting, ~open_ones.exists())
        self._session.flush()
        self._session.connection().execute(done.values(state=RunState.DONE.value, reason=""))
