"""Imports bundles into a workspace, record by record: what is new is added, and nothing that is there is changed."""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from itertools import groupby
from typing import Any, NamedTuple

from sqlmodel import Session, col, func, select

from cuecard.core.contributions import Contribution, TaskState
from cuecard.core.review import Clash, Standing, standing_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task
from cuecard.store import bundle_records as shared
from cuecard.store.bundle_adding import Given, ImportTally, RunImport, Source
from cuecard.store.bundle_kinds import KIND_OF, KINDS, Kind, Rows, in_batches
from cuecard.store.codec import LEVEL, origins_text, pack, unpack
from cuecard.store.contributions import contribution_values, load_logs, refold, show_content
from cuecard.store.task_tables import ContentRow, CosignRow, RevisionRow, TaskRow

_TASKS = 50


class _EarlierState(NamedTuple):
    """Where a task stood before the import; `state` is None for one that was not there."""

    head: int = 0
    state: TaskState | None = None
    clashes: tuple[Clash, ...] = ()


class BundleImport:
    """The import of some bundles within one writing session. Bundles must be validated before. `check_run` is told of
    each run that is there already, and may refuse it.
    """

    def __init__(
        self,
        session: Session,
        packs: Sequence[shared.Pack],
        by: str,
        check_run: Callable[[int], None],
    ) -> None:
        self._session = session
        self._by = by
        self._packs = packs
        self._adding = ImportTally(session, several=len(packs) > 1)
        self._runs = RunImport(self._adding, check_run)
        self._is_visible_to: dict[str, _EarlierState] = {}
        self._fresh_revisions: set[str] = set()
        self._signed_here: set[tuple[str, str]] = set()
        self._signed_for: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)

    def report(self, *, dry: bool) -> shared.MergeReport:
        """Import everything and report it. `dry` only marks the report; the caller rolls back."""
        self._adding.enter([self._by, *(each.person for each in self._packs)])
        # Kind by kind through all of them, for what one refers to may stand in another.
        ranked = merge(*map(_ranked, self._packs), key=_rank)
        for rank, found in groupby(ranked, key=_rank):
            kind = KINDS[rank]
            for some in in_batches(found, kind.batch):
                given = [(source, record) for _rank, source, record in some]
                self._adding.enter(
                    name for _source, record in given for name in kind.people_of(record)
                )
                self._take(kind, given)
        self._runs.settle()
        moved, clashes = self._refolded()
        return shared.MergeReport(
            dry=dry,
            arrived=self._adding.arrived(),
            people=tuple(sorted(self._adding.new_people - {self._by})),
            signed_for=tuple(
                shared.SignedFor(packed_by=who, author=author, revisions=len(new), new=sum(new))
                for (who, author), new in sorted(self._signed_for.items())
            ),
            moved=moved,
            left_out=self._left_out(),
            clashes_before=tuple(
                clash
                for _task, stood in sorted(self._is_visible_to.items())
                for clash in stood.clashes
            ),
            clashes=clashes,
        )

    def _take(self, kind: Kind, given: Sequence[Given]) -> None:
        rows, records = kind.rows, [record for _source, record in given]
        match kind.name:
            case "task":
                self._adding.add(rows, [_content_values(content) for content in records])
            case "payload":
                self._adding.add(rows, [_payload_values(payload) for payload in records])
            case "revision":
                self._revisions(given)
            case "run":
                for run in records:
                    self._runs.run(rows, run)
            case "trial":
                for source, trial in given:
                    self._runs.trial(rows, trial, source.person)
            case "label_set":
                for drawn in records:
                    self._adding.label_set(kind, drawn)
            case "tag":
                self._adding.add(rows, [rows.values(tag) for tag in records], kind.name)
            case "contribution":
                self._contributions(rows, records)
            case "effort":
                numbers = [self._adding.number(source, entry) for source, entry in given]
                self._adding.add(
                    rows, [rows.values(entry) for entry in records], kind.name, numbers
                )
            case _:
                self._adding.said(kind, records)

    def _revisions(self, given: Sequence[Given]) -> None:
        """Number new revisions from the next free number on; add signatures to known ones."""
        self._touch({revision.task_id for _source, revision in given})
        uids = [revision.uid for _source, revision in given]
        signed = self._signed(uids)
        last = select(RevisionRow.task_id, func.max(RevisionRow.number)).where(
            col(RevisionRow.task_id).in_({revision.task_id for _source, revision in given})
        )
        numbers: dict[str, int] = dict(self._session.exec(last.group_by(RevisionRow.task_id)).all())
        tasks = self._tasks({r.hash for _source, r in given if r.uid not in signed})
        here = self._signed_here
        rows: list[dict[str, Any]] = []
        cosigned: list[dict[str, Any]] = []
        for source, revision in given:
            first = min(revision.signatures, key=lambda signature: signature.order)
            fresh = revision.uid not in signed
            before = {author for author, _at in signed.get(revision.uid, ())}
            for author in {s.author for s in revision.signatures} - {source.person}:
                new = author not in before or (revision.uid, author) in here
                self._signed_for[source.person, author].append(new)
            if fresh:
                task = tasks[revision.hash]
                if revision.task_id not in numbers:
                    self._begin(task, first)
                numbers[revision.task_id] = numbers.get(revision.task_id, 0) + 1
                rows.append(
                    {
                        **revision.model_dump(include={"uid", "task_id", "hash"}),
                        "number": numbers[revision.task_id],
                        "parents": json.dumps(revision.parents),
                        "title": task.title,
                        **_signature_values(first, "created_at"),
                    }
                )
                signed[revision.uid] = {(first.author, first.at)}
                here.add((revision.uid, first.author))
                self._fresh_revisions.add(revision.uid)
            self._adding.count("revision", fresh, revision.uid)
            for signature in revision.signatures:
                if (signature.author, signature.at) not in signed[revision.uid]:
                    signed[revision.uid].add((signature.author, signature.at))
                    if signature.author not in before:
                        here.add((revision.uid, signature.author))
                    cosigned.append({"uid": revision.uid, **_signature_values(signature, "at")})
                    self._adding.added["signature"] += revision.uid not in self._fresh_revisions
        self._adding.insert(RevisionRow, rows)
        self._adding.insert(CosignRow, cosigned)

    def _touch(self, task_ids: Iterable[str]) -> None:
        """Remember where these tasks stood, before anything of them is imported."""
        new = [task_id for task_id in task_ids if task_id not in self._is_visible_to]
        logs = load_logs(self._session, new)
        for task_id in new:
            row = self._session.get(TaskRow, task_id) if task_id in logs else None
            standing = standing_of(logs[task_id]) if row else None
            self._is_visible_to[task_id] = (
                _EarlierState(row.head, TaskState(row.state), self._clashes(standing))
                if row and standing
                else _EarlierState()
            )

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

    def _begin(self, task: Task, first: shared.Signature) -> None:
        """Insert the row of a new task; `refold` fills in its head later."""
        given: dict[str, Any] = {"author": first.author, "updated_at": first.at}
        row = TaskRow(id=task.id, head=0, state=TaskState.DRAFT.value, **given)
        show_content(row, task)
        self._session.add(row)
        self._session.flush()
        self._adding.added["task"] += 1

    def _contributions(self, rows: Rows, entries: Sequence[shared.SharedContribution]) -> None:
        about = col(RevisionRow.uid).in_({entry.revision for entry in entries})
        numbers = {"": 0, **self._adding.map(RevisionRow.uid, RevisionRow.number, where=about)}
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
        for entry, fresh in zip(entries, self._adding.add(rows, values), strict=True):
            self._adding.count(entry.body.kind, fresh, entry.uid)

    def _refolded(self) -> tuple[tuple[shared.Moved, ...], tuple[Clash, ...]]:
        """Fold the logs of all tasks that were touched; gives those that moved, and their clashes now."""
        moved: list[shared.Moved] = []
        clashes: list[Clash] = []
        for task_ids in in_batches(sorted(self._is_visible_to), _TASKS):
            logs = load_logs(self._session, task_ids)
            for task_id in task_ids:
                standing, stood = refold(self._session, logs[task_id]), self._is_visible_to[task_id]
                clashes += self._clashes(standing)
                if (stood.head, stood.state) == (standing.head, standing.state):
                    continue
                moved.append(
                    shared.Moved(
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

    def _left_out(self) -> tuple[shared.LeftOut, ...]:
        others = ((person, trial, "trial") for person, trial in self._runs.other_logs)
        return tuple(
            shared.LeftOut.model_validate(
                {
                    "person": person,
                    "trial": uid,
                    "reason": "other_log" if kind == "trial" else "no_trial",
                    "count": self._adding.left.get((person, uid, kind), 1),
                    "kind": kind,
                }
            )
            for person, uid, kind in (*others, *sorted(self._adding.left))
        )


def _rank(ranked: tuple[int, Source, Frozen]) -> int:
    return ranked[0]


def _ranked(pack: shared.Pack) -> Iterator[tuple[int, Source, Frozen]]:
    source = Source(pack.person)
    for record in pack.records():
        yield KINDS.index(KIND_OF[type(record)]), source, record


def seen_clash(clash: Clash, standing: Standing, person: str) -> Clash:
    """A clash as `person` may see it: without the names of reviewers, until its reviews may be read."""
    if clash.kind == "forks" or standing.of(clash.revisions[0]).seen == "all":
        return clash
    return clash.model_copy(update={"people": tuple(p for p in clash.people if p == person)})


def _content_values(content: shared.SharedContent) -> dict[str, Any]:
    task = Task.model_validate(content.task)
    body, packed = pack(task.model_dump_json().encode())
    return {"hash": content.hash, "body": body, "packed": packed}


def _payload_values(payload: shared.SharedPayload) -> dict[str, Any]:
    content = payload.content
    data = zlib.compress(content, LEVEL)
    return {"hash": payload.hash, "size": len(content), "base": None, "data": data}


def _signature_values(signature: shared.Signature, at: str) -> dict[str, Any]:
    told = signature.model_dump(include={"author", "tick", "message"})
    return {**told, at: signature.at, "origins": origins_text(signature.origins)}
