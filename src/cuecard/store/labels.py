"""People's labels on items of trials, given here or imported; counts of them by run; bookmarks and comments."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any
from uuid import uuid4

from sqlalchemy import TextClause, and_, bindparam, insert, text
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, func, select

from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.errors import NotAllowed, NotFound
from cuecard.core.i18n import _
from cuecard.core.label_records import Label, LabelValue, Phase, RunLabels
from cuecard.core.records import PLACED, NoteKind, TrialNote
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Item
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person
from cuecard.store.rows import trial_row
from cuecard.store.task_tables import UtcDateTime, clean
from cuecard.store.trial_tables import (
    JudgementRow,
    LabelRow,
    RevealRow,
    RunRow,
    TrialNoteRow,
    TrialRow,
    VerdictRow,
)

_AT_ONCE = 10_000
_IS_EXAM = and_(col(RunRow.kind) == "probe", col(RunRow.plan).contains('"exam":{'))
"""See `RunRecord.is_exam`."""


def _reveals(pairs: str) -> TextClause:
    adding = f"""
        INSERT INTO reveal (trial_id, item_key, person, at)
        SELECT CAST(trial.key AS INTEGER), item.value, CAST(:person AS TEXT), :at FROM {pairs}
        WHERE true ON CONFLICT DO NOTHING"""
    return text(adding).bindparams(bindparam("at", type_=UtcDateTime))


# A person may see very many at once; as one text they cost a tenth of what they do as rows.
_REVEALS = {
    "sqlite": _reveals("json_each(:told) AS trial, json_each(trial.value) AS item"),
    "postgresql": _reveals(
        "json_each(CAST(:told AS JSON)) AS trial,"
        " json_array_elements_text(trial.value) AS item (value)"
    ),
}


def add_label(
    session: Session,
    trial_id: int,
    item: Item,
    person: str,
    value: LabelValue | CheckpointStatus,
    *,
    verdict_id: int | None = None,
    comment: str = "",
    seconds: float = 0,
    gold_wrong: bool = False,
    source: str = "",
) -> Label:
    """Insert a label. Its phase is `revealed` if the person has seen others' decisions on the item, else `blind`."""
    name = ensure_person(session, person).name
    seen = session.get(RevealRow, (trial_id, item.key, name)) is not None
    row = LabelRow(
        verdict_id=verdict_id,
        trial_id=trial_id,
        item_key=item.key,
        person=name,
        value=value.value,
        comment=comment,
        created_at=datetime.now(UTC),
        phase="revealed" if seen else "blind",
        seconds=max(seconds, 0),
        gold_wrong=gold_wrong,
        source=source,
    )
    session.add(row)
    session.flush()
    return label_of(row, verdict_id or 0)


def note_reveal(session: Session, trial_id: int, item: Item, person: str) -> None:
    """Record that `person` has seen the decisions on the item; only the first time is kept."""
    name = ensure_person(session, person).name
    if session.get(RevealRow, (trial_id, item.key, name)) is None:
        now = datetime.now(UTC)
        session.add(RevealRow(trial_id=trial_id, item_key=item.key, person=name, at=now))


def note_reveals(session: Session, items: Iterable[tuple[int, Item]], person: str) -> None:
    """As `note_reveal`, for any number of items."""
    name, now = ensure_person(session, person).name, datetime.now(UTC)
    session.flush()
    connection, rest = session.connection(), iter(items)
    adding = _REVEALS[connection.dialect.name]
    while some := list(islice(rest, _AT_ONCE)):
        told: defaultdict[int, list[str]] = defaultdict(list)
        for trial_id, item in some:
            told[trial_id].append(clean(item.key))
        connection.execute(adding, {"told": json.dumps(told), "person": name, "at": now})


def label_history(
    session: Session, trial_id: int, item_key: str, person: str, verdict_id: int = 0
) -> list[Label]:
    """All labels of `person` on the item, oldest first."""
    query = (
        select(LabelRow)
        .where(
            LabelRow.trial_id == trial_id, LabelRow.item_key == item_key, LabelRow.person == person
        )
        .order_by(col(LabelRow.created_at), col(LabelRow.id))
    )
    return [label_of(row, row.verdict_id or verdict_id) for row in session.exec(query)]


def newest_labels(session: Session, judgements: Any, phase: Phase = "blind") -> list[Label]:
    """Each person's newest label of this phase on each item that these judgements have a verdict on."""
    same_item = (col(VerdictRow.trial_id) == LabelRow.trial_id) & (
        col(VerdictRow.item_key) == LabelRow.item_key
    )
    query = (
        select(LabelRow, VerdictRow.id)
        .join(VerdictRow, same_item)
        .where(
            col(VerdictRow.judgement_id).in_(judgements), col(LabelRow.id).in_(newest_ids(phase))
        )
        .order_by(col(VerdictRow.id), LabelRow.person)
    )
    return [label_of(row, verdict_id or 0) for row, verdict_id in session.exec(query)]


def newest_ids(phase: Phase = "blind") -> Any:
    """A query for the id of each person's newest label of this phase on each item."""
    # By time, not by number: labels that were given elsewhere may come in later than newer ones.
    turn = func.row_number().over(
        partition_by=[col(LabelRow.trial_id), LabelRow.item_key, LabelRow.person],
        order_by=[col(LabelRow.created_at).desc(), col(LabelRow.id).desc()],
    )
    ordered = (
        select_columns(col(LabelRow.id), turn.label("turn"))
        .where(col(LabelRow.phase) == phase)
        .subquery()
    )
    return select(ordered.c.id).where(ordered.c.turn == 1)


def label_of(row: LabelRow, verdict_id: int) -> Label:
    return Label.from_fields(row, verdict_id=verdict_id)


Key = tuple[int, str, str]
"""Trial, item, person."""


class OutsideLabel(Frozen):
    """A label read from a file. `at` None: the file does not say when it was given. `phase` None: it does not say
    whether the person had seen others' decisions; then the reveals recorded in this workspace decide.
    """

    trial_id: int
    item: Item
    person: str
    value: LabelValue | CheckpointStatus
    comment: str = ""
    seconds: float = 0
    gold_wrong: bool = False
    phase: Phase | None = None
    at: datetime | None = None
    source: str = ""


def enter_labels(session: Session, labels: Sequence[OutsideLabel]) -> int:
    """Add the labels that are new, in their order; gives how many were.

    A label with a time is known if its person gave the same label at that time. One without is known if it equals the
    person's newest label on the item, or their newest from a file of that name: reading a file twice adds nothing, even
    if they changed their mind in between.
    """
    trials = {label.trial_id for label in labels}
    for person in sorted({label.person for label in labels}):
        ensure_person(session, person)
    history, seen = _history(session, trials), _seen(session, trials)
    verdicts = _verdicts(session, trials)
    now = datetime.now(UTC)
    rows: list[dict[str, Any]] = []
    for label in labels:
        key = (label.trial_id, label.item.key, label.person)
        said = history[key]
        if _known(label, said):
            continue
        # Two of one file that tell no time keep their order.
        at = label.at or max([now, *(row["created_at"] + _TICK for row in said[-1:])])
        if label.phase == "revealed" and (key not in seen or at < seen[key]):
            seen[key] = at
            _note(session, key, at)
        revealed = key in seen and seen[key] <= at
        row: dict[str, Any] = {
            "verdict_id": verdicts.get((label.trial_id, label.item.key)),
            "trial_id": label.trial_id,
            "item_key": label.item.key,
            "person": label.person,
            "value": label.value.value,
            "comment": clean(label.comment),
            "created_at": at,
            "phase": "revealed" if revealed else "blind",
            "seconds": label.seconds,
            "gold_wrong": label.gold_wrong,
            "source": clean(label.source),
        }
        said.append(row)
        said.sort(key=lambda known: known["created_at"])
        rows.append(row)
    if rows:
        session.flush()
        session.connection().execute(insert(LabelRow), rows)
    return len(rows)


_TICK = timedelta(microseconds=1)


def _known(label: OutsideLabel, said: Sequence[dict[str, Any]]) -> bool:
    def same(row: dict[str, Any]) -> bool:
        given = (label.value.value, clean(label.comment), label.gold_wrong)
        return given == (row["value"], row["comment"], row["gold_wrong"])

    if label.at is not None:
        return any(same(row) and row["created_at"] == label.at for row in said)
    of_file = [row for row in said if row["source"] == clean(label.source)]
    return any(same(row) for row in (*said[-1:], *of_file[-1:]))


def _history(session: Session, trials: Collection[int]) -> defaultdict[Key, list[dict[str, Any]]]:
    query = (
        select(LabelRow)
        .where(col(LabelRow.trial_id).in_(trials))
        .order_by(col(LabelRow.created_at), col(LabelRow.id))
    )
    found: defaultdict[Key, list[dict[str, Any]]] = defaultdict(list)
    for row in session.exec(query):
        found[row.trial_id, row.item_key, row.person].append(row.model_dump())
    return found


def _seen(session: Session, trials: Collection[int]) -> dict[Key, datetime]:
    query = select(RevealRow).where(col(RevealRow.trial_id).in_(trials))
    return {(row.trial_id, row.item_key, row.person): row.at for row in session.exec(query)}


def _note(session: Session, key: Key, at: datetime) -> None:
    """Reveals are append-only: the first that was recorded stays."""
    if session.get(RevealRow, key) is None:
        trial_id, item_key, person = key
        session.add(RevealRow(trial_id=trial_id, item_key=item_key, person=person, at=at))
        session.flush()


def _verdicts(session: Session, trials: Collection[int]) -> dict[tuple[int, str], int]:
    """By trial and item, the newest verdict on it."""
    query = (
        select(VerdictRow.trial_id, VerdictRow.item_key, func.max(VerdictRow.id))
        .where(col(VerdictRow.trial_id).in_(trials))
        .group_by(col(VerdictRow.trial_id), VerdictRow.item_key)
    )
    return {(trial, item): id_ or 0 for trial, item, id_ in session.exec(query)}


def label_counts(session: Session, person: str, judgements: Any) -> list[RunLabels]:
    """The counts of labels for each run that has verdicts among `judgements`, newest run first; exams of judges have none."""
    judged = (
        select(TrialRow.run_id, VerdictRow.trial_id, VerdictRow.item_key)
        .join(VerdictRow, col(VerdictRow.trial_id) == TrialRow.id)
        .where(col(VerdictRow.judgement_id).in_(judgements))
        .distinct()
    ).subquery()
    items = dict(
        session.exec(select(judged.c.run_id, func.count()).group_by(judged.c.run_id)).all()
    )
    labels: dict[int, int] = defaultdict(int)
    mine: dict[int, int] = defaultdict(int)
    labelled = (
        select(TrialRow.run_id, LabelRow.person, LabelRow.trial_id, LabelRow.item_key)
        .join(TrialRow, col(LabelRow.trial_id) == TrialRow.id)
        .distinct()
    ).subquery()
    for run_id, who, count in session.exec(
        select(labelled.c.run_id, labelled.c.person, func.count()).group_by(
            labelled.c.run_id, labelled.c.person
        )
    ):
        labels[run_id] += count
        if who == person:
            mine[run_id] = count
    judges: dict[int, list[str]] = defaultdict(list)
    judging = (
        select(TrialRow.run_id, JudgementRow.judge_name)
        .join(TrialRow, col(JudgementRow.trial_id) == TrialRow.id)
        .distinct()
    )
    for run_id, judge in sorted(session.exec(judging)):
        judges[run_id].append(judge)
    runs = session.exec(
        select(RunRow).where(col(RunRow.id).in_(items), ~_IS_EXAM).order_by(col(RunRow.id).desc())
    )
    return [
        RunLabels(
            run_id=run.id or 0,
            name=run.name,
            judges=tuple(judges[run.id or 0]),
            verdicts=items[run.id or 0],
            mine=mine[run.id or 0],
            labels=labels[run.id or 0],
        )
        for run in runs
    ]


_TAKEN_BACK = "taken_back"


class TrialNotes:
    """Bookmarks and comments at places of trials, and whose fault failed ones are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        trial_id: int,
        person: str,
        kind: NoteKind,
        place: str,
        text: str = "",
        uid: str = "",
    ) -> TrialNote:
        """Add a note at `place`, such as `turn/3` (see `core.records.TrialNote`); one with the same `uid` is added once.
        Raises `NotFound` for an unknown trial.
        """
        with self._database.append() as session:
            trial_row(session, trial_id)
            if uid and (there := session.get(TrialNoteRow, uid)):
                return _trial_notes_note(there)
            row = TrialNoteRow(
                uid=uid or uuid4().hex,
                trial_id=trial_id,
                person=ensure_person(session, person).name,
                kind=kind,
                place=place,
                text=text,
                at=datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _trial_notes_note(row)

    def take_back(self, uid: str, person: str) -> None:
        """Remove one's own note, if it is there yet. Raises `NotFound`; `NotAllowed` for another person's note."""
        with self._database.append() as session:
            row = session.get(TrialNoteRow, uid)
            if row is None:
                raise NotFound(_("Note not found"), _("It is not in this workspace."))
            if row.person != person.strip():
                raise NotAllowed(
                    _("This note is somebody else's"),
                    _("Only {name} can take it back.").format(name=row.person),
                )
            session.add(
                TrialNoteRow(
                    uid=uuid4().hex,
                    trial_id=row.trial_id,
                    person=row.person,
                    kind=_TAKEN_BACK,
                    place=row.place,
                    text="",
                    about=uid,
                    at=datetime.now(UTC),
                )
            )

    def of(
        self, trial_ids: Collection[int] | None = None, kinds: Collection[NoteKind] = PLACED
    ) -> list[TrialNote]:
        """The notes of these kinds that were not taken back, oldest first; of these trials, or of all."""
        conditions: list[Any] = [col(TrialNoteRow.kind).in_((*kinds, _TAKEN_BACK))]
        if trial_ids is not None:
            conditions.append(col(TrialNoteRow.trial_id).in_(trial_ids))
        query = (
            select(TrialNoteRow)
            .where(*conditions)
            .order_by(col(TrialNoteRow.at), col(TrialNoteRow.uid))
        )
        with self._database.read() as session:
            rows = session.exec(query).all()
            # A bundle may say anything, but nobody takes back what another has noted.
            gone = {(row.about, row.person) for row in rows if row.kind == _TAKEN_BACK}
            standing = [row for row in rows if row.kind != _TAKEN_BACK]
            return [_trial_notes_note(row) for row in standing if (row.uid, row.person) not in gone]


def _trial_notes_note(row: TrialNoteRow) -> TrialNote:
    return TrialNote.model_validate(row.model_dump(exclude={"about"}))
