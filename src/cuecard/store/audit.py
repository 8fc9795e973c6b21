"""Holds everything that is stored against its name and against what it was counted from: `cuecard doctor --deep`."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Table, and_, select
from sqlalchemy.orm import aliased
from sqlmodel import Session, SQLModel, col
from sqlmodel import select as select_rows

from cuecard.core.contributions import contribution_uid, revision_uid
from cuecard.core.engine.events import Event, ModelReplied, TrialEnded
from cuecard.core.engine.messages import ModelReply
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, current_language, set_language
from cuecard.core.review import standing_of
from cuecard.core.tasks.base import Frozen
from cuecard.core.tasks.models import Task, content_hash
from cuecard.core.verdicts import Verdict
from cuecard.store.codec import (
    WINDOW,
    decompress,
    from_json,
    hash_of,
    present,
    read_payloads,
    unpack,
)
from cuecard.store.contributions import assemble, contribution_of, standing_values
from cuecard.store.copies import count_of, rows_of, unlimited
from cuecard.store.engine import Database
from cuecard.store.judgements import judgement_of, number_from, verdict_of
from cuecard.store.task_tables import (
    ContentRow,
    ContributionRow,
    RevisionRow,
    StandingRow,
    TaskRow,
    clean,
    in_utc,
    metadata,
)
from cuecard.store.tasks import load_revision
from cuecard.store.trial_logs import JUDGE, Line, Spent, effective, line_of, usage_sums
from cuecard.store.trial_tables import (
    AdjudicationRow,
    EventRow,
    JudgeCallRow,
    JudgementRow,
    LabelRow,
    PayloadRow,
    SessionFormRow,
    SetItemRow,
    TrialFiguresRow,
    TrialRow,
    UsageRow,
    VerdictRow,
)

Found = TypeVar("Found")
RowT = TypeVar("RowT", bound=SQLModel)
OnAudit = Callable[[str, int], None]
"""Called with the part that is read and how many rows of it were read so far."""
_MOST = 50
_AT_ONCE, _FEW = 1000, 50
_UNREADABLE = (ValueError, KeyError, TypeError, zlib.error, CuecardError)
_RESTORE = N_("Take it from a backup, or from a pack of somebody who has it whole.")
_COUNTED = N_("It is counted from what is whole: enter something there again, or take a backup.")
_KEPT = N_("Delete this row: it is only kept, and will be counted again.")


class Finding(Frozen):
    """What is wrong with the row `key` of a table, and what can be done."""

    table: str
    key: str
    problem: str
    hint: str


class Part(Frozen):
    """What was read. `found`: how many findings there are; `findings`: the first of them. `note`: what could not be checked."""

    name: str
    read: int
    found: int
    findings: tuple[Finding, ...]
    note: str = ""


class _Reading:
    def __init__(self, name: str, database: Database, told: OnAudit) -> None:
        self.name, self.database, self._told = name, database, told
        self.note = ""
        self.read = self.found = 0
        self.findings: list[Finding] = []

    def count(self, rows: int = 1) -> None:
        self.read += rows
        if self.read % _AT_ONCE < rows:
            self._told(self.name, self.read)

    def wrong(self, table: str, key: object, problem: str, hint: str = _RESTORE) -> None:
        self.found += 1
        if len(self.findings) < _MOST:
            named = (
                "/".join(map(str, cast(tuple[object, ...], key)))
                if isinstance(key, tuple)
                else str(key)
            )
            self.findings.append(
                Finding(table=table, key=named, problem=problem, hint=_(hint) if hint else "")
            )


def audit(database: Database, told: OnAudit) -> list[Part]:
    """Read everything, in constant memory and one snapshot a part. What cannot be read is a finding."""
    parts: list[Part] = []
    for name, check in _PARTS.items():
        reading = _Reading(name, database, told)
        try:
            with database.read() as session:
                unlimited(session.connection())
                check(session, reading)
        except CuecardError as error:
            reading.wrong("", "", f"{error.title}: {error.message}", error.hint)
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


def _pages(session: Session, part: _Reading) -> None:
    connection = session.connection()
    if part.database.is_sqlite:
        for (said,) in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})"):
            if said != "ok":
                part.wrong("", "", said, N_("Restore a backup, or try `sqlite3 FILE .recover`."))
        return
    if connection.exec_driver_sql("SHOW data_checksums").scalar_one() != "on":
        part.note = _("the server counts no checksums of pages (`pg_checksums --enable`)")
    for table in metadata.sorted_tables:
        for _row in rows_of(connection, table):
            part.count()


def _references(session: Session, part: _Reading) -> None:
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


def _tasks(session: Session, part: _Reading) -> None:
    connection = session.connection()
    for content in _stream(connection, metadata.tables["content"], ContentRow.hash):
        part.count()
        task = _readable(_task, content.body, content.packed)
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


def _check_task(session: Session, part: _Reading, task_id: str) -> None:
    nodes = _rows(session, RevisionRow, RevisionRow.task_id == task_id)
    nodes.sort(key=lambda node: node.number)
    uids = {node.number: node.uid for node in nodes}
    if [*uids] != list(range(1, len(nodes) + 1)):
        part.wrong("revision", task_id, _("numbers are missing among its revisions"))
    for node in nodes:
        part.count()
        parents = _readable(json.loads, node.parents)
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
            part.wrong("standing", key, _("is not what its reviews make of it"), _COUNTED)
    row = session.get_one(TaskRow, task_id)
    told = (row.head, row.state, row.priority, row.forks)
    if told != (standing.head, standing.state.value, standing.priority, len(standing.forks)):
        part.wrong("task", task_id, _("is not what its reviews make of it"), _COUNTED)


def _check_entry(part: _Reading, row: ContributionRow, revision: str) -> bool:
    entry = _readable(contribution_of, row)
    if entry is None:
        part.wrong("contribution", row.uid, _("cannot be read"))
        return False
    name = contribution_uid(entry.task_id, revision, entry.by, entry.at, entry.tick, entry.body)
    if name != row.uid or entry.body.kind != row.kind:
        part.wrong("contribution", row.uid, _("its signature is not that of what it says"))
        return False
    return True


def _payloads(session: Session, part: _Reading) -> None:
    connection = session.connection()
    base, dictionary = "", b""
    table = metadata.tables["payload"]
    for row in _stream(connection, table, PayloadRow.base, PayloadRow.hash):
        part.count()

        def content(row: Any = row) -> bytes:
            nonlocal base, dictionary
            if row.base and row.base != base:
                dictionary = read_payloads(connection, [row.base])[row.base][:WINDOW]
                base = row.base
            return decompress(row.data, dictionary) if row.base else zlib.decompress(row.data)

        found = _readable(content)
        if found is None:
            part.wrong("payload", row.hash, _("cannot be read"))
        elif (hash_of(found), len(found)) != (row.hash, row.size):
            part.wrong("payload", row.hash, _("its hash is not its name"))


def _trials(session: Session, part: _Reading) -> None:
    connection = session.connection()
    tables = metadata.tables
    events = _Groups(_stream(connection, tables["event"], EventRow.trial_id, EventRow.seq))
    calls = _Groups(_stream(connection, tables["judgecall"], JudgeCallRow.trial_id))
    used = _Groups(_stream(connection, tables["usage"], UsageRow.trial_id))
    judged = _Groups(_stream(connection, tables["judgement"], JudgementRow.trial_id))
    order = VerdictRow.trial_id, VerdictRow.judgement_id, VerdictRow.position
    verdicts = _Groups(_stream(connection, tables["verdict"], *order))
    figures = _Groups(_stream(connection, tables["trialfigures"], TrialFiguresRow.trial_id))
    asked: dict[str, tuple[int, int]] = {}

    @lru_cache(maxsize=64)
    def task_of(task_id: str, revision: int) -> Task:
        return load_revision(session, task_id, revision).task

    for trial in _stream(connection, tables["trial"], TrialRow.id):
        part.count()
        rows = events.of(trial.id)
        lines = _check_log(part, trial.id, rows)
        if whole := len(lines) == len(rows):
            _check_end(part, trial, lines)
            _check_usage(part, trial.id, lines, calls.of(trial.id), used.of(trial.id))
        for line in lines:
            asked |= dict.fromkeys(line.left_out, (trial.id, line.event.seq))
        if len(asked) >= _AT_ONCE:
            _check_contents(connection, part, asked)
        given = _check_verdicts(part, trial.id, judged.of(trial.id), verdicts.of(trial.id))
        if (kept := figures.of(trial.id)) and whole:
            told = [line.event for line in effective(lines)]
            task = _readable(task_of, trial.task_id, trial.revision)
            _check_figures(part, task, told, len(lines), given, kept)
    _check_contents(connection, part, asked)


def _check_log(part: _Reading, trial_id: int, rows: Sequence[Any]) -> list[Line]:
    """The events that can be read."""
    lines: list[Line] = []
    following = 0
    for row in rows:
        part.count()
        if row.seq != following:
            words = _("events {first} to {last} are missing")
            part.wrong("event", trial_id, words.format(first=following, last=row.seq - 1))
        following = row.seq + 1
        line = _readable(line_of, row.seq, row.take, row.at, row.body, row.packed)
        if line is None:
            part.wrong("event", (trial_id, row.seq), _("cannot be read"))
            continue
        if (row.key, row.type) != (clean(line.event.body.key), line.event.body.type):
            part.wrong("event", (trial_id, row.seq), _("is not of the kind or place that it says"))
        lines.append(line)
    return lines


def _check_end(part: _Reading, trial: Any, lines: Sequence[Line]) -> None:
    told: tuple[Any, ...] = None, "", None
    if lines and isinstance(end := lines[-1].event.body, TrialEnded):
        told = end.termination.value, clean(end.detail), in_utc(lines[-1].event.at)
    if told != (trial.termination, trial.detail, trial.ended_at and in_utc(trial.ended_at)):
        part.wrong("trial", trial.id, _("its end is not that of its log"), _COUNTED)


def _check_usage(
    part: _Reading, trial_id: int, lines: Sequence[Line], calls: list[Any], used: list[Any]
) -> None:
    spent: list[Spent] = [
        (trial_id, body.payer, body.model, body.reply)
        for line in lines
        if isinstance(body := line.event.body, ModelReplied)
    ]
    for call in calls:
        part.count()
        reply = _readable(_reply, call.body, call.packed)
        if reply is None:
            part.wrong(
                "judgecall", (trial_id, call.judge, call.attempt, call.key), _("cannot be read")
            )
            return
        spent.append((trial_id, JUDGE, call.model, reply))
    sums = usage_sums(spent)
    for row in used:
        key = trial_id, row.payer, row.model
        counted = sums.pop(key, None)
        if counted is None or not all(
            _near(row._mapping[name], value) for name, value in counted.items()
        ):
            part.wrong("usage", key, _("is not the sum of the calls in the log"), _COUNTED)
    for key in sums:
        part.wrong("usage", key, _("is missing: the log has such calls"), _COUNTED)


def _check_contents(
    connection: Connection, part: _Reading, asked: dict[str, tuple[int, int]]
) -> None:
    missing = asked.keys() - present(connection, list(asked))
    for digest in sorted(missing):
        part.wrong(
            "payload",
            digest,
            _("is missing: event {event} needs it").format(event="/".join(map(str, asked[digest]))),
        )
    asked.clear()


def _check_verdicts(
    part: _Reading, trial_id: int, judged: Sequence[Any], rows: Sequence[Any]
) -> dict[int, Any]:
    """The judgements that can be read, by id."""
    found: dict[int, Any] = {}
    by_judgement = {id: list(group) for id, group in groupby(rows, lambda row: row.judgement_id)}
    part.count(len(rows) + len(judged))
    for row in judged:
        mine = by_judgement.pop(row.id, [])
        if [each.position for each in mine] != list(range(len(mine))):
            part.wrong("judgement", row.id, _("verdicts are missing"))
            continue
        verdicts = _readable(_verdicts, mine)
        record = None if verdicts is None else _readable(judgement_of, row, verdicts)
        if verdicts is None or record is None:
            part.wrong("judgement", row.id, _("cannot be read"))
            continue
        found[row.id] = record.judgement
        for each, verdict in zip(mine, verdicts, strict=True):
            key = verdict.item.key
            if (each.item_key, each.shuffle) != (key, number_from(f"{trial_id}/{key}")):
                part.wrong("verdict", each.id, _("is not of the item that it says"))
    for id, strange in by_judgement.items():
        part.wrong(
            "verdict", strange[0].id, _("is of judgement {id} on another trial").format(id=id)
        )
    return found


def _check_figures(
    part: _Reading,
    task: Task | None,
    events: list[Event],
    count: int,
    judged: dict[int, Any],
    kept: Sequence[Any],
) -> None:
    from cuecard.core.evaluation.scores import stamp_of
    from cuecard.core.scoring.trial_score import figures_of

    for row in kept:
        part.count()
        # Others are counted again by whoever needs them.
        if row.stamp != stamp_of(count) or row.judgement_id not in judged or task is None:
            continue
        spoken = current_language()
        set_language(row.language)
        try:
            counted = figures_of(task, events, judged[row.judgement_id]).kept
        finally:
            set_language(spoken)
        if _rounded(row.body) != _rounded(counted):
            key = row.judgement_id, row.language
            part.wrong("trialfigures", key, _("is not what is counted anew"), _KEPT)


def _items(session: Session, part: _Reading) -> None:
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
        for found in session.connection().execute(query, execution_options={"yield_per": _AT_ONCE}):
            if found.item_key not in (_readable(of_gold, found.task_id, found.revision) or ()):
                key = tuple(found)[: len(keys)]
                words = _("its trial has no item {item}").format(item=found.item_key)
                part.wrong(table.__tablename__, key, words)
    for form in _stream(session.connection(), metadata.tables["sessionform"], SessionFormRow.id):
        part.count()
        if hashlib.sha256(form.questions.encode()).hexdigest()[:16] != form.form:
            part.wrong("sessionform", form.id, _("its hash is not its name"))


_PARTS: dict[str, Callable[[Session, _Reading], None]] = {
    "pages": _pages,
    "references": _references,
    "tasks": _tasks,
    "contents": _payloads,
    "trials": _trials,
    "items": _items,
}


class _Groups:
    """Rows that are sorted by trial, handed out trial by trial to who asks in that order."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._groups = groupby(rows, lambda row: row.trial_id)
        self._next = next(self._groups, None)

    def of(self, trial_id: int) -> list[Any]:
        while self._next is not None and self._next[0] < trial_id:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != trial_id:
            return []
        found = list(self._next[1])
        self._next = next(self._groups, None)
        return found


def _stream(connection: Connection, table: Table, *order: Any) -> Iterator[Any]:
    options = {"yield_per": _FEW if "data" in table.c else _AT_ONCE}
    return iter(connection.execute(select(table).order_by(*order), execution_options=options))


def _rows(session: Session, row: type[RowT], condition: Any) -> list[RowT]:
    return list(session.exec(select_rows(row).where(condition)))


def _task(body: str | None, packed: bytes | None) -> Task:
    return Task.model_validate_json(unpack(body, packed))


def _readable(read: Callable[..., Found], *given: Any) -> Found | None:
    try:
        return read(*given)
    except _UNREADABLE:
        return None


def _reply(body: str | None, packed: bytes | None) -> ModelReply:
    return ModelReply.model_validate(from_json(unpack(body, packed)))


def _verdicts(rows: Sequence[Any]) -> list[Verdict]:
    return [verdict_of(row) for row in rows]


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        # The order in which calls were added decides on the last digits.
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


def _rounded(figures: str) -> Any:
    lines = figures.split("\n")
    return [json.loads(line, parse_float=lambda text: f"{float(text):.9g}") for line in lines]
