"""Judges' verdicts and people's labels on them, what a labeller may see before labelling, and the cache of trials'
measures.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import BigInteger, literal
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import NotAllowed
from cuecard.core.i18n import _
from cuecard.core.label_records import (
    JudgementHead,
    JudgementRecord,
    Label,
    LabelValue,
    Phase,
    RunLabels,
    VerdictItem,
    VerdictRecord,
)
from cuecard.core.records import KeptFigures
from cuecard.core.verdicts import Item, Judgement
from cuecard.core.worker_archive import Claim
from cuecard.store.engine import Database
from cuecard.store.judgements import (
    PRIME,
    blind_item,
    current_judgements,
    insert_judgement,
    item_of,
    load_heads,
    load_judgements,
    load_records,
    number_from,
)
from cuecard.store.labels import (
    OutsideLabel,
    add_label,
    enter_labels,
    label_counts,
    label_history,
    label_of,
    newest_ids,
    newest_labels,
    note_reveal,
    note_reveals,
)
from cuecard.store.roles import check_whole, of_person
from cuecard.store.rows import known_or_held, run_row, trial_row, verdict_row
from cuecard.store.task_tables import insert_of, metadata
from cuecard.store.trial_tables import (
    JudgementRow,
    LabelRow,
    RunRow,
    TrialFiguresRow,
    TrialRow,
    VerdictRow,
)


class Verdicts:
    """Judgements, verdicts and labels. A verdict counts if its judgement is its judge's newest on the trial."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, trial_id: int, judgement: Judgement, claim: Claim | None = None
    ) -> JudgementRecord:
        """Record a judgement. Raises `NotFound` for an unknown trial, and `ClaimLost` if `claim` stands no more."""
        with self._database.append() as session:
            known_or_held(session, trial_id, claim)
            return insert_judgement(session, trial_id, judgement)

    def of_trial(self, trial_id: int) -> list[JudgementRecord]:
        """All judgements of a trial, newest first."""
        with self._database.read() as session:
            return load_judgements(session, JudgementRow.trial_id == trial_id)

    def of_run(self, run_id: int) -> list[JudgementRecord]:
        """The newest judgement of each judge on each trial, by trial and judge. Raises `NotFound`; and
        `NotAllowed` where some are hidden from the role of the database.
        """
        with self._database.read() as session:
            run_row(session, run_id)
            check_whole(session, [run_id])
            found = load_judgements(session, col(JudgementRow.id).in_(current_judgements(run_id)))
        return sorted(found, key=lambda record: (record.trial_id, record.judgement.judge.name))

    def newest(self, trial_ids: Collection[int]) -> list[JudgementRecord]:
        """The newest judgement of each judge on each of these trials, newest first. Raises `NotAllowed` as `of_run` does."""
        current = current_judgements(None, *trial_ids)
        runs = select(TrialRow.run_id).where(col(TrialRow.id).in_(trial_ids)).distinct()
        with self._database.read() as session:
            if not (found := session.exec(runs).all()):
                return []
            check_whole(session, found)
            return load_judgements(session, col(JudgementRow.id).in_(current))

    def repeated(self, run_ids: Collection[int]) -> list[JudgementRecord]:
        """All judgements of those trials of these runs that one judge judged more than once, by that judge, newest
        first. Raises `NotAllowed` as `of_run` does.
        """
        twice = (
            select_columns(col(JudgementRow.trial_id), col(JudgementRow.judge_name))
            .join(TrialRow)
            .where(col(TrialRow.run_id).in_(run_ids))
            .group_by(col(JudgementRow.trial_id), col(JudgementRow.judge_name))
            .having(func.count() > 1)
        )
        with self._database.read() as session:
            check_whole(session, list(run_ids))
            names = {tuple(row) for row in session.connection().execute(twice)}
            # By a query within the query: there may be more trials than a query can name.
            trials = select_columns(twice.subquery().c.trial_id)
            found = load_judgements(session, col(JudgementRow.trial_id).in_(trials))
        return [r for r in found if (r.trial_id, r.judgement.judge.name) in names]

    def heads(self, run_id: int) -> list[JudgementHead]:
        """As `of_run`, without the verdicts."""
        with self._database.read() as session:
            run_row(session, run_id)
            check_whole(session, [run_id])
            return load_heads(session, col(JudgementRow.id).in_(current_judgements(run_id)))

    def judgements(self, ids: Collection[int]) -> list[JudgementRecord]:
        """The judgements with these ids, newest first; unknown ids are passed over."""
        with self._database.read() as session:
            return load_judgements(session, col(JudgementRow.id).in_(ids))

    def judged_trials(self, task_id: str, revision: int) -> list[int]:
        """The ids of judged trials on the revision, newest first."""
        query = (
            select(TrialRow.id)
            .where(
                TrialRow.task_id == task_id,
                TrialRow.revision == revision,
                col(TrialRow.id).in_(select(JudgementRow.trial_id)),
            )
            .order_by(col(TrialRow.id).desc())
        )
        with self._database.read() as session:
            return [trial_id for trial_id in session.exec(query) if trial_id is not None]

    def queue(
        self,
        person: str,
        *,
        run_id: int | None = None,
        trial_id: int | None = None,
        limit: int = 200,
    ) -> list[VerdictItem]:
        """Items that `person` has not labelled, each item of a trial once. The order differs between people, stays the
        same, and tells nothing about decisions; neither do the items, which hold nothing of judges or other labellers.
        """
        # Multiplying modulo a prime permutes: another order for each person, the same each time.
        factor = literal(number_from(person) or 1, BigInteger)
        turn = func.min(VerdictRow.shuffle) * factor % PRIME
        query = (
            select(func.min(VerdictRow.id))
            .where(*_unlabelled(person, run_id, trial_id))
            .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
            .order_by(turn, func.min(VerdictRow.id))
            .limit(limit)
        )
        with self._database.read() as session:
            ids = session.exec(query).all()
            details = select(VerdictRow, TrialRow).join(TrialRow).where(col(VerdictRow.id).in_(ids))
            items = {
                verdict.id: blind_item(verdict, trial) for verdict, trial in session.exec(details)
            }
        return [items[verdict_id] for verdict_id in ids]

    def waiting(
        self,
        person: str,
        *,
        run_id: int | None = None,
        trial_id: int | None = None,
        limit: int = 10**6,
    ) -> int:
        """How many items `person` has not labelled, counted up to `limit`."""
        items = (
            select(VerdictRow.trial_id, VerdictRow.item_key)
            .where(*_unlabelled(person, run_id, trial_id))
            .distinct()
            .limit(limit)
        )
        with self._database.read() as session:
            return session.exec(select(func.count()).select_from(items.subquery())).one()

    def label(
        self,
        verdict_id: int,
        person: str,
        value: LabelValue | CheckpointStatus,
        comment: str = "",
        *,
        seconds: float = 0,
        gold_wrong: bool = False,
    ) -> Label:
        """Label the item of a verdict; earlier labels stay in the history. The phase is `revealed` if the person has
        seen decisions on the item. `seconds`: the time it took. Raises `NotFound`.
        """
        with self._database.write(of_person(person)) as session:
            row = verdict_row(session, verdict_id)
            return add_label(
                session,
                row.trial_id,
                item_of(row.item_kind, row.item_index, row.item_column),
                person,
                value,
                verdict_id=verdict_id,
                comment=comment,
                seconds=seconds,
                gold_wrong=gold_wrong,
            )

    def label_item(
        self,
        trial_id: int,
        item: Item,
        person: str,
        value: LabelValue | CheckpointStatus,
        comment: str = "",
        *,
        seconds: float = 0,
        gold_wrong: bool = False,
        source: str = "",
    ) -> Label:
        """As `label`, but names the item, whether or not a judge has decided on it."""
        with self._database.write(of_person(person)) as session:
            trial_row(session, trial_id)
            return add_label(
                session,
                trial_id,
                item,
                person,
                value,
                verdict_id=_newest_verdict(session, trial_id, item),
                comment=comment,
                seconds=seconds,
                gold_wrong=gold_wrong,
                source=source,
            )

    def enter(self, labels: Sequence[OutsideLabel], *, dry: bool = False) -> int:
        """Add labels read from files, all or none; gives how many were new. With `dry` nothing is added."""
        with self._database.write(*(of_person(each.person) for each in labels)) as session:
            added = enter_labels(session, labels)
            if dry:
                session.rollback()
            return added

    def note_reveal(self, trial_id: int, item: Item, person: str) -> None:
        """Record that `person` has seen the decisions on the item. Raises `NotFound`, and `NotAllowed` if not labelled."""
        with self._database.write(of_person(person)) as session:
            trial_row(session, trial_id)
            _check_labelled(session, trial_id, item.key, person)
            note_reveal(session, trial_id, item, person)

    def note_reveals(self, items: Iterable[tuple[int, Item]], person: str) -> None:
        """Record that `person` has seen the decisions on these items, labelled or not: their later labels on them get
        the phase `revealed`.
        """
        rest = iter(items)
        if (first := next(rest, None)) is not None:
            with self._database.write(of_person(person)) as session:
                note_reveals(session, chain((first,), rest), person)

    def labels(
        self, run_id: int | None = None, trial_id: int | None = None, phase: Phase = "blind"
    ) -> list[Label]:
        """The newest label of each person in a phase on the item of each verdict that counts, by verdict and person,
        for statistics. A label on an item that several judges decided on stands there once for each of them.
        """
        with self._database.read() as session:
            return newest_labels(session, current_judgements(run_id, trial_id), phase)

    def item_labels(
        self, trial_ids: Collection[int] | None = None, phase: Phase | None = "blind"
    ) -> list[Label]:
        """The newest label of each person in a phase (None: all labels ever given) on each item, by trial, item and
        person; of these trials or of all, whether or not a judge decided on the items.
        """
        query = select(LabelRow).order_by(
            col(LabelRow.trial_id), LabelRow.item_key, LabelRow.person, col(LabelRow.id)
        )
        if phase is not None:
            query = query.where(col(LabelRow.id).in_(newest_ids(phase)))
        if trial_ids is not None:
            query = query.where(col(LabelRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [label_of(row, row.verdict_id or 0) for row in session.exec(query)]

    def labelled_trials(self, run_ids: Collection[int]) -> frozenset[int]:
        """The trials of these runs on which somebody labelled anything."""
        query = (
            select(LabelRow.trial_id)
            .join(TrialRow, col(TrialRow.id) == LabelRow.trial_id)
            .where(col(TrialRow.run_id).in_(run_ids))
            .distinct()
        )
        with self._database.read() as session:
            return frozenset(session.exec(query))

    def labelled_records(self, run_ids: Collection[int] | None = None) -> list[VerdictRecord]:
        """As `records`, but only verdicts on labelled items, which is all that agreement needs."""
        labelled = (
            select(LabelRow.id)
            .where(
                LabelRow.trial_id == VerdictRow.trial_id, LabelRow.item_key == VerdictRow.item_key
            )
            .correlate(VerdictRow)
            .exists()
        )
        condition = col(VerdictRow.judgement_id).in_(current_judgements(None)) & labelled
        if run_ids is not None:
            trials = select(TrialRow.id).where(col(TrialRow.run_id).in_(run_ids))
            condition &= col(VerdictRow.trial_id).in_(trials)
        with self._database.read() as session:
            return load_records(session, condition)

    def history(self, verdict_id: int, person: str) -> list[Label]:
        """All labels of `person` on the verdict's item, oldest first. Raises `NotFound`."""
        with self._database.read() as session:
            row = verdict_row(session, verdict_id)
            return label_history(session, row.trial_id, row.item_key, person, verdict_id)

    def item_history(self, trial_id: int, item: Item, person: str) -> list[Label]:
        """All labels of `person` on an item, oldest first."""
        with self._database.read() as session:
            return label_history(session, trial_id, item.key, person)

    def reveal(self, verdict_id: int, person: str) -> VerdictRecord:
        """The verdict with its decision. Later labels of `person` on the item get the phase `revealed`. Raises
        `NotAllowed` until they have labelled the item.
        """
        with self._database.write(of_person(person)) as session:
            row = verdict_row(session, verdict_id)
            _check_labelled(session, row.trial_id, row.item_key, person)
            item = item_of(row.item_kind, row.item_index, row.item_column)
            note_reveal(session, row.trial_id, item, person)
            return load_records(session, VerdictRow.id == verdict_id)[0]

    def records(
        self, run_id: int | None = None, trial_id: int | None = None
    ) -> list[VerdictRecord]:
        """All verdicts that count, with their decisions: for statistics, not for labellers' screens."""
        with self._database.read() as session:
            return load_records(
                session, col(VerdictRow.judgement_id).in_(current_judgements(run_id, trial_id))
            )

    def progress(self, person: str) -> list[RunLabels]:
        """For each run with verdicts, newest first, how many items are labelled, in all and by `person`."""
        with self._database.read() as session:
            return label_counts(session, person, current_judgements(None))


def _check_labelled(session: Session, trial_id: int, item_key: str, person: str) -> None:
    if not label_history(session, trial_id, item_key, person):
        raise NotAllowed(
            _("Label this first"), _("A verdict is shown only to those who have labelled its item.")
        )


def _newest_verdict(session: Session, trial_id: int, item: Item) -> int | None:
    query = select(func.max(VerdictRow.id)).where(
        VerdictRow.trial_id == trial_id, VerdictRow.item_key == item.key
    )
    return session.exec(query).one()


def _unlabelled(person: str, run_id: int | None, trial_id: int | None) -> tuple[Any, ...]:
    """SQL conditions: the verdict counts, and `person` has not labelled its item. Probe runs only if named."""
    labelled = (
        select(LabelRow.id)
        .where(
            LabelRow.trial_id == VerdictRow.trial_id,
            LabelRow.item_key == VerdictRow.item_key,
            LabelRow.person == person,
        )
        .correlate(VerdictRow)
        .exists()
    )
    current = col(VerdictRow.judgement_id).in_(current_judgements(run_id, trial_id))
    if run_id is not None or trial_id is not None:
        return current, ~labelled
    probed = select(TrialRow.id).join(RunRow).where(RunRow.kind == "probe")
    return current, ~labelled, col(VerdictRow.trial_id).not_in(probed)


class Figures:
    """A cache of measures of judged trials. Whoever reads it must compare the `stamp`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_run(self, run_id: int, language: str) -> dict[int, KeptFigures]:
        """The cached measures of a run's trials with texts in `language`, by the judgement's id."""
        query = (
            select(
                TrialFiguresRow.judgement_id,
                TrialFiguresRow.trial_id,
                TrialFiguresRow.stamp,
                TrialFiguresRow.body,
            )
            .join(TrialRow, col(TrialRow.id) == TrialFiguresRow.trial_id)
            .where(TrialRow.run_id == run_id, TrialFiguresRow.language == language)
        )
        with self._database.read() as session:
            return {
                judgement: KeptFigures(judgement, trial, stamp, body)
                for judgement, trial, stamp, body in session.exec(query)
            }

    def keep(
        self, figures: Iterable[KeptFigures], language: str, *, patience: float | None = None
    ) -> None:
        """Cache these measures, in place of those of the same judgements. `patience` in seconds: see `Database.write`."""
        rows = [{**each._asdict(), "language": language} for each in figures]
        if not rows:
            return
        rows.sort(key=lambda row: row["judgement_id"])  # Two who keep the same wait in one order.
        with self._database.append(patience=patience) as session:
            connection = session.connection()
            add = insert_of(connection.dialect.name, metadata.tables["trialfigures"])
            new = {"stamp": add.excluded.stamp, "body": add.excluded.body}
            connection.execute(
                add.on_conflict_do_update(index_elements=["judgement_id", "language"], set_=new),
                rows,
            )
