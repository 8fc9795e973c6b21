"""Imports bundles into a workspace: what is new by uid is added, and nothing that is there is changed or removed."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import insert
from sqlmodel import Session, col, select

from cuecard.core.contributions import Contribution, TaskState
from cuecard.core.review import Clash, Standing, TaskLog, standing_of
from cuecard.core.tasks.models import Task
from cuecard.store.bundle_import_labels import import_labelling
from cuecard.store.bundle_import_runs import import_runs
from cuecard.store.bundle_records import (
    Arrived,
    Bundle,
    MergeReport,
    Moved,
    SharedContribution,
    SharedEffort,
    SharedRevision,
    Signature,
    SignedFor,
)
from cuecard.store.codec import origins_text, pack
from cuecard.store.contributions import contribution_values, load_logs, refold
from cuecard.store.people import ensure_person
from cuecard.store.task_tables import (
    ContentRow,
    ContributionRow,
    CosignRow,
    EffortRow,
    PersonRow,
    RevisionRow,
    TaskRow,
)

Counts = tuple[int, int]
"""How many were added, and how many were known."""


def import_effort(session: Session, bundles: Iterable[Sequence[SharedEffort]]) -> Counts:
    """Add effort entries that are not in the workspace yet; gives how many were added and how many were known. Entries
    have no uid, so equal ones are counted: two bundles with the same entry once each add it once, a bundle that holds
    it twice adds it twice.
    """
    wanted: Counter[SharedEffort] = Counter()
    for entries in bundles:
        wanted |= Counter(entries)
    if not wanted:
        return 0, 0
    people = sorted({entry.person for entry in wanted})
    query = select(EffortRow).where(col(EffortRow.person).in_(people))
    known = Counter(
        SharedEffort.model_validate(
            {
                "task_id": row.task_id,
                "person": row.person,
                "kind": row.kind,
                "amount": row.amount,
                "text": row.text,
                "at": row.at,
            }
        )
        for row in session.exec(query)
    )
    missing = sorted(
        (wanted - known).elements(), key=lambda e: (e.at, e.task_id, e.kind, e.amount, e.text)
    )
    if missing:
        rows = [entry.model_dump() for entry in missing]
        session.connection().execute(insert(EffortRow), rows)
    return len(missing), wanted.total() - len(missing)


class BundleImport:
    """The import of some bundles within one writing session. Bundles must be validated before."""

    def __init__(self, session: Session, bundles: Sequence[Bundle], by: str) -> None:
        self._session = session
        self._bundles = bundles
        self._by = by
        self._added: Counter[str] = Counter()
        self._known: Counter[str] = Counter()
        self._tasks = {hash_: task for bundle in bundles for hash_, task in bundle.tasks.items()}
        self._revisions = _united(bundles)
        self._contributions = {e.uid: e for bundle in bundles for e in bundle.contributions}
        touched = {r.task_id for r in self._revisions.values()}
        self._touched = sorted(touched)

    def report(self, *, dry: bool) -> MergeReport:
        """Import everything and report it. `dry` only marks the report; the caller rolls back."""
        people, signed_for = self._people(), self._signed_for()
        before = load_logs(self._session, self._touched)
        heads = {task_id: self._session.get(TaskRow, task_id) for task_id in before}
        stood = {task_id: (row.head, TaskState(row.state)) for task_id, row in heads.items() if row}
        clashes_before = self._clashes(standing_of(log) for log in before.values())
        self._contents()
        for task_id in self._touched:
            self._import_revisions(task_id, before.get(task_id))
        self._import_contributions()
        logs = load_logs(self._session, self._touched)
        standings = [refold(self._session, logs[task_id]) for task_id in self._touched]
        runs, other = import_runs(self._session, self._bundles)
        labelling, left_out = import_labelling(self._session, self._bundles)
        effort = import_effort(self._session, [bundle.effort for bundle in self._bundles])
        for kind, (added, known) in (
            *runs.items(),
            *labelling.items(),
            ("effort", effort),
        ):
            self._added[kind] += added
            self._known[kind] += known
        return MergeReport(
            dry=dry,
            arrived=self._arrived(),
            people=people,
            signed_for=signed_for,
            moved=tuple(self._moved(standings, stood)),
            left_out=(*other, *left_out),
            clashes_before=clashes_before,
            clashes=self._clashes(standings),
        )

    def _people(self) -> tuple[str, ...]:
        """Enter everybody whom the bundles name as an author; gives the names that were new."""
        names = {bundle.person for bundle in self._bundles}
        names |= {s.author for r in self._revisions.values() for s in r.signatures}
        names |= {name for bundle in self._bundles for name in _said_by(bundle)}
        names.add(self._by)
        known = set(self._session.exec(select(PersonRow.name)))
        for name in sorted(names - known):
            ensure_person(self._session, name)
        return tuple(sorted(names - known - {self._by}))

    def _signed_for(self) -> tuple[SignedFor, ...]:
        """Revisions under other names than their packer's. To be called before anything is imported."""
        authors = {s.author for r in self._revisions.values() for s in r.signatures}
        of = col(RevisionRow.author).in_(authors)
        own = select(RevisionRow.uid, RevisionRow.author).where(of)
        also = select(CosignRow.uid, CosignRow.author)
        known = set(self._session.exec(own)) | set(self._session.exec(also))
        found, new = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for bundle in self._bundles:
            for revision in bundle.revisions:
                for author in {s.author for s in revision.signatures} - {bundle.person}:
                    found[bundle.person, author] += 1
                    new[bundle.person, author] += (revision.uid, author) not in known
        return tuple(
            SignedFor(packed_by=who, author=author, revisions=n, new=new[who, author])
            for (who, author), n in sorted(found.items())
        )

    def _contents(self) -> None:
        wanted = {revision.hash for revision in self._revisions.values()}
        known = set(self._session.exec(select(ContentRow.hash)))
        rows: list[dict[str, Any]] = []
        for hash_ in sorted(wanted - known):
            body, packed = pack(self._tasks[hash_].model_dump_json().encode())
            rows.append({"hash": hash_, "body": body, "packed": packed})
        self._insert(ContentRow, rows)

    def _import_revisions(self, task_id: str, log: TaskLog | None) -> None:
        """Number new revisions from the next free number on; add signatures to known ones."""
        incoming = [r for r in self._revisions.values() if r.task_id == task_id]
        known = {node.uid for node in log.revisions} if log else set[str]()
        if not known:
            self._begin(incoming[0])
        last = max((node.number for node in log.revisions), default=0) if log else 0
        fresh = [revision for revision in incoming if revision.uid not in known]
        rows = [
            _revision_values(revision, number, self._tasks[revision.hash])
            for number, revision in enumerate(fresh, start=last + 1)
        ]
        self._insert(RevisionRow, rows)
        self._added["revision"] += len(fresh)
        self._known["revision"] += len(incoming) - len(fresh)
        self._sign(incoming, {revision.uid for revision in fresh})

    def _begin(self, revision: SharedRevision) -> None:
        """Insert the row of a new task; `refold` fills in its head later."""
        task = self._tasks[revision.hash]
        first = revision.signatures[0]
        self._session.add(
            TaskRow(
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
        )
        self._session.flush()
        self._added["task"] += 1

    def _sign(self, incoming: Sequence[SharedRevision], fresh: set[str]) -> None:
        signed = self._signed([revision.uid for revision in incoming])
        rows: list[dict[str, Any]] = []
        for revision in incoming:
            for signature in revision.signatures:
                key = (signature.author, signature.at)
                if key in signed[revision.uid]:
                    continue
                signed[revision.uid].add(key)
                rows.append(_cosign_values(revision.uid, signature))
                self._added["signature"] += revision.uid not in fresh
        self._insert(CosignRow, rows)

    def _signed(self, uids: Sequence[str]) -> dict[str, set[tuple[str, Any]]]:
        found: dict[str, set[tuple[str, Any]]] = defaultdict(set)
        own = select(RevisionRow.uid, RevisionRow.author, RevisionRow.created_at)
        also = select(CosignRow.uid, CosignRow.author, CosignRow.at)
        for query, column in ((own, RevisionRow.uid), (also, CosignRow.uid)):
            for uid, author, at in self._session.exec(query.where(col(column).in_(uids))):
                found[uid].add((author, at))
        return found

    def _import_contributions(self) -> None:
        known = set(self._session.exec(select(ContributionRow.uid)))
        query = select(RevisionRow.uid, RevisionRow.number).where(
            col(RevisionRow.task_id).in_(self._touched)
        )
        numbers = dict(self._session.exec(query).all())
        rows: list[dict[str, Any]] = []
        for uid, entry in sorted(self._contributions.items()):
            if uid in known:
                self._known[entry.body.kind] += 1
            else:
                self._added[entry.body.kind] += 1
                rows.append(contribution_values(_local(entry, numbers)))
        self._insert(ContributionRow, rows)

    def _insert(self, table: Any, rows: list[dict[str, Any]]) -> None:
        if rows:
            self._session.flush()
            self._session.connection().execute(insert(table), rows)

    def _arrived(self) -> tuple[Arrived, ...]:
        kinds = sorted({*+self._added, *+self._known})
        return tuple(Arrived(kind=k, added=self._added[k], known=self._known[k]) for k in kinds)

    def _moved(
        self, standings: Sequence[Standing], stood: dict[str, tuple[int, TaskState]]
    ) -> Iterable[Moved]:
        for standing in standings:
            head, state = stood.get(standing.task_id, (0, None))
            if (head, state) != (standing.head, standing.state):
                yield Moved(
                    task_id=standing.task_id,
                    title=self._session.get_one(TaskRow, standing.task_id).title,
                    before=state,
                    after=standing.state,
                    head_before=head,
                    head=standing.head,
                )

    def _clashes(self, standings: Iterable[Standing]) -> tuple[Clash, ...]:
        return tuple(
            seen_clash(clash, standing, self._by)
            for standing in standings
            for clash in standing.clashes
        )


def seen_clash(clash: Clash, standing: Standing, person: str) -> Clash:
    """A clash as `person` may see it: without the names of reviewers, until its reviews may be read."""
    if clash.kind == "forks" or standing.of(clash.revisions[0]).seen == "all":
        return clash
    return clash.model_copy(update={"people": tuple(p for p in clash.people if p == person)})


def _said_by(bundle: Bundle) -> set[str]:
    """Who entered runs, and who said something of their trials."""
    said = {label.person for label in bundle.labels} | {seen.person for seen in bundle.reveals}
    said |= {decision.by for decision in bundle.adjudications}
    said |= {drawn.by for drawn in bundle.label_sets} | {run.created_by for run in bundle.runs}
    return said | {one.person for trial in bundle.trials for one in (*trial.forms, *trial.notes)}


def _united(bundles: Sequence[Bundle]) -> dict[str, SharedRevision]:
    """All revisions by uid, parents first. A revision that several bundles hold has the signatures of all of them."""
    found: dict[str, SharedRevision] = {}
    for bundle in bundles:
        for revision in bundle.revisions:
            known = found.get(revision.uid)
            every = [*revision.signatures, *(known.signatures if known else ())]
            # The earliest stands first, and where one stands twice, its first.
            ordered = sorted(every, key=lambda s: s.order, reverse=True)
            signatures = {(s.author, s.at): s for s in ordered}
            first = sorted(signatures.values(), key=lambda s: s.order)
            found[revision.uid] = revision.model_copy(update={"signatures": tuple(first)})
    return found


def _local(entry: SharedContribution, numbers: dict[str, int]) -> Contribution:
    return Contribution(
        uid=entry.uid,
        task_id=entry.task_id,
        revision=numbers[entry.revision] if entry.revision else 0,
        by=entry.by,
        at=entry.at,
        tick=entry.tick,
        body=entry.body,
    )


def _revision_values(revision: SharedRevision, number: int, task: Task) -> dict[str, Any]:
    first = revision.signatures[0]
    return {
        "task_id": revision.task_id,
        "number": number,
        "uid": revision.uid,
        "parents": json.dumps(revision.parents),
        "tick": first.tick,
        "hash": revision.hash,
        "title": task.title,
        "author": first.author,
        "message": first.message,
        "origins": origins_text(first.origins),
        "created_at": first.at,
    }


def _cosign_values(uid: str, signature: Signature) -> dict[str, Any]:
    return {
        "uid": uid,
        "author": signature.author,
        "at": signature.at,
        "tick": signature.tick,
        "message": signature.message,
        "origins": origins_text(signature.origins),
    }
