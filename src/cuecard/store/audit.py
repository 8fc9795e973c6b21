"""Holds everything that is stored against its name and against what it was counted from: `cuecard doctor --deep`."""

import hashlib
import json
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import and_, select
from sqlalchemy.orm import aliased
from sqlmodel import Session, SQLModel, col
from sqlmodel import select as select_rows

from cuecard.core.contributions import contribution_uid, revision_uid
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, headed
from cuecard.core.review import standing_of
from cuecard.core.tasks.models import Task, content_hash
from cuecard.store.audit_findings import (
    AT_ONCE,
    COUNTED,
    MOST,
    OnAudit,
    Part,
    Reading,
    readable,
    stream,
)
from cuecard.store.audit_trials import check_trials
from cuecard.store.codec import WINDOW, decompress, hash_of, read_payloads, unpack
from cuecard.store.contributions import assemble, contribution_of, standing_values
from cuecard.store.copies import count_of, rows_of, unlimited
from cuecard.store.engine import Database
from cuecard.store.rows import load_revision
from cuecard.store.task_tables import (
    ContentRow,
    ContributionRow,
    RevisionRow,
    StandingRow,
    TaskRow,
    in_utc,
    metadata,
)
from cuecard.store.trial_tables import (
    AdjudicationRow,
    LabelRow,
    PayloadRow,
    SessionFormRow,
    SetItemRow,
    TrialRow,
    VerdictRow,
)

RowT = TypeVar("RowT", bound=SQLModel)


def audit(database: Database, told: OnAudit) -> list[Part]:
    """Read everything, in constant memory and one snapshot a part. What cannot be read is a finding."""
    parts: list[Part] = []
    for name, check in _PARTS.items():
        reading = Reading(name, database, told)
        try:
            with database.read() as session:
                unlimited(session.connection())
                check(session, reading)
        except CuecardError as error:
            reading.wrong("", "", headed(error.title, error.message), error.hint)
        parts.append(
            Part(
                name=name,
                read=reading.read,
                found=reading.found,
                findings=tuple(reading.findings),
                note=reading.note,
            )
        )
    return parts


def _pages(session: Session, part: Reading) -> None:
    connection = session.connection()
    if part.database.is_sqlite:
        for (said,) in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST})"):
            if said != "ok":
                part.wrong("", "", said, N_("Restore a backup, or try `sqlite3 FILE .recover`."))
        return
    if connection.exec_driver_sql("SHOW data_checksums").scalar_one() != "on":
        part.note = _("the server counts no checksums of pages (`pg_checksums --enable`)")
    for table in metadata.sorted_tables:
        for _row in rows_of(connection, table):
            part.count()


def _references(session: Session, part: Reading) -> None:
    connection = session.connection()
    for table in metadata.sorted_tables:
        for constraint in table.foreign_key_constraints:
            parent = constraint.referred_table.alias()
            pairs = [(each.parent, parent.c[each.column.name]) for each in constraint.elements]
            there = select(pairs[0][1]).where(*(mine == its for mine, its in pairs)).exists()
            given = and_(*(mine.is_not(None) for mine, _its in pairs))
            for row in connection.execute(select(*table.primary_key).where(given, ~there)):
                words = _("refers to a {table} that is not there")
                part.wrong(
                    table.name, tuple(row), words.format(table=constraint.referred_table.name)
                )


def _tasks(session: Session, part: Reading) -> None:
    connection = session.connection()
    for content in stream(connection, metadata.tables["content"], ContentRow.hash):
        part.count()
        task = readable(_task, content.body, content.packed)
        if task is None:
            part.wrong("content", content.hash, _("cannot be read"))
        elif content_hash(task) != content.hash:
            part.wrong("content", content.hash, _("its hash is not its name"))
    for row in _rows(session, ContributionRow, col(ContributionRow.task_id).is_(None)):
        part.count()
        _check_entry(part, row, "")
    for task_id in session.scalars(select(col(TaskRow.id)).order_by(col(TaskRow.id))).all():
        _check_task(session, part, task_id)
        session.expunge_all()


def _check_task(session: Session, part: Reading, task_id: str) -> None:
    nodes = _rows(session, RevisionRow, RevisionRow.task_id == task_id)
    nodes.sort(key=lambda node: node.number)
    uids = {node.number: node.uid for node in nodes}
    if [*uids] != list(range(1, len(nodes) + 1)):
        part.wrong("revision", task_id, _("numbers are missing among its revisions"))
    for node in nodes:
        part.count()
        parents = readable(json.loads, node.parents)
        if parents is None or revision_uid(task_id, node.hash, tuple(parents)) != node.uid:
            part.wrong("revision", (task_id, node.number), _("its hash is not its name"))
            return
    rows = _rows(session, ContributionRow, ContributionRow.task_id == task_id)
    part.count(len(rows))
    whole = [row for row in rows if _check_entry(part, row, uids.get(row.revision or 0, ""))]
    if len(whole) < len(rows) or not nodes:
        return
    standing = standing_of(assemble(session, nodes, whole)[task_id])
    found = [
        {**each.model_dump(), "submitted_at": each.submitted_at and in_utc(each.submitted_at)}
        for each in _rows(session, StandingRow, StandingRow.task_id == task_id)
    ]
    for each in standing_values(standing):
        if each not in found:
            key = task_id, each["number"]
            part.wrong("standing", key, _("is not what its reviews make of it"), COUNTED)
    row = session.get_one(TaskRow, task_id)
    told = (row.head, row.state, row.priority, row.forks)
    if told != (standing.head, standing.state.value, standing.priority, len(standing.forks)):
        part.wrong("task", task_id, _("is not what its reviews make of it"), COUNTED)


def _check_entry(part: Reading, row: ContributionRow, revision: str) -> bool:
    entry = readable(contribution_of, row)
    if entry is None:
        part.wrong("contribution", row.uid, _("cannot be read"))
        return False
    name = contribution_uid(entry.task_id, revision, entry.by, entry.at, entry.tick, entry.body)
    if name != row.uid or entry.body.kind != row.kind:
        part.wrong("contribution", row.uid, _("its signature is not that of what it says"))
        return False
    return True


def _payloads(session: Session, part: Reading) -> None:
    connection = session.connection()
    base, dictionary = "", b""
    table = metadata.tables["payload"]
    for row in stream(connection, table, PayloadRow.base, PayloadRow.hash):
        part.count()

        def content(row: Any = row) -> bytes:
            nonlocal base, dictionary
            if row.base and row.base != base:
                dictionary = read_payloads(connection, [row.base])[row.base][:WINDOW]
                base = row.base
            return decompress(row.data, dictionary) if row.base else zlib.decompress(row.data)

        found = readable(content)
        if found is None:
            part.wrong("payload", row.hash, _("cannot be read"))
        elif (hash_of(found), len(found)) != (row.hash, row.size):
            part.wrong("payload", row.hash, _("its hash is not its name"))


def _items(session: Session, part: Reading) -> None:
    """Whether what people were given to label, and labelled, is in the trial."""
    from cuecard.core.families.registry import family_of

    @lru_cache(maxsize=64)
    def of_gold(task_id: str, revision: int) -> frozenset[str]:
        gold = load_revision(session, task_id, revision).task
        return frozenset(v.item.key for v in family_of(gold).refuse(gold.gold, "")[0])

    verdict = aliased(VerdictRow)
    for row in (SetItemRow, LabelRow, AdjudicationRow):
        table: Any = row
        keys = metadata.tables[table.__tablename__].primary_key
        part.count(count_of(session.connection(), metadata.tables[table.__tablename__]))
        judged = select(col(verdict.id)).where(
            verdict.trial_id == table.trial_id, verdict.item_key == table.item_key
        )
        query = (
            select(*keys, table.item_key, col(TrialRow.task_id), col(TrialRow.revision))
            .join(TrialRow, col(TrialRow.id) == table.trial_id)
            .where(~judged.exists())
        )
        for found in session.connection().execute(query, execution_options={"yield_per": AT_ONCE}):
            if found.item_key not in (readable(of_gold, found.task_id, found.revision) or ()):
                key = tuple(found)[: len(keys)]
                words = _("its trial has no item {item}").format(item=found.item_key)
                part.wrong(table.__tablename__, key, words)
    for form in stream(session.connection(), metadata.tables["sessionform"], SessionFormRow.id):
        part.count()
        if hashlib.sha256(form.questions.encode()).hexdigest()[:16] != form.form:
            part.wrong("sessionform", form.id, _("its hash is not its name"))


_JSON = {
    "cosign": ("origins",),
    "draft": ("body", "origins"),
    "labelset": ("plan",),
    "reviewform": ("body",),
    "revision": ("origins",),
    "run": ("limits", "plan"),
    "seatmove": ("body",),
    "sessionform": ("questions", "answers"),
    "setitem": ("people",),
    "shadow": ("player", "reply", "calls"),
    "throwndraft": ("body", "origins"),
    "trial": ("agent", "user", "world"),
}
"""Columns that hold JSON, by table, beside those that other parts read whole."""


def _records(session: Session, part: Reading) -> None:
    for name, columns in _JSON.items():
        table = metadata.tables[name]
        for row in stream(session.connection(), table, *table.primary_key):
            part.count()
            for column in columns:
                packed = row.packed if column == "body" and "packed" in table.c else None
                if readable(_parsed, getattr(row, column), packed) is None:
                    key = tuple(getattr(row, each.name) for each in table.primary_key)
                    part.wrong(name, key, _("{column} cannot be read").format(column=column))


def _parsed(body: str | None, packed: bytes | None) -> tuple[object]:
    return (json.loads(unpack(body, packed)),)


_PARTS: dict[str, Callable[[Session, Reading], None]] = {
    "pages": _pages,
    "records": _records,
    "references": _references,
    "tasks": _tasks,
    "contents": _payloads,
    "trials": check_trials,
    "items": _items,
}


def _rows(session: Session, row: type[RowT], condition: Any) -> list[RowT]:
    return list(session.exec(select_rows(row).where(condition)))


def _task(body: str | None, packed: bytes | None) -> Task:
    return Task.model_validate_json(unpack(body, packed))
