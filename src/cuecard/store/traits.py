"""What groups of tasks are told apart by, read from the revisions that a run plays without building them."""

from __future__ import annotations

import json
from typing import Any

from sqlmodel import Session, col, select

from cuecard.store.codec import unpack
from cuecard.store.result_records import TaskTraits
from cuecard.store.tables import ContentRow, RevisionRow, TrialRow

_MOST = 4096
_KNOWN: dict[str, TaskTraits] = {}


def load_traits(session: Session, run_id: int) -> dict[tuple[str, int], TaskTraits]:
    """By task and revision, of all that the run plays."""
    played = (
        select(TrialRow.task_id, TrialRow.revision).where(TrialRow.run_id == run_id).distinct()
    ).subquery()
    query = (
        select(RevisionRow.task_id, RevisionRow.number, ContentRow)
        .join(ContentRow, col(ContentRow.hash) == RevisionRow.hash)
        .join(
            played,
            (played.c.task_id == RevisionRow.task_id) & (played.c.revision == RevisionRow.number),
        )
    )
    return {
        (task_id, number): _traits(content.hash, unpack(content.body, content.packed))
        for task_id, number, content in session.exec(query)
    }


def _traits(digest: str, payload: bytes) -> TaskTraits:
    # Contents never change: what was read of one stays true.
    if (known := _KNOWN.get(digest)) is not None:
        return known
    data: dict[str, Any] = json.loads(payload)
    gold: dict[str, Any] = data["gold"]
    persona: dict[str, Any] = data.get("persona") or {}
    found = TaskTraits(
        family=gold["family"],
        language=data["language"],
        domain=data.get("domain") or "",
        difficulty=data.get("difficulty"),
        facts=len(gold.get("facts", ())),
        stages=len(persona.get("stages", ())),
        hash=digest,
    )
    if len(_KNOWN) >= _MOST:
        _KNOWN.clear()
    _KNOWN[digest] = found
    return found
