"""Labelling sets (items drawn to be labelled by people) with their progress, and adjudications of disputed items."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from pydantic import JsonValue
from sqlalchemy import BigInteger, case, column, insert, literal, table
from sqlalchemy import select as select_columns
from sqlmodel import Session, and_, col, func, not_, or_, select, tuple_

from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import NotFound
from cuecard.core.i18n import _, listed
from cuecard.core.label_records import (
    Adjudication,
    Cause,
    LabelSet,
    LabelValue,
    SetItem,
    SetParts,
    SetProgress,
)
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.codec import to_json
from cuecard.store.contributions import same_item, waits_for
from cuecard.store.engine import Database
from cuecard.store.judgements import PRIME, number_from
from cuecard.store.labels import note_reveal
from cuecard.store.roles import ensure_person, of_person, shown
from cuecard.store.rows import trial_row
from cuecard.store.trial_tables import (
    AdjudicationRow,
    LabelRow,
    LabelSetRow,
    RevealRow,
    RunRow,
    SetItemRow,
    TrialRow,
)

_CELL = (
    col(TrialRow.task_id),
    col(TrialRow.agent),
    col(TrialRow.user),
    col(TrialRow.world),
    col(TrialRow.sample),
    col(TrialRow.seed),
)
_PLAN = col(RunRow.plan)
_IS_COPY = (
    col(RunRow.kind) == "grid",
    or_(
        and_(_PLAN.contains('"rescored"'), not_(_PLAN.contains('"rescored":""'))),
        and_(_PLAN.contains('"replay"'), not_(_PLAN.contains('"replay":null'))),
    ),
)
"""Runs that may be one; what their plan says is read."""
_STRIDE = 7919
"""Positions are spread by this prime before a person's own factor permutes them."""


class LabelSets:
    """Labelling sets: samples of items with known probabilities of being drawn."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(
        self,
        *,
        name: str,
        created_by: str,
        items: Sequence[SetItem],
        plan: Mapping[str, JsonValue] | None = None,
    ) -> LabelSet:
        """Save a set as it was drawn; it never changes afterwards."""
        with self._database.append() as session:
            row = LabelSetRow(
                uid=uuid4().hex,
                name=name,
                created_by=ensure_person(session, created_by).name,
                created_at=datetime.now(UTC),
                plan=to_json(dict(plan or {})).decode(),
            )
            session.add(row)
            session.flush()
            rows = [
                {
                    "set_id": row.id,
                    "position": position,
                    "trial_id": item.trial_id,
                    "item_key": item.item.key,
                    "stratum": item.stratum,
                    "probability": item.probability,
                    "raters": item.raters,
                    "people": json.dumps(item.people, ensure_ascii=False),
                }
                for position, item in enumerate(items)
            ]
            if rows:
                session.connection().execute(insert(SetItemRow), rows)
            return _set(row, len(rows))

    def all(self) -> list[LabelSet]:
        """Every set, the newest first."""
        count = (
            select(func.count())
            .select_from(SetItemRow)
            .where(SetItemRow.set_id == LabelSetRow.id)
            .correlate(LabelSetRow)
            .scalar_subquery()
        )
        query = select(LabelSetRow, count).order_by(col(LabelSetRow.id).desc())
        with self._database.read() as session:
            return [_set(row, items) for row, items in session.exec(query)]

    def get(self, set_id: int) -> LabelSet:
        """One set. Raises `NotFound`."""
        with self._database.read() as session:
            row = _row(session, set_id)
            count = select(func.count()).select_from(SetItemRow).where(SetItemRow.set_id == set_id)
            return _set(row, session.exec(count).one())

    def items(self, set_id: int) -> list[SetItem]:
        """The items in the order in which they were drawn. Raises `NotFound`."""
        with self._database.read() as session:
            _row(session, set_id)
            row = shown(session, SetItemRow, "setitemlog")
            query = select(row).where(row.set_id == set_id).order_by(row.position)
            return [_item(row) for row in session.exec(query)]

    def chances(self, set_id: int) -> dict[tuple[int, str], float]:
        """The chance with which each item was drawn, by trial and key. Raises `NotFound`."""
        with self._database.read() as session:
            _row(session, set_id)
            row = shown(session, SetItemRow, "setitemlog")
            query = select(row.trial_id, row.item_key, row.probability).where(row.set_id == set_id)
            return {(trial, key): chance for trial, key, chance in session.exec(query)}

    def queue(self, set_id: int, person: str, *, limit: int = 200) -> list[SetItem]:
        """The next items for `person`: they have no label on them, and either the items are assigned to them, or to
        nobody and lack labels. The order is pseudo-random and differs between people. Raises `NotFound`.
        """
        factor = literal(number_from(person) or 1, BigInteger)
        turn = (
            (col(SetItemRow.position) + 1) * literal(_STRIDE, BigInteger) % PRIME * factor % PRIME
        )
        query = (
            select(SetItemRow.position)
            .where(SetItemRow.set_id == set_id, *waits_for(person))
            .order_by(turn, col(SetItemRow.position))
            .limit(limit)
        )
        with self._database.read() as session:
            _row(session, set_id)
            places = session.exec(query).all()
            row = shown(session, SetItemRow, "setitemlog")
            chosen = select(row).where(row.set_id == set_id, row.position.in_(places))
            found = {each.position: _item(each) for each in session.exec(chosen)}
        return [found[place] for place in places]

    def waiting(self, person: str, trial_id: int) -> list[Item]:
        """The items of a trial that `person` is to label in any set, each once: see `queue`."""
        query = (
            select(SetItemRow.item_key)
            .where(SetItemRow.trial_id == trial_id, *waits_for(person))
            .distinct()
        )
        with self._database.read() as session:
            return [Item.of_key(key) for key in sorted(session.exec(query))]

    def waiting_everywhere(self, person: str) -> frozenset[tuple[int, str]]:
        """Trial and key of every item that `person` is to label in any set, and of the same items of copies of its trial: of a
        run that was rescored or replayed, and of what came of it.
        """
        query = select(SetItemRow.trial_id, SetItemRow.item_key).where(*waits_for(person))
        with self._database.read() as session:
            waiting = set(session.exec(query))
            return frozenset(waiting | _of_copies(session, waiting))

    def left(self, person: str) -> dict[int, int]:
        """How many items wait for this person, by the id of each set in which any does."""
        query = select(SetItemRow.set_id, func.count()).where(*waits_for(person))
        with self._database.read() as session:
            return dict(session.exec(query.group_by(col(SetItemRow.set_id))).all())

    def parts(self) -> dict[int, SetParts]:
        """Progress of each set by person and by stratum, the largest strata first, by the id of the set."""
        label = col(LabelRow.person)
        by_person = select(SetItemRow.set_id, label, func.count(func.distinct(SetItemRow.position)))
        by_person = by_person.select_from(SetItemRow).join(LabelRow, same_item())
        by_person = by_person.group_by(col(SetItemRow.set_id), label).order_by(label)
        people = func.count(func.distinct(label))
        given: defaultdict[int, dict[str, int]] = defaultdict(dict)
        strata: defaultdict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
        with self._database.read() as session:
            for set_id, person, n in session.exec(by_person):
                given[set_id][person] = n
            row = shown(session, SetItemRow, "setitemlog")
            items = select(row.set_id, row.stratum, row.raters, people).select_from(row)
            items = items.outerjoin(LabelRow, same_item(row))
            items = items.group_by(row.set_id, row.position, row.stratum, row.raters)
            for set_id, stratum, raters, n in session.exec(items):
                all_, done = strata[set_id].get(stratum, (0, 0))
                strata[set_id][stratum] = (all_ + 1, done + (n >= raters))
        return {
            set_id: SetParts(
                people=given[set_id],
                strata=dict(sorted(found.items(), key=lambda part: (-part[1][0], part[0]))),
            )
            for set_id, found in strata.items()
        }

    def progress(self, person: str) -> dict[int, SetProgress]:
        """How many labels each set has and needs, and what `person` did and has left, by the id of the set."""
        set_id, position, label = col(SetItemRow.set_id), col(SetItemRow.position), LabelRow
        if self._database.is_sqlite:
            labelled = select(set_id, position, label.person).join(label, same_item()).distinct()
            each = labelled.subquery()
            given = select(each.c.set_id, each.c.position, func.count().label("n"))
            given = given.group_by(each.c.set_id, each.c.position).subquery()
        else:  # It also counts labels that must not be seen.
            counts = table(
                "labelledcount", column("trial_id"), column("item_key"), column("people")
            )
            same = and_(
                counts.c.trial_id == SetItemRow.trial_id, counts.c.item_key == SetItemRow.item_key
            )
            given = select(set_id, position, counts.c.people.label("n")).join(counts, same)
            given = given.subquery()
        raters, timed = col(SetItemRow.raters), col(label.seconds) > 0
        # More labels of an item than were asked for do not make up for others.
        counted = case((given.c.n < raters, given.c.n), (given.c.n.is_not(None), raters), else_=0)
        this = and_(given.c.set_id == set_id, given.c.position == position)
        totals = select(set_id, func.count(), func.sum(raters), func.sum(counted))
        totals = totals.select_from(SetItemRow).outerjoin(given, this).group_by(set_id)
        own = select(
            set_id,
            func.count(func.distinct(position)),
            func.sum(case((timed, label.seconds), else_=0.0)),
            func.sum(case((timed, 1), else_=0)),
        )
        own = own.join(label, same_item()).where(label.person == person).group_by(set_id)
        with self._database.read() as session:
            mine = {each[0]: each[1:] for each in session.exec(own)}
            left = self.left(person)
            found: dict[int, SetProgress] = {}
            for id_, items, wanted, n in session.exec(totals):
                done, seconds, times = mine.get(id_, (0, 0.0, 0))
                found[id_] = SetProgress(
                    items=items,
                    wanted=int(wanted),
                    given=int(n),
                    mine=done,
                    left=left.get(id_, 0),
                    seconds=float(seconds),
                    timed=int(times),
                )
        return found


def _row(session: Session, set_id: int) -> LabelSetRow:
    row = session.get(LabelSetRow, set_id)
    if row is None:
        names = listed(map(str, session.exec(select(LabelSetRow.id))))
        hint = _("There are: {names}.").format(names=names) if names else ""
        raise NotFound(
            _("There is no such labelling set"),
            str(set_id),
            hint or _("`cuecard sample` draws one."),
        )
    return row


def _set(row: LabelSetRow, items: int) -> LabelSet:
    return LabelSet.from_fields(row, items=items, plan=json.loads(row.plan))


def _item(row: SetItemRow) -> SetItem:
    people = tuple(json.loads(row.people))
    return SetItem.from_fields(row, item=Item.of_key(row.item_key), people=people)


class GoldDispute(Frozen):
    """An item of a trial whose gold an adjudicator found wrong, and the revision of the task that has this gold."""

    task_id: str
    revision: int
    trial_id: int
    item_key: str


class Adjudications:
    """Decisions on disputed items. All are kept; the newest on an item counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        trial_id: int,
        item: Item,
        by: str,
        value: LabelValue | CheckpointStatus,
        cause: Cause | Literal[""] = "",
        comment: str = "",
    ) -> Adjudication:
        """Decide on an item; earlier decisions stay in the history. Raises `NotFound`."""
        with self._database.append() as session:
            trial_row(session, trial_id)
            row = AdjudicationRow(
                trial_id=trial_id,
                item_key=item.key,
                by=ensure_person(session, by).name,
                value=value.value,
                cause=cause,
                comment=comment,
                at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _record(row)

    def open(self, trial_id: int, item: Item, by: str) -> list[Adjudication]:
        """All decisions on an item, oldest first, to be shown to the adjudicator `by`. From now on labels of `by` on
        the item count as `revealed`. Raises `NotFound`.
        """
        with self._database.write(of_person(by)) as session:
            trial_row(session, trial_id)
            note_reveal(session, trial_id, item, by)
        return self.history(trial_id, item)

    def seen(self, by: str) -> frozenset[tuple[int, str]]:
        """The items (trial id, item key) on which `by` has seen the decisions of others."""
        query = select(RevealRow.trial_id, RevealRow.item_key).where(RevealRow.person == by)
        with self._database.read() as session:
            return frozenset(session.exec(query).all())

    def newest(self, trial_ids: Collection[int] | None = None) -> list[Adjudication]:
        """The decision that counts on each item, in the order of trial and item; of these trials, or of all."""
        query = (
            select(AdjudicationRow)
            .where(col(AdjudicationRow.id).in_(_newest_ids()))
            .order_by(col(AdjudicationRow.trial_id), AdjudicationRow.item_key)
        )
        if trial_ids is not None:
            query = query.where(col(AdjudicationRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]

    def gold_wrong(self) -> list[GoldDispute]:
        """Every item whose newest adjudication says that its gold is wrong."""
        query = (
            select(AdjudicationRow, TrialRow)
            .join(TrialRow, col(TrialRow.id) == AdjudicationRow.trial_id)
            .where(_of_wrong_gold())
            .order_by(TrialRow.task_id, col(TrialRow.revision), col(AdjudicationRow.id))
        )
        with self._database.read() as session:
            return [
                GoldDispute(
                    task_id=trial.task_id,
                    revision=trial.revision,
                    trial_id=row.trial_id,
                    item_key=row.item_key,
                )
                for row, trial in session.exec(query)
            ]

    def runs_on_disputed(self) -> dict[tuple[str, int], frozenset[int]]:
        """The ids of runs with trials on a revision some gold of which was found wrong, by task id and revision."""
        disputed = (
            select(TrialRow.task_id, TrialRow.revision)
            .join(AdjudicationRow, col(AdjudicationRow.trial_id) == TrialRow.id)
            .where(_of_wrong_gold())
        )
        query = (
            select(TrialRow.task_id, TrialRow.revision, TrialRow.run_id)
            .where(tuple_(col(TrialRow.task_id), col(TrialRow.revision)).in_(disputed))
            .distinct()
        )
        found: dict[tuple[str, int], frozenset[int]] = {}
        with self._database.read() as session:
            for task_id, revision, run_id in session.exec(query):
                version = (task_id, revision)
                found[version] = found.get(version, frozenset()) | {run_id}
        return found

    def history(self, trial_id: int, item: Item) -> list[Adjudication]:
        """All decisions on an item, oldest first."""
        query = (
            select(AdjudicationRow)
            .where(AdjudicationRow.trial_id == trial_id, AdjudicationRow.item_key == item.key)
            .order_by(col(AdjudicationRow.at), col(AdjudicationRow.id))
        )
        with self._database.read() as session:
            return [_record(row) for row in session.exec(query)]


def _newest_ids() -> Any:
    # By time, not by number: what was decided elsewhere may come in later than newer decisions.
    turn = func.row_number().over(
        partition_by=[col(AdjudicationRow.trial_id), AdjudicationRow.item_key],
        order_by=[col(AdjudicationRow.at).desc(), col(AdjudicationRow.id).desc()],
    )
    ordered = select_columns(col(AdjudicationRow.id), turn.label("turn")).subquery()
    return select(ordered.c.id).where(ordered.c.turn == 1)


def _of_wrong_gold() -> Any:
    return and_(
        col(AdjudicationRow.cause) == "gold_wrong", col(AdjudicationRow.id).in_(_newest_ids())
    )


def _record(row: AdjudicationRow) -> Adjudication:
    return Adjudication.from_fields(row)


def _of_copies(session: Session, items: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
    """The same items in other runs with copies of their trials."""
    if not items:
        return set()
    ids = dict(session.exec(select(RunRow.uid, RunRow.id)).all())
    origin: dict[int, int] = {}
    for uid, plan in session.exec(select(RunRow.uid, RunRow.plan).where(*_IS_COPY)):
        settings = json.loads(plan)
        if of := settings.get("replay") or ids.get(settings.get("rescored")):
            origin[ids[uid] or 0] = of

    def first(run_id: int) -> int:
        known: set[int] = set()  # A number from another workspace could lead back here.
        while run_id in origin and run_id not in known:
            known.add(run_id)
            run_id = origin[run_id]
        return run_id

    copied = {run_id: first(run_id) for run_id in {*origin, *origin.values()}}
    cells: dict[tuple[object, ...], list[int]] = {}
    cell_of: dict[int, tuple[object, ...]] = {}
    trials = select_columns(col(TrialRow.id), col(TrialRow.run_id), *_CELL)
    rows: Any = session.connection().execute(trials.where(col(TrialRow.run_id).in_(copied)))
    for id_, run_id, *cell in rows:
        cell_of[id_] = (copied[run_id], *cell)
        cells.setdefault(cell_of[id_], []).append(id_)
    return {(copy, key) for id_, key in items if id_ in cell_of for copy in cells[cell_of[id_]]}
