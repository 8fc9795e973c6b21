"""Makes bundles of what one person did, or of whole runs, and imports the bundles of others (`Exchange`)."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from cuecard.core.archive import BeingPlayed
from cuecard.core.tasks.models import Task
from cuecard.store.bundle_export import (
    adjudications_of,
    label_sets_of,
    labels_of,
    payloads_of,
    reveals_of,
    runs_of,
    trials_of,
)
from cuecard.store.bundle_import import BundleImport
from cuecard.store.bundle_records import (
    Bundle,
    MergeReport,
    SharedContribution,
    SharedEffort,
    SharedRevision,
    Signature,
)
from cuecard.store.codec import from_json, origins_in, unpack
from cuecard.store.engine import Database
from cuecard.store.leases import Leases
from cuecard.store.task_tables import ContentRow, ContributionRow, CosignRow, EffortRow, RevisionRow
from cuecard.store.trial_tables import (
    AdjudicationRow,
    LabelRow,
    LabelSetRow,
    RevealRow,
    RunRow,
    SetItemRow,
    TrialRow,
)


class Exchange:
    """Exports and imports bundles (`Workspace.exchange`)."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    def bundle(self, person: str, *, since: datetime | None = None) -> Bundle:
        """Everything that `person` did at `since` or later: contributions, saved revisions, labels, reveals,
        adjudications, labelling sets and effort, with the revisions that these refer to and their ancestors. Of other
        people it holds only the signatures of those revisions.
        """
        with self._database.read() as session:
            contributions = _contributions(session, person, since)
            wanted = {entry.revision for entry in contributions if entry.revision}
            wanted |= _signed(session, person, since)
            # What they saved of these tasks at any time, for it says that they are an author.
            own = _signed(session, person, None) if since else wanted
            revisions = _revisions(session, wanted, own)
            return Bundle(
                person=person,
                tasks=_contents(session, {revision.hash for revision in revisions}),
                revisions=tuple(revisions),
                contributions=tuple(contributions),
                labels=tuple(
                    labels_of(
                        session, LabelRow.person == person, *_since(LabelRow.created_at, since)
                    )
                ),
                effort=tuple(_effort(session, person, since)),
                reveals=tuple(
                    reveals_of(session, RevealRow.person == person, *_since(RevealRow.at, since))
                ),
                adjudications=tuple(
                    adjudications_of(
                        session, AdjudicationRow.by == person, *_since(AdjudicationRow.at, since)
                    )
                ),
                label_sets=tuple(
                    label_sets_of(
                        session,
                        LabelSetRow.created_by == person,
                        *_since(LabelSetRow.created_at, since),
                    )
                ),
            )

    def bundle_of_runs(self, person: str, runs: Sequence[int]) -> Bundle:
        """These runs in full, packed by `person`: trials with logs and judgements, everybody's labels and notes on
        them, labelling sets drawn only from them, and the revisions that were played with their ancestors. Raises
        `NotFound`.
        """
        with self._database.read() as session:
            shared = runs_of(session, runs)
            trials = trials_of(session, runs)
            revisions = _revisions(session, {trial.revision for trial in trials}, ())
            mine = select(TrialRow.id).where(col(TrialRow.run_id).in_(runs))
            return Bundle(
                person=person,
                tasks=_contents(session, {revision.hash for revision in revisions}),
                revisions=tuple(revisions),
                labels=tuple(labels_of(session, col(LabelRow.trial_id).in_(mine))),
                reveals=tuple(reveals_of(session, col(RevealRow.trial_id).in_(mine))),
                adjudications=tuple(
                    adjudications_of(session, col(AdjudicationRow.trial_id).in_(mine))
                ),
                label_sets=tuple(label_sets_of(session, _within(mine))),
                payloads=payloads_of(session, trials),
                runs=tuple(shared),
                trials=tuple(trials),
            )

    def import_(self, bundles: Sequence[Bundle], *, by: str, dry: bool = False) -> MergeReport:
        """Import these bundles: add what is new, and change or remove nothing. If anything fails, nothing is added.
        `by` is who will read the report. With `dry` nothing is written and the report says what would be. Raises
        `BeingPlayed` if somebody here plays one of the runs.
        """
        with self._database.write() as session:
            if not dry:
                self._check_played(session, {run.uid for bundle in bundles for run in bundle.runs})
            report = BundleImport(session, bundles, by).report(dry=dry)
            if dry:
                session.rollback()
            return report

    def _check_played(self, session: Session, uids: Collection[str]) -> None:
        runs = (
            session.exec(select(RunRow.id).where(col(RunRow.uid).in_(uids))).all() if uids else ()
        )
        for run_id in runs:
            lease = self._leases.of(session, run_id).get(run_id or 0)
            if lease is not None and lease.alive:
                raise BeingPlayed(lease)


def _within(trials: Any) -> Any:
    """The condition for labelling sets all of whose items are of these trials."""
    outside = select(SetItemRow.set_id).where(col(SetItemRow.trial_id).not_in(trials))
    inside = select(SetItemRow.set_id).where(col(SetItemRow.trial_id).in_(trials))
    return col(LabelSetRow.id).in_(inside) & col(LabelSetRow.id).not_in(outside)


def _since(column: Any, since: datetime | None) -> list[Any]:
    return [] if since is None else [col(column) >= since]


def _contributions(
    session: Session, person: str, since: datetime | None
) -> list[SharedContribution]:
    same = (col(RevisionRow.task_id) == ContributionRow.task_id) & (
        col(RevisionRow.number) == ContributionRow.revision
    )
    query = (
        select(ContributionRow, RevisionRow.uid)
        .join(RevisionRow, same, isouter=True)
        .where(ContributionRow.by == person, *_since(ContributionRow.at, since))
    )
    return [
        SharedContribution.model_validate(
            {
                "uid": row.uid,
                "task_id": row.task_id or "",
                "revision": uid or "",
                "by": row.by,
                "at": row.at,
                "tick": row.tick,
                "body": from_json(unpack(row.body, row.packed)),
            }
        )
        for row, uid in session.exec(query)
    ]


def _signed(session: Session, person: str, since: datetime | None) -> set[str]:
    """The uids of the revisions that `person` saved."""
    own = select(RevisionRow.uid).where(
        RevisionRow.author == person, *_since(RevisionRow.created_at, since)
    )
    also = select(CosignRow.uid).where(CosignRow.author == person, *_since(CosignRow.at, since))
    return set(session.exec(own)) | set(session.exec(also))


def _revisions(
    session: Session, uids: Collection[str], own: Collection[str]
) -> list[SharedRevision]:
    """These revisions, those in `own` of the same tasks, and the ancestors of all, parents first."""
    if not uids:
        return []
    of = select(RevisionRow.task_id).where(col(RevisionRow.uid).in_(uids))
    query = (
        select(RevisionRow)
        .where(col(RevisionRow.task_id).in_(of))
        .order_by(RevisionRow.task_id, col(RevisionRow.number))
    )
    rows = {row.uid: row for row in session.exec(query)}
    parents = {uid: tuple(json.loads(row.parents)) for uid, row in rows.items()}
    todo, wanted = [*uids, *(uid for uid in own if uid in rows)], set[str]()
    while todo:
        uid = todo.pop()
        if uid not in wanted:
            wanted.add(uid)
            todo += parents[uid]
    signatures = signatures_of(session, [row for uid, row in rows.items() if uid in wanted])
    return [
        SharedRevision(
            uid=uid,
            task_id=row.task_id,
            hash=row.hash,
            parents=parents[uid],
            signatures=tuple(sorted(signatures[uid], key=lambda found: found.order)),
        )
        for uid, row in rows.items()
        if uid in wanted
    ]


def signatures_of(session: Session, rows: Collection[RevisionRow]) -> dict[str, list[Signature]]:
    """By uid, everybody who saved each of these revisions."""
    found: dict[str, list[Signature]] = defaultdict(list)
    for row in rows:
        found[row.uid].append(
            Signature(
                author=row.author,
                at=row.created_at,
                tick=row.tick,
                message=row.message,
                origins=origins_in(row.origins),
            )
        )
    for row in session.exec(select(CosignRow)):
        if row.uid in found:
            found[row.uid].append(
                Signature(
                    author=row.author,
                    at=row.at,
                    tick=row.tick,
                    message=row.message,
                    origins=origins_in(row.origins),
                )
            )
    return found


def _contents(session: Session, hashes: Collection[str]) -> dict[str, Task]:
    query = select(ContentRow).where(col(ContentRow.hash).in_(hashes))
    return {
        row.hash: Task.model_validate_json(unpack(row.body, row.packed))
        for row in session.exec(query)
    }


def _effort(session: Session, person: str, since: datetime | None) -> list[SharedEffort]:
    query = (
        select(EffortRow)
        .where(EffortRow.person == person, *_since(EffortRow.at, since))
        .order_by(col(EffortRow.id))
    )
    return [
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
    ]
