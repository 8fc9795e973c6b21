"""Makes bundles of what one person did, or of whole runs, and imports the bundles of others (`Exchange`)."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from sqlmodel import Session, and_, col, func, or_, select

from cuecard.core.records import RunState
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.core.worker_archive import AlreadyPlayed
from cuecard.store import bundle_records as shared
from cuecard.store.bundle_import import BundleImport
from cuecard.store.bundle_kinds import KINDS, NAMED, PARTS, SET_ITEMS, Kind, in_batches, tally
from cuecard.store.codec import decode_outline, origins_in, read_payloads, unpack
from cuecard.store.judgements import load_judgements
from cuecard.store.roles import check_whole, shown
from cuecard.store.rows import run_row
from cuecard.store.task_tables import ContentRow, ContributionRow, CosignRow, RevisionRow, TagRow
from cuecard.store.trial_logs import load_usage
from cuecard.store.trial_tables import (
    EventRow,
    JudgeCallRow,
    JudgementRow,
    LabelSetRow,
    PayloadRow,
    RunRow,
    SetItemRow,
    TrialRow,
)

if TYPE_CHECKING:
    from cuecard.store.engine import Database
    from cuecard.store.leases import Leases


class Exchange:
    """Exports and imports bundles (`Workspace.exchange`)."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def bundle(self, person: str, *, since: datetime | None = None) -> Export:
        """Everything that `person` did at `since` or later: contributions, saved revisions, labels, reveals,
        adjudications, labelling sets and effort, with the revisions that these refer to and their ancestors. Of other
        people it holds only the signatures of those revisions.
        """
        return Export(self._database, person, since)

    def bundle_of_runs(self, person: str, runs: Sequence[int]) -> Export:
        """These runs in full, packed by `person`: trials with logs and judgements, everybody's labels and notes on
        them, labelling sets drawn only from them, and the revisions that were played with their ancestors. Raises
        `NotFound`.
        """
        with self._database.read() as session:
            names = [run_row(session, run).name for run in runs]
            check_whole(session, runs)
        return Export(self._database, person, None, tuple(dict.fromkeys(runs)), names[0])

    def import_(
        self, packs: Sequence[shared.Pack], *, by: str, dry: bool = False
    ) -> shared.MergeReport:
        """Import these bundles: add what is new, and change or remove nothing. If anything fails, nothing is added.
        `by` is who will read the report. With `dry` nothing is written and the report says what would be. Raises
        `AlreadyPlayed` if somebody here plays one of the runs.
        """
        with self._database.write() as session:

            def refuse_played(run_id: int) -> None:
                lease = self._leases.of(session, run_id).get(run_id)
                if lease is not None and lease.alive and not dry:
                    raise AlreadyPlayed(lease)

            report = BundleImport(session, packs, by, refuse_played).report(dry=dry)
            if dry:
                session.rollback()
            return report


@dataclass(frozen=True)
class Export:
    """A bundle that is read from the workspace whenever its records are asked for, some at a time. `name`: of the first
    of its runs.
    """

    database: Database
    person: str
    since: datetime | None = None
    runs: tuple[int, ...] = ()
    name: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it."""
        return not tally(self, self.since).own

    def records(self) -> Iterator[Frozen]:
        """In the order of a bundle: equal work gives equal records, whatever the local numbers are."""
        with self.database.read() as session:
            reading = _Reading(session, self)
            for kind in KINDS:
                yield from reading.of(kind)


class _Reading:
    """Reads what an export holds within one session."""

    def __init__(self, session: Session, export: Export) -> None:
        self._session = session
        self._export = export
        self._trials = select(TrialRow.id).where(col(TrialRow.run_id).in_(export.runs))

    def of(self, kind: Kind) -> Iterator[Frozen]:
        match kind.name:
            case "task":
                return self._contents()
            case "revision":
                return self._revisions()
            case "payload":
                return self._payloads()
            case "run":
                return self._runs()
            case "trial":
                return self._all_trials()
            case "label_set":
                return self._label_sets()
            case "tag":
                return self._tags(kind)
            case _:
                return iter(()) if self._export.runs and not kind.about else self._said(kind)

    def _all(self, query: Any) -> list[Any]:
        return list(cast(Any, self._session.exec(query)))

    def _mine(self, kind: Kind) -> list[Any]:
        """The conditions for rows that travel: about the runs, or of the person."""
        rows = kind.rows
        if self._export.runs and kind.about:
            return [col(rows.table.trial_id).in_(self._trials)]
        return [rows.column(kind.owner) == self._export.person, *self._since(rows.column("at"))]

    def _since(self, column: Any) -> list[Any]:
        return [] if self._export.since is None else [col(column) >= self._export.since]

    def _said(self, kind: Kind) -> Iterator[Frozen]:
        """What people said, sorted, the rows about some trials or tasks at a time."""
        rows, conditions = kind.rows, self._mine(kind)
        table: Any = rows.table
        query: Any
        if kind.about:
            about, group, on = kind.about, col(TrialRow.uid), col(TrialRow.id) == table.trial_id
            query = select(table, group).join(TrialRow, on)
        elif kind.name == "contribution":
            about, group = "revision", func.coalesce(table.task_id, "")
            query = select(table, RevisionRow.uid).join(RevisionRow, _SAME, isouter=True)
        else:
            about, group = "", col(table.task_id)
            query = select(table, group)
        query = query.where(*conditions)
        groups = query.with_only_columns(group).distinct()
        for some in in_batches(sorted(self._session.scalars(groups)), 50):
            order = table.__table__.primary_key.columns
            found = self._all(query.where(group.in_(some)).order_by(*order))
            records = (
                rows.record_of(row, **({about: uid or ""} if about else {}), **_task(kind, row))
                for row, uid in found
            )
            yield from kind.sorted(records)

    def _tags(self, kind: Kind) -> Iterator[Frozen]:
        """The person's own; of runs and their trials, everybody's."""
        conditions: list[Any] = self._mine(kind)
        if runs := self._export.runs:
            names = select(RunRow.uid).where(col(RunRow.id).in_(runs))
            trials = select(TrialRow.uid).where(col(TrialRow.run_id).in_(runs))
            on_run = and_(TagRow.kind == "run", col(TagRow.about).in_(names))
            conditions = [or_(on_run, and_(TagRow.kind == "trial", col(TagRow.about).in_(trials)))]
        found = self._all(select(TagRow).where(*conditions))
        yield from kind.sorted(map(kind.rows.record_of, found))

    def _wanted(self) -> dict[str, set[str]]:
        """By task, the uids of the revisions that travel for their own sake, or because others refer to them."""
        revisions: Any = select(RevisionRow.task_id, RevisionRow.uid)
        if self._export.runs:
            played = col(TrialRow.run_id).in_(self._export.runs)
            queries = [revisions.join(TrialRow, _PLAYED).where(played).distinct()]
        else:
            said = revisions.join(ContributionRow, _SAME).where(*self._mine(NAMED["contribution"]))
            queries = [said, *self._saved(self._since)]
        found: dict[str, set[str]] = defaultdict(set)
        for query in queries:
            for task_id, uid in self._all(query):
                found[task_id].add(uid)
        if self._export.since:
            # What they saved of these tasks at any time, for it says that they are an author.
            for query in self._saved(lambda _column: []):
                for task_id, uid in self._all(query):
                    if task_id in found:
                        found[task_id].add(uid)
        return found

    def _saved(self, since: Callable[[Any], list[Any]]) -> list[Any]:
        """Queries for task and uid of the revisions that the person saved."""
        person, revisions = self._export.person, select(RevisionRow.task_id, RevisionRow.uid)
        signed = revisions.join(CosignRow, col(CosignRow.uid) == RevisionRow.uid)
        return [
            revisions.where(RevisionRow.author == person, *since(RevisionRow.created_at)),
            signed.where(CosignRow.author == person, *since(CosignRow.at)),
        ]

    def _revisions(self) -> Iterator[shared.SharedRevision]:
        """With the ancestors of all, in order."""
        wanted = self._wanted()
        for tasks in in_batches(sorted(wanted), 20):
            query = select(RevisionRow).where(col(RevisionRow.task_id).in_(tasks))
            rows = {row.uid: row for row in self._all(query)}
            parents = {uid: tuple(json.loads(row.parents)) for uid, row in rows.items()}
            todo, found = [uid for task_id in tasks for uid in wanted[task_id]], set[str]()
            while todo:
                uid = todo.pop()
                if uid not in found:
                    found.add(uid)
                    todo += parents[uid]
            signatures = self._signatures([rows[uid] for uid in found])
            yield from in_order(
                shared.SharedRevision(
                    uid=uid,
                    task_id=rows[uid].task_id,
                    hash=rows[uid].hash,
                    parents=parents[uid],
                    signatures=tuple(sorted(signatures[uid], key=lambda signed: signed.order)),
                )
                for uid in found
            )

    def _signatures(self, rows: Collection[RevisionRow]) -> dict[str, list[shared.Signature]]:
        """By uid, everybody who saved each of these revisions."""
        also = select(CosignRow).where(col(CosignRow.uid).in_([row.uid for row in rows]))
        signed: list[tuple[Any, datetime]] = [(row, row.created_at) for row in rows]
        signed += [(row, row.at) for row in self._all(also)]
        found: dict[str, list[shared.Signature]] = defaultdict(list)
        for row, at in signed:
            found[row.uid].append(
                shared.Signature(
                    author=row.author,
                    at=at,
                    tick=row.tick,
                    message=row.message,
                    origins=origins_in(row.origins),
                )
            )
        return found

    def _contents(self) -> Iterator[shared.SharedContent]:
        for some in in_batches(sorted({revision.hash for revision in self._revisions()}), 20):
            query = select(ContentRow).where(col(ContentRow.hash).in_(some))
            bodies = {row.hash: unpack(row.body, row.packed) for row in self._all(query)}
            for digest in some:
                task = Task.model_validate_json(bodies[digest])
                yield shared.SharedContent(hash=digest, task=task.model_dump(mode="json"))

    def _payloads(self) -> Iterator[shared.SharedPayload]:
        """The large texts that logs refer to, and those prompts of their calls that were kept."""
        needed, prompts = set[str](), set[str]()
        for some in in_batches([id for id, _run, _n in self._places()], 20):
            events = select(EventRow.body, EventRow.packed).where(col(EventRow.trial_id).in_(some))
            for row in self._all(events):
                body = unpack(*row)
                needed.update(decode_outline(body)[1])
                prompt = json.loads(body).get("prompt") if b'"prompt":"' in body else None
                prompts |= {prompt} if isinstance(prompt, str) else set()
            for table, column in (
                (JudgeCallRow, JudgeCallRow.prompt),
                (JudgementRow, JudgementRow.prompt_hash),
            ):
                said: Any = select(column).where(col(table.trial_id).in_(some)).distinct()
                prompts.update(self._all(said))
        for some in in_batches(sorted(prompts - needed), 400):
            there: Any = select(PayloadRow.hash).where(col(PayloadRow.hash).in_(some))
            needed.update(self._all(there))
        for some in in_batches(sorted(needed), 20):
            contents = read_payloads(self._session.connection(), some)
            for digest in some:
                try:
                    yield shared.SharedPayload(hash=digest, text=contents[digest].decode())
                except UnicodeDecodeError:
                    data = base64.b64encode(contents[digest]).decode()
                    yield shared.SharedPayload(hash=digest, data=data)

    def _runs(self) -> Iterator[shared.SharedRun]:
        """Those that are being played are written as paused."""
        kind, going = NAMED["run"], {RunState.RUNNING: RunState.PAUSED}
        rows = [run_row(self._session, run_id) for run_id in self._export.runs]
        states = [RunState(row.state) for row in rows]
        yield from kind.sorted(
            kind.rows.record_of(row, state=going.get(state, state))
            for row, state in zip(rows, states, strict=True)
        )

    def _places(self) -> list[tuple[int, str, int]]:
        """Id, run and place in the run of each trial, in the order of a bundle."""
        runs = (run_row(self._session, run_id) for run_id in self._export.runs)
        found: list[tuple[int, str, int]] = []
        for run in sorted(runs, key=lambda run: run.uid):
            query = select(TrialRow.id).where(TrialRow.run_id == run.id).order_by(col(TrialRow.id))
            ids = self._all(query)
            found += [(id or 0, run.uid, position) for position, id in enumerate(ids)]
        return found

    def _all_trials(self) -> Iterator[shared.SharedTrial]:
        for some in in_batches(self._places(), 4):
            yield from self._some_trials(some)

    def _some_trials(self, places: Sequence[tuple[int, str, int]]) -> Iterator[shared.SharedTrial]:
        ids = [id for id, _run, _position in places]
        parts: dict[int, dict[str, list[Any]]] = {id: defaultdict(list) for id in ids}
        for used in load_usage(self._session, col(TrialRow.id).in_(ids)):
            parts[used.trial_id]["usage"].append(shared.SharedUsage.from_fields(used))
        # Newest first as they are read; they travel in the order in which they were made.
        for given in reversed(load_judgements(self._session, col(JudgementRow.trial_id).in_(ids))):
            told = shared.SharedJudgement(at=given.created_at, judgement=given.judgement)
            parts[given.trial_id]["judgements"].append(told)
        for part in PARTS:
            table: Any = part.rows.table
            order = [col(getattr(table, name)) for name in part.order]
            query = select(table).where(col(table.trial_id).in_(ids)).order_by(*order)
            for row in self._all(query):
                parts[row.trial_id][part.name].append(part.rows.record_of(row))
        query = select(TrialRow, RevisionRow.uid).join(RevisionRow, _PLAYED)
        found = self._all(query.where(col(TrialRow.id).in_(ids)))
        rows = {row.id: (row, uid) for row, uid in found}
        kind = NAMED["trial"]
        for id, run, position in places:
            row, uid = rows[id]
            yield kind.rows.record_of(row, run=run, position=position, revision=uid, **parts[id])

    def _label_sets(self) -> Iterator[Frozen]:
        kind = NAMED["label_set"]
        if self._export.runs:
            outside = select(SetItemRow.set_id).where(col(SetItemRow.trial_id).not_in(self._trials))
            inside = select(SetItemRow.set_id).where(col(SetItemRow.trial_id).in_(self._trials))
            conditions = [col(LabelSetRow.id).in_(inside), col(LabelSetRow.id).not_in(outside)]
        else:
            conditions = self._mine(kind)
        places = sorted(
            self._all(
                select(LabelSetRow.created_at, LabelSetRow.uid, LabelSetRow.id).where(*conditions)
            )
        )
        for _at, _uid, id in places:
            drawn = shown(self._session, SetItemRow, "setitemlog")
            runs = select(TrialRow.run_id).join(SetItemRow).where(SetItemRow.set_id == id)
            check_whole(self._session, self._all(runs.distinct()))
            query = (
                select(drawn, TrialRow.uid)
                .join(TrialRow, col(TrialRow.id) == drawn.trial_id)
                .where(drawn.set_id == id)
                .order_by(drawn.position)
            )
            items = [SET_ITEMS.record_of(row, trial=uid) for row, uid in self._all(query)]
            yield kind.rows.record_of(self._session.get_one(LabelSetRow, id), items=items)


_PLAYED = (col(RevisionRow.task_id) == TrialRow.task_id) & (
    col(RevisionRow.number) == TrialRow.revision
)
_SAME = (col(RevisionRow.task_id) == ContributionRow.task_id) & (
    col(RevisionRow.number) == ContributionRow.revision
)


def _task(kind: Kind, row: Any) -> dict[str, str]:
    return {"task_id": row.task_id or ""} if kind.name == "contribution" else {}


def in_order(revisions: Iterable[shared.SharedRevision]) -> list[shared.SharedRevision]:
    """By task, parents first, then by time. Parents that are not among them do not matter."""
    known = {revision.uid: revision for revision in revisions}
    depth: dict[str, int] = {}
    for start in known:
        todo = [start]
        while todo:
            uid = todo[-1]
            parents = [parent for parent in known[uid].parents if parent in known]
            # A forged circle is not followed: what is on the way counts as 0.
            unknown = [parent for parent in parents if parent not in depth]
            if unknown and uid not in depth:
                depth[uid] = 0
                todo += unknown
                continue
            depth[uid] = 1 + max((depth[parent] for parent in parents), default=0)
            todo.pop()
    return sorted(
        known.values(),
        key=lambda r: (r.task_id, depth[r.uid], min(s.order for s in r.signatures), r.uid),
    )
