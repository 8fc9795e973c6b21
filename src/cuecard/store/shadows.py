"""What simulators would have said in trials that others play. Entries are added, never changed."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from pydantic import ConfigDict, TypeAdapter
from sqlmodel import col, select

from cuecard.core.parts import ModelReply, PlayerRef, UserReply
from cuecard.store.codec import from_json, to_json
from cuecard.store.engine import Database
from cuecard.store.lookup import trial_row
from cuecard.store.play_records import Shadow
from cuecard.store.tables import ShadowRow

_CALLS = TypeAdapter(tuple[ModelReply, ...], config=ConfigDict(defer_build=True))


class Shadows:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, shadow: Shadow) -> bool:
        """Keep it, unless this simulator has been asked at this point already; whether it was kept.
        Raises `NotFound` for an unknown trial.
        """
        who = simulator_hash(shadow.player)
        with self._database.write() as session:
            trial_row(session, shadow.trial_id)
            known = select(ShadowRow.id).where(
                ShadowRow.trial_id == shadow.trial_id,
                ShadowRow.state == shadow.state,
                ShadowRow.simulator == who,
            )
            if session.exec(known).first() is not None:
                return False
            session.add(
                ShadowRow(
                    trial_id=shadow.trial_id,
                    state=shadow.state,
                    simulator=who,
                    turn=shadow.turn,
                    player=shadow.player.model_dump_json(),
                    reply=to_json(shadow.reply.model_dump(mode="json")).decode(),
                    calls=to_json([call.model_dump(mode="json") for call in shadow.calls]).decode(),
                    live=shadow.live,
                    at=shadow.at,
                )
            )
            return True

    def of(self, trial_ids: Collection[int] | None = None) -> list[Shadow]:
        """Those of these trials, of all without `trial_ids`, in the order in which they were kept."""
        query = select(ShadowRow).order_by(col(ShadowRow.id))
        if trial_ids is not None:
            query = query.where(col(ShadowRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [_shadow(row) for row in session.exec(query)]


def simulator_hash(player: PlayerRef) -> str:
    """What tells simulators apart, their prompts' versions included: 16 hex digits."""
    return hashlib.sha256(player.model_dump_json().encode()).hexdigest()[:16]


def _shadow(row: ShadowRow) -> Shadow:
    return Shadow(
        trial_id=row.trial_id,
        turn=row.turn,
        state=row.state,
        player=PlayerRef.model_validate_json(row.player),
        reply=UserReply.model_validate(from_json(row.reply)),
        calls=_CALLS.validate_python(from_json(row.calls)),
        live=row.live,
        at=row.at,
    )
