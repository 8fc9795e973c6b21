"""Imports bundles into a workspace, record by record: what is new is added, and nothing that is there is changed."""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import and_, bindparam, insert, update
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.contributions import Contribution, TaskState
from cuecard.core.engine.events import ModelReplied
from cuecard.core.engine.messages import ModelReply
from cuecard.core.records import RunState
from cuecard.core.review import Clash, Standing, standing_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.store.bundle_kinds import (
    EVENTS,
    KIND_OF,
    KINDS,
    PARTS,
    SET_ITEMS,
    Kind,
    Rows,
    in_batches,
)
from cuecard.store.bundle_records import (
    Arrived,
    LeftOut,
    MergeReport,
    Moved,
    Pack,
    SharedContent,
    SharedContribution,
    SharedLabelSet,
    SharedPayload,
    SharedRevision,
    SharedRun,
    SharedTrial,
    Signature,
    SignedFor,
)
from cuecard.store.codec import LEVEL, decode, from_json, origins_text, pack, unpack
from cuecard.store.contributions import contribution_values, load_logs, refold
from cuecard.store.judgements import insert_judgement
from cuecard.store.people import ensure_person
from cuecard.store.task_tables import ContentRow, CosignRow, PersonRow, RevisionRow, TaskRow
from cuecard.store.trial_logs import JUDGE, Spent, add_usage
from cuecard.store.trial_tables import (
    EventRow,
    JudgementRow,
    RevealRow,
    RunRow,
    TrialRow,
    UsageRow,
    VerdictRow,
)

_TASKS = 50


@dataclass(frozen=True, eq=False)
class _Source:
    """One of the bundles that are imported; the same bundle may be given twice."""

    person: str


Given = tuple[_Source, Any]
"""A record, and the bundle that it is of."""


class _Stood(NamedTuple):
    """Where a task stood before the import; `state` is None for one that was not there."""

    head: int = 0
    state: TaskState | None = None
    clashes: tuple[Clash, ...] = ()


class BundleImport:
    """The import of some bundles within one writing session. Bundles must be validated before. `check_run` is told of
    each run that is there already, and may refuse it.
    """

    def __init__(self, session: Session, by: str, check_run: Callable[[int], None]) -> None:
        self._session = session
        self._by = by
        self._check_run = check_run
        self._people = set(session.exec(select(PersonRow.name)))
        self._new_people: set[str] = set()
        self._added: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._counted: set[tuple[str, Any]] | None = None
        self._left: Counter[tuple[str, str, str]] = Counter()
        self._other_logs: dict[tuple[str, str], None] = {}
        self._stood: dict[str, _Stood] = {}
        self._fresh_revisions: set[str] = set()
        self._signed_here: set[tuple[str, str]] = set()
        self._signed_for: Counter[tuple[str, str]] = Counter()
        self._newly_signed_for: Counter[tuple[str, str]] = Counter()
        self._run_ids: dict[str, int] = {}
        self._done: set[int] = set()
        self._equal: Counter[Frozen] = Counter()
        self._equal_in: tuple[_Source, str] | None = None

    def report(self, packs: Sequence[Pack], *, dry: bool) -> MergeReport:
        """Import everything and report it. `dry` only marks the report; the caller rolls back."""
        if len(packs) > 1:
            # What several packs hold counts once.
            self._counted = set()
        self._enter([self._by, *(each.person for each in packs)])
        # Kind by kind through all of them, for what one refers to may stand in another.
        ranked = merge(*map(_ranked, packs), key=_rank)
        for rank, found in groupby(ranked, key=_rank):
            kind = KINDS[rank]
            for some in in_batches(found, kind.batch):
                given = [(source, record) for _rank, source, record in some]
                self._enter(name for _source, record in given for name in kind.people_of(record))
                self._take(kind, given)
        self._settle()
        moved, clashes = self._refolded()
        return MergeReport(
            dry=dry,
            arrived=self._arrived(),
            people=tuple(sorted(self._new_people - {self._by})),
            signed_for=tuple(
                SignedFor(
                    packed_by=who,
                    author=author,
                    revisions=n,
                    new=self._newly_signed_for[who, author],
                )
                for (who, author), n in sorted(self._signed_for.items())
            ),
            moved=moved,
            left_out=self._left_out(),
            clashes_before=tuple(
                clash for _task, stood in sorted(self._stood.items()) for clash in stood.clashes
            ),
            clashes=clashes,
        )

    def _take(self, kind: Kind, given: Sequence[Given]) -> None:
        rows, records = kind.rows, [record for _source, record in given]
        match kind.name:
            case "task":
                self._add(rows, [_content_values(content) for content in records])
            case "payload":
                self._add(rows, [_payload_values(payload) for payload in records])
            case "revision":
                self._revisions(given)
            case "run":
                for run in records:
                    self._run(rows, run)
            case "trial":
                for source, trial in given:
                    self._trial(rows, trial, source.person)
            case "label_set":
                for drawn in records:
                    self._label_set(rows, drawn)
            case "contribution":
                self._contributions(rows, records)
            case "effort":
                numbers = [self._number(source, entry) for source, entry in given]
                self._add(rows, [rows.values(entry) for entry in records], kind.name, numbers)
            case _:
                self._said(kind, records)

    def _enter(self, names: Iterable[str]) -> None:
        """Enter those whom nobody here knows."""
        for name in sorted(set(names) - self._people):
            ensure_person(self._session, name)
            self._people.add(name)
            self._new_people.add(name)

    def _add(
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
        for row in self._session.connection().execute(select_columns(*rows.keys).where(some)):
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
                self._count(kind, told[-1], identity)
        self._insert(rows.table, fresh)
        return told

    def _count(self, kind: str, fresh: bool, identity: Any = None) -> None:
        if identity is not None and self._counted is not None:
            if (kind, identity) in self._counted:
                return
            self._counted.add((kind, identity))
        (self._added if fresh else self._known)[kind] += 1

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._session.flush()
            self._session.connection().execute(insert(table), rows)

    def _number(self, source: _Source, entry: Any) -> int:
        """Which of the equal ones in its bundle it is. They stand side by side, so those of one task are remembered."""
        if self._equal_in != (source, entry.task_id):
            self._equal_in = source, entry.task_id
            self._equal.clear()
        self._equal[entry] += 1
        return self._equal[entry]

    def _revisions(self, given: Sequence[Given]) -> None:
        """Number new revisions from the next free number on; add signatures to known ones."""
        self._touch({revision.task_id for _source, revision in given})
        uids = [revision.uid for _source, revision in given]
        signed = self._signed(uids)
        self._tell_signed_for(given, signed)
        last = select(RevisionRow.task_id, func.max(RevisionRow.number)).where(
            col(RevisionRow.task_id).in_({revision.task_id for _source, revision in given})
        )
        numbers: dict[str, int] = dict(self._session.exec(last.group_by(RevisionRow.task_id)).all())
        tasks = self._tasks({r.hash for _source, r in given if r.uid not in signed})
        rows: list[dict[str, Any]] = []
        cosigned: list[dict[str, Any]] = []
        for _source, revision in given:
            first, *_others = sorted(revision.signatures, key=lambda signature: signature.order)
            fresh = revision.uid not in signed
            if fresh:
                task = tasks[revision.hash]
                if revision.task_id not in numbers:
                    self._begin(task, first)
                numbers[revision.task_id] = numbers.get(revision.task_id, 0) + 1
                rows.append(_revision_values(revision, numbers[revision.task_id], task, first))
                signed[revision.uid] = {(first.author, first.at)}
                self._fresh_revisions.add(revision.uid)
            self._count("revision", fresh, revision.uid)
            for signature in revision.signatures:
                self._signed_here.add((revision.uid, signature.author))
                if (signature.author, signature.at) not in signed[revision.uid]:
                    signed[revision.uid].add((signature.author, signature.at))
                    cosigned.append({"uid": revision.uid, **_signature_values(signature, "at")})
                    self._added["signature"] += revision.uid not in self._fresh_revisions
        self._insert(RevisionRow, rows)
        self._insert(CosignRow, cosigned)

    def _touch(self, task_ids: Iterable[str]) -> None:
        """Remember where these tasks stood, before anything of them is imported."""
        new = [task_id for task_id in task_ids if task_id not in self._stood]
        logs = load_logs(self._session, new)
        for task_id in new:
            row = self._session.get(TaskRow, task_id) if task_id in logs else None
            standing = standing_of(logs[task_id]) if row else None
            self._stood[task_id] = (
                _Stood(row.head, TaskState(row.state), self._clashes(standing))
                if row and standing
                else _Stood()
            )

    def _tell_signed_for(self, given: Sequence[Given], signed: dict[str, set[Any]]) -> None:
        """Count revisions under other names than their packer's. `signed`: before they are imported."""
        for source, revision in given:
            before = {author for author, _at in signed.get(revision.uid, ())}
            for author in {s.author for s in revision.signatures} - {source.person}:
                new = author not in before or (revision.uid, author) in self._signed_here
                self._signed_for[source.person, author] += 1
                self._newly_signed_for[source.person, author] += new

    def _signed(self, uids: Sequence[str]) -> dict[str, set[tuple[str, datetime]]]:
        """By uid, author and time of all signatures; only of those revisions that are here."""
        found: dict[str, set[tuple[str, datetime]]] = defaultdict(set)
        own = select(RevisionRow.uid, RevisionRow.author, RevisionRow.created_at)
        also = select(CosignRow.uid, CosignRow.author, CosignRow.at)
        for query, column in ((own, RevisionRow.uid), (also, CosignRow.uid)):
            for uid, author, at in self._session.exec(query.where(col(column).in_(uids))):
                found[uid].add((author, at))
        return found

    def _tasks(self, hashes: set[str]) -> dict[str, Task]:
        query = select(ContentRow).where(col(ContentRow.hash).in_(hashes))
        return {
            row.hash: Task.model_validate_json(unpack(row.body, row.packed))
            for row in self._session.exec(query)
        }

    def _begin(self, task: Task, first: Signature) -> None:
        """Insert the row of a new task; `refold` fills in its head later."""
        row = TaskRow(
            id=task.id,
            title=task.title,
            family=task.family,
            language=task.language,
            domain=task.domain,
            difficulty=task.difficulty,
            head=0,
            state=TaskState.DRAFT.value,
            author=first.author,
            search="",
            updated_at=first.at,
        )
        self._session.add(row)
        self._session.flush()
        self._added["task"] += 1

    def _contributions(self, rows: Rows, entries: Sequence[SharedContribution]) -> None:
        query = select(RevisionRow.uid, RevisionRow.number).where(
            col(RevisionRow.uid).in_({entry.revision for entry in entries})
        )
        numbers = {"": 0, **dict(self._session.exec(query).all())}
        values = [
            contribution_values(
                Contribution(
                    revision=numbers[entry.revision],
                    body=entry.body,
                    **entry.model_dump(exclude={"revision", "body"}),
                )
            )
            for entry in entries
        ]
        for entry, fresh in zip(entries, self._add(rows, values), strict=True):
            self._count(entry.body.kind, fresh, entry.uid)

    def _said(self, kind: Kind, records: Sequence[Any]) -> None:
        """What people said of items of trials; without its trial it is left out."""
        rows = kind.rows
        trials = self._trials_here({record.trial for record in records})
        values: list[dict[str, Any]] = []
        for record in records:
            if record.trial in trials:
                values.append(rows.values(record, trial_id=trials[record.trial]))
            elif kind.name != "reveal":
                self._left[getattr(record, kind.owner), record.trial, kind.name] += 1
        if kind.name == "label":
            verdicts = self._verdicts(trials.values())
            for each in values:
                each["verdict_id"] = verdicts.get((each["trial_id"], each["item_key"]))
        self._add(rows, values, kind.name)
        if kind.name == "reveal" and values:
            # Of two on an item, the earlier holds.
            place = and_(*(key == bindparam(f"the_{key.key}") for key in rows.keys))
            at = col(RevealRow.at)
            statement = update(RevealRow).where(place, at > bindparam("the_at"))
            self._session.connection().execute(
                statement.values(at=bindparam("the_at")),
                [{f"the_{name}": value for name, value in each.items()} for each in values],
            )

    def _trials_here(self, uids: Iterable[str]) -> dict[str, int]:
        query = select(TrialRow.uid, TrialRow.id).where(col(TrialRow.uid).in_(uids))
        return {uid: id or 0 for uid, id in self._session.exec(query)}

    def _verdicts(self, trials: Iterable[int]) -> dict[tuple[int, str], int]:
        """By trial and item, the first verdict on it. A label belongs to the item: there may be none here."""
        query = (
            select(VerdictRow.trial_id, VerdictRow.item_key, func.min(VerdictRow.id))
            .where(col(VerdictRow.trial_id).in_(trials))
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
        )
        return {(trial, item): id or 0 for trial, item, id in self._session.exec(query)}

    def _label_set(self, rows: Rows, drawn: SharedLabelSet) -> None:
        """A set is imported whole or not at all, because its sampling probabilities hold for the whole set."""
        trials = self._trials_here({item.trial for item in drawn.items})
        missing = [item.trial for item in drawn.items if item.trial not in trials]
        known = self._session.exec(select(rows.keys[0]).where(rows.keys[0] == drawn.uid)).first()
        if missing and not known:
            self._left[drawn.by, missing[0], "label_set"] += 1
        elif self._add(rows, [rows.values(drawn)], "label_set") == [True]:
            set_id = self._id(rows, drawn.uid)
            items = [
                SET_ITEMS.values(item, set_id=set_id, position=n, trial_id=trials[item.trial])
                for n, item in enumerate(drawn.items)
            ]
            self._insert(SET_ITEMS.table, items)

    def _run(self, rows: Rows, run: SharedRun) -> None:
        (fresh,) = self._add(rows, [rows.values(run)], "run")
        self._run_ids[run.uid] = self._id(rows, run.uid)
        if not fresh:
            self._check_run(self._run_ids[run.uid])
        if run.state is RunState.DONE:
            self._done.add(self._run_ids[run.uid])

    def _id(self, rows: Rows, uid: str) -> int:
        table: Any = rows.table
        return self._session.exec(select(table.id).where(table.uid == uid)).one()

    def _trial(self, rows: Rows, trial: SharedTrial, person: str) -> None:
        run_id = self._run_ids[trial.run]
        number = select(RevisionRow.number).where(RevisionRow.uid == trial.revision)
        values = rows.values(trial, run_id=run_id, revision=self._session.exec(number).one())
        (fresh,) = self._add(rows, [values])
        row = self._session.get_one(TrialRow, self._id(rows, trial.uid))
        id = row.id or 0
        here = [] if fresh else self._log(id)
        theirs = [(event.take, event.at, event.body.encode()) for event in trial.events]
        common = min(len(here), len(theirs))
        if row.run_id != run_id or here[:common] != theirs[:common]:
            self._other_logs[person, trial.uid] = None
            return
        self._count("trial", fresh)
        spent = self._events(trial, id, common)
        if len(theirs) > len(here):
            row.termination, row.detail = values["termination"], trial.detail
            row.ended_at = trial.ended_at
            self._session.add(row)
        for part in PARTS[1:]:
            told = getattr(trial, part.name)
            each = [part.rows.values(one, trial_id=id) for one in told]
            added = self._add(part.rows, each)
            for is_new in added:
                self._count(part.kind, is_new)
            if part.kind == "judge_call":
                spent += [
                    (id, JUDGE, call.model, ModelReply.model_validate(from_json(call.body)))
                    for call, is_new in zip(told, added, strict=True)
                    if is_new
                ]
        if fresh:
            usage = [
                {
                    "trial_id": id,
                    **used.model_dump(exclude={"usage"}),
                    **used.usage.model_dump(),
                }
                for used in trial.usage
            ]
            self._insert(UsageRow, usage)
        else:
            add_usage(self._session.connection(), spent)
        self._judgements(trial, id)
        self._session.flush()
        self._session.expunge(row)

    def _log(self, trial_id: int) -> list[tuple[int, datetime, bytes]]:
        query = select(EventRow).where(EventRow.trial_id == trial_id).order_by(col(EventRow.seq))
        return [(r.take, r.at, unpack(r.body, r.packed)) for r in self._session.exec(query)]

    def _events(self, trial: SharedTrial, trial_id: int, known: int) -> list[Spent]:
        """Append the events that follow the first `known` ones; gives the model calls that they record."""
        rows: list[dict[str, Any]] = []
        spent: list[Spent] = []
        for event in trial.events[known:]:
            body = decode(event.body.encode())
            given = {"trial_id": trial_id, "key": body.key, "type": body.type}
            rows.append(EVENTS.values(event, **given))
            if isinstance(body, ModelReplied):
                spent.append((trial_id, body.payer, body.model, body.reply))
        self._insert(EventRow, rows)
        self._added["event"] += len(rows)
        self._known["event"] += known
        return spent

    def _judgements(self, trial: SharedTrial, trial_id: int) -> None:
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
            self._count("judgement", fresh)

    def _settle(self) -> None:
        """A run that is done elsewhere is done here once all of its trials have ended."""
        for run_id in self._done:
            row = self._session.get_one(RunRow, run_id)
            open_ones = select(func.count()).where(
                TrialRow.run_id == run_id, col(TrialRow.termination).is_(None)
            )
            waiting = row.state in (RunState.RUNNING.value, RunState.PAUSED.value)
            if waiting and not self._session.exec(open_ones).one():
                row.state, row.reason = RunState.DONE.value, ""
                self._session.add(row)
        self._session.flush()

    def _refolded(self) -> tuple[tuple[Moved, ...], tuple[Clash, ...]]:
        """Fold the logs of all tasks that were touched; gives those that moved, and their clashes now."""
        moved: list[Moved] = []
        clashes: list[Clash] = []
        for task_ids in in_batches(sorted(self._stood), _TASKS):
            logs = load_logs(self._session, task_ids)
            for task_id in task_ids:
                standing, stood = refold(self._session, logs[task_id]), self._stood[task_id]
                clashes += self._clashes(standing)
                if (stood.head, stood.state) == (standing.head, standing.state):
                    continue
                moved.append(
                    Moved(
                        task_id=task_id,
                        title=self._session.get_one(TaskRow, task_id).title,
                        before=stood.state,
                        after=standing.state,
                        head_before=stood.head,
                        head=standing.head,
                    )
                )
        return tuple(moved), tuple(clashes)

    def _clashes(self, standing: Standing) -> tuple[Clash, ...]:
        return tuple(seen_clash(clash, standing, self._by) for clash in standing.clashes)

    def _arrived(self) -> tuple[Arrived, ...]:
        kinds = sorted({*+self._added, *+self._known})
        return tuple(Arrived(kind=k, added=self._added[k], known=self._known[k]) for k in kinds)

    def _left_out(self) -> tuple[LeftOut, ...]:
        others = ((person, trial, "trial") for person, trial in self._other_logs)
        return tuple(
            LeftOut.model_validate(
                {
                    "person": person,
                    "trial": uid,
                    "reason": "other_log" if kind == "trial" else "no_trial",
                    "count": self._left.get((person, uid, kind), 1),
                    "kind": kind,
                }
            )
            for person, uid, kind in (*others, *sorted(self._left))
        )


def _rank(ranked: tuple[int, _Source, Frozen]) -> int:
    return ranked[0]


def _ranked(pack: Pack) -> Iterator[tuple[int, _Source, Frozen]]:
    source = _Source(pack.person)
    for record in pack.records():
        yield KINDS.index(KIND_OF[type(record)]), source, record


def seen_clash(clash: Clash, standing: Standing, person: str) -> Clash:
    """A clash as `person` may see it: without the names of reviewers, until its reviews may be read."""
    if clash.kind == "forks" or standing.of(clash.revisions[0]).seen == "all":
        return clash
    return clash.model_copy(update={"people": tuple(p for p in clash.people if p == person)})


def _content_values(content: SharedContent) -> dict[str, Any]:
    task = Task.model_validate(content.task)
    body, packed = pack(task.model_dump_json().encode())
    return {"hash": content.hash, "body": body, "packed": packed}


def _payload_values(payload: SharedPayload) -> dict[str, Any]:
    content = payload.content
    data = zlib.compress(content, LEVEL)
    return {"hash": payload.hash, "size": len(content), "base": None, "data": data}


def _revision_values(
    revision: SharedRevision, number: int, task: Task, first: Signature
) -> dict[str, Any]:
    return {
        "task_id": revision.task_id,
        "number": number,
        "uid": revision.uid,
        "parents": json.dumps(revision.parents),
        "hash": revision.hash,
        "title": task.title,
        **_signature_values(first, "created_at"),
    }


def _signature_values(signature: Signature, at: str) -> dict[str, Any]:
    return {
        "author": signature.author,
        at: signature.at,
        "tick": signature.tick,
        "message": signature.message,
        "origins": origins_text(signature.origins),
    }
