"""What trials cost, kept beside their logs: one line for each trial, payer and model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any, cast

from sqlalchemy import Connection, Table, case
from sqlalchemy.sql.dml import Insert
from sqlmodel import Session, col, select

from cuecard.core.parts import ModelReply, Usage
from cuecard.store.records import UsageRecord
from cuecard.store.tables import TrialRow, UsageRow, metadata
from cuecard.store.tables.base import clean
from cuecard.store.upsert import insert_of

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
    """Count new calls, in the transaction that records them."""
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
    if lines:
        connection.execute(_adding(connection.dialect.name), list(lines.values()))


def load_usage(session: Session, condition: Any) -> list[UsageRecord]:
    """Of the trials that meet the condition, by trial, payer and model."""
    query = (
        select(UsageRow)
        .join(TrialRow, col(TrialRow.id) == UsageRow.trial_id)
        .where(condition)
        .order_by(col(UsageRow.trial_id), UsageRow.payer, UsageRow.model)
    )
    return [
        UsageRecord(
            trial_id=row.trial_id,
            payer=row.payer,
            model=row.model,
            calls=row.calls,
            usage=Usage(
                prompt=row.prompt,
                completion=row.completion,
                cached=row.cached,
                reasoning=row.reasoning,
            ),
            cost=row.cost,
            priced=row.priced,
        )
        for row in session.exec(query)
    ]


def usage_name(name: str) -> str:
    """A payer's or model's name as usage is kept under it."""
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
