"""The moves of people who play the agent: how their window reaches the window in which the session runs.

Moves are added, never changed; each step of a take is filled once, by one person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import ConfigDict, TypeAdapter
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select

from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import _
from cuecard.store.acquaintance import Acquaintance, acquaintance
from cuecard.store.codec import from_json, to_json
from cuecard.store.engine import Database
from cuecard.store.lookup import trial_row
from cuecard.store.people import ensure_person
from cuecard.store.play_records import Pulse, SeatMove, SeatStep
from cuecard.store.tables import EventRow, SeatMoveRow

_MOVE: TypeAdapter[SeatMove] = TypeAdapter(SeatMove, config=ConfigDict(defer_build=True))
_TAKEN = "taken"


class SeatMoves:
    def __init__(self, database: Database) -> None:
        self._database = database

    def take_seat(self, trial_id: int, person: str) -> None:
        """Have `person` play the agent of a trial; taking one's own seat again changes nothing. Raises
        `NotFound`, `NotAllowed` if somebody else has it.
        """
        holder = self._claim(trial_id, person)
        if holder != person.strip():
            raise NotAllowed(
                _("The agent's part is taken"), _("{name} plays it.").format(name=holder)
            )

    def holder(self, trial_id: int) -> str:
        """Who plays the agent of a trial; "" if nobody does yet."""
        query = select(SeatMoveRow.person).where(
            SeatMoveRow.trial_id == trial_id, SeatMoveRow.place == _TAKEN
        )
        with self._database.read() as session:
            return session.exec(query).first() or ""

    def known(self, task_id: str, person: str) -> Acquaintance:
        """How `person` can know a task's gold or what its user will say; "" if nothing tells that they do."""
        with self._database.read() as session:
            return acquaintance(session, task_id, person.strip())

    def pulse(self, trial_id: int) -> Pulse | None:
        """The newest event of a trial, without reading it: cheap enough to be asked again and again."""
        query = (
            select(EventRow.seq, EventRow.take, EventRow.at)
            .where(EventRow.trial_id == trial_id)
            .order_by(col(EventRow.seq).desc())
            .limit(1)
        )
        with self._database.read() as session:
            found = session.exec(query).first()
            return None if found is None else Pulse(seq=found[0], take=found[1], at=found[2])

    def add(self, trial_id: int, take: int, place: str, person: str, move: SeatMove) -> SeatStep:
        """Make a move. Raises `NotAllowed` for who has not taken the seat, `Conflict` where this step has
        been made already.
        """
        if self.holder(trial_id) != person.strip():
            raise NotAllowed(_("The agent's part is not yours"), _("Take it first."))
        try:
            with self._database.write() as session:
                row = SeatMoveRow(
                    trial_id=trial_id,
                    take=take,
                    place=place,
                    person=person.strip(),
                    body=to_json(move.model_dump(mode="json")).decode(),
                    at=datetime.now(UTC),
                )
                session.add(row)
                session.flush()
                return _step(row)
        except IntegrityError as error:
            raise Conflict(
                _("This step has been made already"), place, _("Look at the newest dialogue.")
            ) from error

    def of(self, trial_id: int) -> Sequence[SeatStep]:
        """All moves of a trial in the order in which they were made."""
        query = (
            select(SeatMoveRow)
            .where(SeatMoveRow.trial_id == trial_id, SeatMoveRow.place != _TAKEN)
            .order_by(col(SeatMoveRow.id))
        )
        with self._database.read() as session:
            return [_step(row) for row in session.exec(query)]

    def find(self, trial_id: int, take: int, place: str) -> SeatStep | None:
        """The move at one step, once it has been made."""
        query = select(SeatMoveRow).where(
            SeatMoveRow.trial_id == trial_id,
            SeatMoveRow.take == take,
            SeatMoveRow.place == place,
        )
        with self._database.read() as session:
            row = session.exec(query).first()
            return None if row is None else _step(row)

    def _claim(self, trial_id: int, person: str) -> str:
        holder = self.holder(trial_id)
        if holder:
            return holder
        try:
            with self._database.write() as session:
                trial_row(session, trial_id)
                name = ensure_person(session, person).name
                session.add(
                    SeatMoveRow(
                        trial_id=trial_id,
                        take=0,
                        place=_TAKEN,
                        person=name,
                        body="{}",
                        at=datetime.now(UTC),
                    )
                )
                session.flush()
                return name
        except IntegrityError:
            return self.holder(trial_id)


def _step(row: SeatMoveRow) -> SeatStep:
    return SeatStep(
        trial_id=row.trial_id,
        take=row.take,
        place=row.place,
        person=row.person,
        move=_MOVE.validate_python(from_json(row.body)),
        at=row.at,
    )
