"""Holds the logs of trials against what was counted of them, and judgements against their verdicts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from sqlalchemy import Connection
from sqlmodel import Session

from cuecard.core.engine.events import Event, ModelReplied, TrialEnded
from cuecard.core.engine.messages import ModelReply
from cuecard.core.i18n import _, current_language, set_language
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Verdict
from cuecard.store.audit_findings import AT_ONCE, COUNTED, KEPT, Reading, readable, stream
from cuecard.store.codec import from_json, present, unpack
from cuecard.store.judgements import judgement_of, number_from, verdict_of
from cuecard.store.rows import load_revision
from cuecard.store.task_tables import clean, in_utc, metadata
from cuecard.store.trial_logs import JUDGE, Line, Spent, effective, line_of, usage_sums
from cuecard.store.trial_tables import (
    EventRow,
    JudgeCallRow,
    JudgementRow,
    TrialFiguresRow,
    TrialRow,
    UsageRow,
    VerdictRow,
)


def check_trials(session: Session, part: Reading) -> None:
    """Everything of each trial, side by side, so that nothing but one trial is in memory."""
    connection = session.connection()
    tables = metadata.tables
    events = _Groups(stream(connection, tables["event"], EventRow.trial_id, EventRow.seq))
    calls = _Groups(stream(connection, tables["judgecall"], JudgeCallRow.trial_id))
    used = _Groups(stream(connection, tables["usage"], UsageRow.trial_id))
    judged = _Groups(stream(connection, tables["judgement"], JudgementRow.trial_id))
    order = VerdictRow.trial_id, VerdictRow.judgement_id, VerdictRow.position
    verdicts = _Groups(stream(connection, tables["verdict"], *order))
    figures = _Groups(stream(connection, tables["trialfigures"], TrialFiguresRow.trial_id))
    asked: dict[str, tuple[int, int]] = {}

    @lru_cache(maxsize=64)
    def task_of(task_id: str, revision: int) -> Task:
        return load_revision(session, task_id, revision).task

    for trial in stream(connection, tables["trial"], TrialRow.id):
        part.count()
        rows = events.of(trial.id)
        lines = _check_log(part, trial.id, rows)
        if whole := len(lines) == len(rows):
            _check_end(part, trial, lines)
            _check_usage(part, trial.id, lines, calls.of(trial.id), used.of(trial.id))
        for line in lines:
            asked |= dict.fromkeys(line.left_out, (trial.id, line.event.seq))
        if len(asked) >= AT_ONCE:
            _check_contents(connection, part, asked)
        given = _check_verdicts(part, trial.id, judged.of(trial.id), verdicts.of(trial.id))
        if (kept := figures.of(trial.id)) and whole:
            told = [line.event for line in effective(lines)]
            task = readable(task_of, trial.task_id, trial.revision)
            _check_figures(part, task, told, len(lines), given, kept)
    _check_contents(connection, part, asked)


def _check_log(part: Reading, trial_id: int, rows: Sequence[Any]) -> list[Line]:
    """The events that can be read."""
    lines: list[Line] = []
    following = 0
    for row in rows:
        part.count()
        if row.seq != following:
            words = _("events {first} to {last} are missing")
            part.wrong("event", trial_id, words.format(first=following, last=row.seq - 1))
        following = row.seq + 1
        line = readable(line_of, row.seq, row.take, row.at, row.body, row.packed)
        if line is None:
            part.wrong("event", (trial_id, row.seq), _("cannot be read"))
            continue
        if (row.key, row.type) != (clean(line.event.body.key), line.event.body.type):
            part.wrong("event", (trial_id, row.seq), _("is not of the kind or place that it says"))
        lines.append(line)
    return lines


def _check_end(part: Reading, trial: Any, lines: Sequence[Line]) -> None:
    told: tuple[Any, ...] = None, "", None
    if lines and isinstance(end := lines[-1].event.body, TrialEnded):
        told = end.termination.value, clean(end.detail), in_utc(lines[-1].event.at)
    if told != (trial.termination, trial.detail, trial.ended_at and in_utc(trial.ended_at)):
        part.wrong("trial", trial.id, _("its end is not that of its log"), COUNTED)


def _check_usage(
    part: Reading, trial_id: int, lines: Sequence[Line], calls: list[Any], used: list[Any]
) -> None:
    spent: list[Spent] = [
        (trial_id, body.payer, body.model, body.reply)
        for line in lines
        if isinstance(body := line.event.body, ModelReplied)
    ]
    for call in calls:
        part.count()
        reply = readable(_reply, call.body, call.packed)
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
            part.wrong("usage", key, _("is not the sum of the calls in the log"), COUNTED)
    for key in sums:
        part.wrong("usage", key, _("is missing: the log has such calls"), COUNTED)


def _check_contents(
    connection: Connection, part: Reading, asked: dict[str, tuple[int, int]]
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
    part: Reading, trial_id: int, judged: Sequence[Any], rows: Sequence[Any]
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
        verdicts = readable(_verdicts, mine)
        record = None if verdicts is None else readable(judgement_of, row, verdicts)
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
    part: Reading,
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
            part.wrong("trialfigures", key, _("is not what is counted anew"), KEPT)


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
