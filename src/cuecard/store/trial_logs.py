"""Reads trials' logs, counts the usage of model calls, and keeps judges' replies and the texts of prompts."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, bindparam, case, or_, select
from sqlalchemy import cast as cast_sql
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.dml import Insert
from sqlmodel import Session, col, func
from sqlmodel import select as sqlmodel_select

from cuecard.core.engine.events import Event, TrialRetried, effective_log
from cuecard.core.engine.messages import ModelReply, Usage
from cuecard.core.engine.step_context import RecordedCall
from cuecard.core.errors import Conflict, NotFound
from cuecard.core.i18n import _, headed, listed
from cuecard.core.records import Outline, PromptUse, UsageRecord
from cuecard.core.worker_archive import Claim
from cuecard.store.codec import (
    PayloadCache,
    decode,
    decode_outline,
    dumped,
    from_json,
    hash_of,
    pack,
    read_payloads,
    unpack,
    write_payloads,
)
from cuecard.store.engine import Database
from cuecard.store.rows import check_fences, trial_missing
from cuecard.store.task_tables import add_new, clean, insert_of, metadata
from cuecard.store.trial_tables import EventRow, JudgeCallRow, TrialRow, UsageRow

_COLUMNS: tuple[Any, ...] = (
    col(EventRow.seq),
    col(EventRow.take),
    col(EventRow.at),
    col(EventRow.body),
    col(EventRow.packed),
)
_LOGS = (
    select(col(EventRow.trial_id), *_COLUMNS)
    .where(col(EventRow.trial_id).in_(bindparam("trials", expanding=True)))
    .order_by(col(EventRow.trial_id), col(EventRow.seq))
)
_ROWS = (
    select(*_COLUMNS)
    .where(col(EventRow.trial_id) == bindparam("trial"))
    .order_by(col(EventRow.seq))
)
_FIRST = _ROWS.where(col(EventRow.seq) < bindparam("upto"))
_TAKEN_BACK = (
    select(col(EventRow.seq))
    .where(
        col(EventRow.trial_id) == bindparam("trial"),
        or_(col(EventRow.take) > 0, col(EventRow.key) == TrialRetried(keep=True).key),
    )
    .limit(1)
)
_WORDS = _ROWS.where(col(EventRow.type).in_(("user_spoke", "agent_spoke", "trial_reopened")))
_CONCLUSIONS = _LOGS.where(col(EventRow.type).in_(("concluded", "trial_reopened")))
_ENDS = _LOGS.where(col(EventRow.type).in_(("concluded", "trial_ended", "trial_reopened")))
_SOME = _ROWS.where(col(EventRow.seq).in_(bindparam("seqs", expanding=True)))


class Line(NamedTuple):
    """A stored event with its large texts cut short, the JSON of its row, and the hashes of those texts."""

    event: Event
    body: bytes
    left_out: tuple[str, ...]


def read_lines(connection: Connection, trial_id: int) -> list[Line]:
    """All recorded events, those of earlier attempts included, with large texts cut short."""
    return [line_of(*row) for row in connection.execute(_ROWS, {"trial": trial_id})]


def read_logs(connection: Connection, trial_ids: Collection[int]) -> dict[int, list[Event]]:
    """All recorded events of these trials, by trial, with their large texts."""
    owners: list[int] = []
    lines: list[Line] = []
    for trial_id, *row in connection.execute(_LOGS, {"trials": list(trial_ids)}):
        owners.append(trial_id)
        lines.append(line_of(*row))
    found: defaultdict[int, list[Event]] = defaultdict(list)
    for trial_id, event in zip(owners, completed(connection, lines), strict=True):
        found[trial_id].append(event)
    return found


def read_beginning(connection: Connection, trial_id: int, upto: int) -> list[Line] | None:
    """The first `upto` lines of a log. None if the trial was ever retried: then its beginning does not tell what is in
    its effective log.
    """
    if connection.execute(_TAKEN_BACK, {"trial": trial_id}).first() is not None:
        return None
    return [line_of(*row) for row in connection.execute(_FIRST, {"trial": trial_id, "upto": upto})]


def read_words(connection: Connection, trial_id: int) -> list[Line]:
    """Only the events of what was said and of retries, of all attempts."""
    return [line_of(*row) for row in connection.execute(_WORDS, {"trial": trial_id})]


def read_ends(
    connection: Connection, trial_ids: Collection[int], *, ended: bool = True
) -> dict[int, tuple[Event, ...]]:
    """What these trials handed in and (`ended`) how they ended, by trial, as far as it counts; large texts are cut short."""
    query = _ENDS if ended else _CONCLUSIONS
    found: defaultdict[int, list[Event]] = defaultdict(list)
    for trial_id, *row in connection.execute(query, {"trials": list(trial_ids)}):
        found[trial_id].append(line_of(*row).event)
    return {trial_id: effective_log(events) for trial_id, events in found.items()}


def read_event(connection: Connection, trial_id: int, seq: int) -> Event:
    """The event with this `seq`, with its large texts. Raises `NotFound`."""
    return read_events(connection, trial_id, [seq])[0]


def read_events(connection: Connection, trial_id: int, seqs: Sequence[int]) -> list[Event]:
    """The events with these `seq`, with their large texts, in the log's order. Raises `NotFound` if one is missing."""
    rows = connection.execute(_SOME, {"trial": trial_id, "seqs": list(seqs)})
    lines = [line_of(*row) for row in rows]
    if len(lines) != len(set(seqs)):
        raise NotFound(_("There is no such event"), headed(trial_id, listed(map(str, seqs))))
    return completed(connection, lines)


def completed(connection: Connection, lines: Sequence[Line]) -> list[Event]:
    """The events of these lines, with their large texts."""
    contents = read_payloads(connection, [digest for line in lines for digest in line.left_out])
    return [
        line.event.model_copy(update={"body": decode(line.body, contents)})
        if line.left_out
        else line.event
        for line in lines
    ]


def effective(lines: Sequence[Line]) -> list[Line]:
    """The lines of the effective log; see `core.engine.events.effective_log`."""
    by_seq = {line.event.seq: line for line in lines}
    return [by_seq[event.seq] for event in effective_log([line.event for line in lines])]


def outline(lines: Sequence[Line]) -> Outline:
    """The lines' events, and which of them have large texts that were left out."""
    return Outline(
        events=tuple(line.event for line in lines),
        left_out={line.event.seq: line.left_out for line in lines if line.left_out},
    )


def line_of(seq: int, attempt: int, at: datetime, body: str | None, packed: bytes | None) -> Line:
    payload = unpack(body, packed)
    decoded, left_out = decode_outline(payload)
    return Line(Event(seq=seq, take=attempt, at=at, body=decoded), payload, left_out)


JUDGE = "judge"
_TABLE: Table = metadata.tables["usage"]
_SUMS = ("calls", "prompt", "completion", "cached", "reasoning", "priced")
_NAME = 200
"""Characters of a name that are kept: what a server calls its model may be anything."""
_MOST = 10**12
"""No call has more tokens; a broken server may say so."""

Spent = tuple[int, str, str, ModelReply]
"""Trial, payer, model, and the reply that was paid for."""


def add_usage(connection: Connection, spent: Iterable[Spent]) -> None:
    """Add model calls to the sums of usage, within the transaction that records them."""
    if sums := usage_sums(spent):
        # Sorted: no two writers wait for each other in a circle.
        rows = [row for _key, row in sorted(sums.items())]
        connection.execute(_adding(connection.dialect.name), rows)


def usage_sums(spent: Iterable[Spent]) -> dict[tuple[int, str, str], dict[str, Any]]:
    """Rows of usage that these calls make, by trial, payer and model."""
    lines: dict[tuple[int, str, str], dict[str, Any]] = {}
    for trial_id, payer, model, reply in spent:
        key = trial_id, usage_name(payer), usage_name(model)
        line = lines.get(key)
        if line is None:
            line = lines[key] = {
                "trial_id": key[0],
                "payer": key[1],
                "model": key[2],
                **dict.fromkeys(_SUMS, 0),
                "cost": None,
            }
        _count(line, reply)
    return lines


def load_usage(session: Session, condition: Any) -> list[UsageRecord]:
    """Calls, tokens and cost for the trials that meet the SQL condition, by trial, payer and model."""
    names = ("trial_id", "payer", "model", "cost", *_SUMS)
    query = (
        select(*(_TABLE.columns[name] for name in names))
        .join(TrialRow, col(TrialRow.id) == UsageRow.trial_id)
        .where(condition)
        .order_by(col(UsageRow.trial_id), col(UsageRow.payer), col(UsageRow.model))
    )
    return [
        UsageRecord(
            trial_id,
            payer,
            model,
            calls,
            Usage.unchecked(
                prompt=prompt, completion=completion, cached=cached, reasoning=reasoning
            ),
            cost,
            priced,
        )
        for (
            trial_id,
            payer,
            model,
            cost,
            calls,
            prompt,
            completion,
            cached,
            reasoning,
            priced,
        ) in cast("Iterable[tuple[Any, ...]]", session.connection().execute(query))
    ]


def usage_name(name: str) -> str:
    """A payer's or model's name as it stands in the table of usage: cleaned, and cut to 200 characters."""
    return clean(name)[:_NAME]


def _count(line: dict[str, Any], reply: ModelReply) -> None:
    line["calls"] += 1
    for name in ("prompt", "completion", "cached", "reasoning"):
        tokens = cast(int, getattr(reply.usage, name))
        line[name] += max(-_MOST, min(tokens, _MOST))
    if reply.cost is not None and math.isfinite(reply.cost):
        line["cost"] = (line["cost"] or 0.0) + reply.cost
        line["priced"] += 1


@cache
def _adding(dialect: str) -> Insert:
    insert = insert_of(dialect, _TABLE)
    kept, new = _TABLE.c, insert.excluded
    sums: dict[str, Any] = {name: kept[name] + new[name] for name in _SUMS}
    sums["cost"] = case(
        (kept.cost.is_(None), new.cost), (new.cost.is_(None), kept.cost), else_=kept.cost + new.cost
    )
    return insert.on_conflict_do_update(index_elements=list(_TABLE.primary_key), set_=sums)


_JUDGE_CALLS_TABLE: Table = metadata.tables["judgecall"]


class JudgeCalls:
    """Judges' model calls with the replies, so that an interrupted judging goes on without paying again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, trial_id: int, judge: str, attempt: int) -> dict[str, ModelReply]:
        """The recorded replies of one `attempt` of a judge at a trial, by the key of the call."""
        query = sqlmodel_select(JudgeCallRow).where(
            JudgeCallRow.trial_id == trial_id,
            JudgeCallRow.judge == clean(judge),
            JudgeCallRow.attempt == attempt,
        )
        with self._database.read() as session:
            return {row.key: _reply(row) for row in session.exec(query)}

    def add(
        self,
        trial_id: int,
        judge: str,
        attempt: int,
        call: RecordedCall,
        claim: Claim | None = None,
    ) -> None:
        """Record a call; it is on the disk when this returns. Recording the same again does nothing.

        Raises `Conflict` if another reply is recorded under this key, `NotFound` for an unknown trial, and `ClaimLost` if
        `claim` stands no more.
        """
        body, packed = pack(dumped(call.reply))
        key = trial_id, clean(judge), attempt, clean(call.key)
        values = {
            "trial_id": trial_id,
            "judge": judge,
            "attempt": attempt,
            "key": call.key,
            "model": call.model,
            "prompt": call.prompt,
            "body": body,
            "packed": packed,
        }
        with self._database.beside() as connection:
            if claim is not None:
                check_fences(connection, {claim.trial_id: claim.fence})
            try:
                added = add_new(connection, _JUDGE_CALLS_TABLE, values)
            except IntegrityError:
                raise trial_missing(trial_id) from None
            if added:
                add_usage(connection, [(trial_id, JUDGE, call.model, call.reply)])
                return
        with self._database.read() as session:
            there = session.get(JudgeCallRow, key)
        if there is None or (there.body, there.packed) != (body, packed):
            raise _refused(call.key)

    def next_attempt(self, trial_id: int, judge: str) -> int:
        """The number for a new attempt: one more than the last one with recorded calls, or 0."""
        query = (
            sqlmodel_select(JudgeCallRow.attempt)
            .where(JudgeCallRow.trial_id == trial_id, JudgeCallRow.judge == clean(judge))
            .order_by(col(JudgeCallRow.attempt).desc())
            .limit(1)
        )
        with self._database.read() as session:
            last = session.exec(query).first()
        return 0 if last is None else last + 1


def _reply(row: JudgeCallRow) -> ModelReply:
    return ModelReply.model_validate(from_json(unpack(row.body, row.packed)))


def _refused(key: str) -> Conflict:
    return Conflict(
        _("Another reply is recorded for this call of the judge"),
        key,
        _("Is the same trial being judged in another window?"),
    )


def _json_text(body: Any, name: str) -> Any:
    return func.json_extract(body, f"$.{name}")


def _json_text_of_postgres(body: Any, name: str) -> Any:
    from sqlalchemy.dialects.postgresql import JSON

    return cast_sql(body, JSON)[name].astext


class KeptPrompts:
    """The texts of prompts, stored as payloads under their hash."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: set[str] = set()

    def keep(self, digest: str, text: str) -> None:
        """Store a prompt's text, unless it is there. Raises `ValueError` if `digest` is not its hash."""
        if digest in self._kept:
            return
        content = text.encode()
        if hash_of(content) != digest:
            raise ValueError(f"this is not the hash of the prompt: {digest}")
        ready = PayloadCache(self._database).ready([(0, (digest, content))])
        if ready.rows:
            with self._database.beside() as connection:
                write_payloads(connection, ready)
        self._kept.add(digest)

    def get(self, digest: str) -> str:
        """The text of a prompt by its hash. Raises `NotFound`."""
        with self._database.read() as session:
            return read_payloads(session.connection(), [digest])[digest].decode()

    def used(self, run_id: int) -> tuple[PromptUse, ...]:
        """The prompts of all model calls of the run and of its judges, earlier attempts included, with the number of
        calls; sorted. It reads every call, so do not call it on the screen's thread.
        """
        mine = TrialRow.run_id == run_id
        text = _json_text if self._database.is_sqlite else _json_text_of_postgres
        body = col(EventRow.body)
        scope = func.coalesce(text(body, "scope"), "").contains("tool/")
        told = scope, text(body, "part"), func.coalesce(text(body, "prompt"), "")
        of_run: tuple[Any, ...] = (
            col(TrialRow.id) == EventRow.trial_id,
            mine,
            EventRow.type == "model_replied",
        )
        replies = (
            select(col(TrialRow.agent), *told, func.count())
            .where(*of_run, body.is_not(None))
            .group_by(col(TrialRow.agent), *told)
        )
        large = select(col(TrialRow.agent), col(EventRow.packed)).where(*of_run, body.is_(None))
        judged = (
            sqlmodel_select(JudgeCallRow.judge, JudgeCallRow.prompt, func.count())
            .join(TrialRow, col(TrialRow.id) == JudgeCallRow.trial_id)
            .where(mine)
            .group_by(JudgeCallRow.judge, JudgeCallRow.prompt)
        )
        found: Counter[tuple[str, str, str]] = Counter()
        with self._database.read() as session:
            connection = session.connection()
            for agent, world, part, prompt, calls in connection.execute(replies):
                found["world" if world else part, agent, prompt] += calls
            for agent, packed in connection.execute(large):
                data: dict[str, Any] = json.loads(unpack(None, packed))
                payer = "world" if "tool/" in data.get("scope", "") else data["part"]
                found[payer, agent, data.get("prompt", "")] += 1
            for judge, prompt, calls in session.exec(judged):
                found[JUDGE, judge, prompt] += calls
        uses = Counter[tuple[str, str, str]]()
        for (payer, player, digest), calls in found.items():
            if digest:
                name = player if payer == JUDGE else json.loads(player)["name"]
                uses[payer, name, digest] += calls
        return tuple(
            PromptUse(payer=payer, player=player, hash=digest, calls=calls)
            for (payer, player, digest), calls in sorted(uses.items())
        )
