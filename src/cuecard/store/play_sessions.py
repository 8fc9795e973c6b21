"""What live sessions record: moves of people who play the agent, shadow replies of simulators, and people's forms."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import ConfigDict, TypeAdapter
from sqlmodel import Session, col, or_, select

from cuecard.core.archive import Acquaintance
from cuecard.core.engine.events import Termination
from cuecard.core.engine.messages import ModelReply, PlayerRef, UserReply
from cuecard.core.errors import Conflict, NotAllowed
from cuecard.core.i18n import _
from cuecard.core.records import LatestEvent, PlayMove, PlayStep, SessionForm, Shadow
from cuecard.core.tasks.base import FormQuestion
from cuecard.core.worker_archive import Claim
from cuecard.store.codec import from_json, to_json
from cuecard.store.contributions import wrote
from cuecard.store.engine import Database
from cuecard.store.roles import ensure_person
from cuecard.store.rows import known_or_held, trial_row
from cuecard.store.task_tables import (
    ContributionRow,
    DraftRow,
    EffortRow,
    ReviewFormRow,
    TaskRow,
    ThrownDraftRow,
    add_new,
    metadata,
)
from cuecard.store.trial_tables import (
    AdjudicationRow,
    EventRow,
    LabelRow,
    RevealRow,
    RunRow,
    SeatMoveRow,
    SessionFormRow,
    ShadowRow,
    TrialRow,
)


def acquaintance(session: Session, task_id: str, person: str) -> Acquaintance:
    """How `person` can know the task's gold, of several ways the first below; "" if none is recorded."""
    asked: dict[Acquaintance, tuple[Any, ...]] = {
        "wrote": (
            select(TaskRow.id).where(TaskRow.id == task_id, col(TaskRow.id).in_(wrote(person))),
        ),
        "built": (
            _contributed(task_id, person, kind="gold_built"),
            # What is kept aside of an edit is named by the task and a mark.
            select(DraftRow.task_id).where(
                DraftRow.person == person,
                col(DraftRow.task_id).startswith(f"{task_id}@", autoescape=True),
            ),
        ),
        "reviewed": (
            _contributed(task_id, person),
            select(ReviewFormRow.task_id).where(
                ReviewFormRow.task_id == task_id, ReviewFormRow.reviewer == person
            ),
        ),
        "edited": tuple(
            select(row.task_id).where(row.task_id == task_id, row.person == person)
            for row in (DraftRow, ThrownDraftRow, EffortRow)
        ),
        "judged": (
            _of_its_trials(LabelRow, task_id, LabelRow.person == person),
            _of_its_trials(RevealRow, task_id, RevealRow.person == person),
            _of_its_trials(AdjudicationRow, task_id, AdjudicationRow.by == person),
        ),
        "played": (
            select(TrialRow.id)
            .join(RunRow)
            .where(TrialRow.task_id == task_id, RunRow.kind == "play", RunRow.created_by == person),
        ),
    }
    for how, queries in asked.items():
        for query in queries:
            if session.exec(query.limit(1)).first() is not None:
                return how
    return ""


def _contributed(task_id: str, person: str, kind: str = "") -> Any:
    row = ContributionRow
    leased = (col(row.kind).in_(("claimed", "released"))) & (row.about == person)
    query = select(row.uid).where(row.task_id == task_id, or_(row.by == person, leased))
    return query.where(row.kind == kind) if kind else query


def _of_its_trials(row: Any, task_id: str, by: Any) -> Any:
    query = select(TrialRow.id).join(row, col(row.trial_id) == TrialRow.id)
    return query.where(TrialRow.task_id == task_id, by)


_MOVE: TypeAdapter[PlayMove] = TypeAdapter(PlayMove, config=ConfigDict(defer_build=True))
_TAKEN = "taken"


class PlayerMoves:
    """Moves of people who play the agent, for the program that plays the trial to carry out."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def become_player(self, trial_id: int, person: str) -> None:
        """Make `person` the one who plays the agent of a trial; for who plays it already, nothing happens. Raises
        `NotFound`, and `NotAllowed` if somebody else has it.
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
        """How `person` can know the task's gold or the user's lines; "" if nothing recorded says that they can."""
        with self._database.read() as session:
            return acquaintance(session, task_id, person.strip())

    def pulse(self, trial_id: int) -> LatestEvent | None:
        """The number, retry count and time of a trial's newest event, without its content; cheap enough for polling."""
        query = (
            select(EventRow.seq, EventRow.take, EventRow.at)
            .where(EventRow.trial_id == trial_id)
            .order_by(col(EventRow.seq).desc())
            .limit(1)
        )
        with self._database.read() as session:
            found = session.exec(query).first()
            return None if found is None else LatestEvent(seq=found[0], take=found[1], at=found[2])

    def add(self, trial_id: int, attempt: int, place: str, person: str, move: PlayMove) -> PlayStep:
        """Record a move at the step whose key is `place`; the same again changes nothing. Raises `NotAllowed` for who does
        not play it, `Conflict` if the step has another move.
        """
        if self.holder(trial_id) != person.strip():
            raise NotAllowed(_("The agent's part is not yours"), _("Take it first."))
        body = to_json(move.model_dump(mode="json")).decode()
        with self._database.append() as session:
            _made(session, trial_id, attempt, place, person.strip(), body)
        step = self.find(trial_id, attempt, place)
        assert step is not None
        if step.move != move:
            raise Conflict(
                _("This step has been made already"), place, _("Look at the newest dialogue.")
            )
        return step

    def of(self, trial_id: int) -> Sequence[PlayStep]:
        """All moves of a trial in the order in which they were made."""
        query = (
            select(SeatMoveRow)
            .where(SeatMoveRow.trial_id == trial_id, SeatMoveRow.place != _TAKEN)
            .order_by(col(SeatMoveRow.id))
        )
        with self._database.read() as session:
            return [_step(row) for row in session.exec(query)]

    def find(self, trial_id: int, attempt: int, place: str) -> PlayStep | None:
        """The move at one step, once it has been made."""
        query = select(SeatMoveRow).where(
            SeatMoveRow.trial_id == trial_id,
            SeatMoveRow.take == attempt,
            SeatMoveRow.place == place,
        )
        with self._database.read() as session:
            row = session.exec(query).first()
            return None if row is None else _step(row)

    def _claim(self, trial_id: int, person: str) -> str:
        holder = self.holder(trial_id)
        if holder:
            return holder
        with self._database.append() as session:
            trial_row(session, trial_id)
            _made(session, trial_id, 0, _TAKEN, ensure_person(session, person).name, "{}")
        return self.holder(trial_id)


def _made(
    session: Session, trial_id: int, attempt: int, place: str, person: str, body: str
) -> bool:
    """Insert a move, unless there is one at this step."""
    row: dict[str, Any] = {
        "trial_id": trial_id,
        "take": attempt,
        "place": place,
        "person": person,
        "body": body,
    }
    row["at"] = datetime.now(UTC)
    return add_new(session.connection(), metadata.tables["seatmove"], row)


def _step(row: SeatMoveRow) -> PlayStep:
    return PlayStep.from_fields(row, move=_MOVE.validate_python(from_json(row.body)))


_QUESTIONS = TypeAdapter(tuple[FormQuestion, ...], config=ConfigDict(defer_build=True))


class SessionForms:
    """People's answers to the questions after a live session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        trial_id: int,
        person: str,
        questions: Sequence[FormQuestion],
        answers: Mapping[str, int | str],
        *,
        at: datetime | None = None,
    ) -> SessionForm:
        """Keep the answers, which the caller has checked; those given `at` the same time again change nothing. Raises
        `NotFound`.
        """
        asked = to_json([question.model_dump(mode="json") for question in questions])
        row = SessionFormRow
        with self._database.append() as session:
            trial_row(session, trial_id)
            name = ensure_person(session, person).name
            mine = select(row).where(row.trial_id == trial_id, row.person == name, row.at == at)
            if at is not None and (kept := session.exec(mine).first()) is not None:
                return _form(kept)
            row = SessionFormRow(
                trial_id=trial_id,
                person=name,
                form=hashlib.sha256(asked).hexdigest()[:16],
                questions=asked.decode(),
                answers=to_json(dict(answers)).decode(),
                at=at or datetime.now(UTC),
            )
            session.add(row)
            session.flush()
            return _form(row)

    def newest(self, trial_ids: Collection[int] | None = None) -> list[SessionForm]:
        """The newest form of each person on each of these trials, or of all."""
        conditions: list[Any] = []
        if trial_ids is not None:
            conditions.append(col(SessionFormRow.trial_id).in_(trial_ids))
        query = select(SessionFormRow).where(*conditions).order_by(col(SessionFormRow.id))
        with self._database.read() as session:
            newest = {(row.trial_id, row.person): _form(row) for row in session.exec(query)}
        return list(newest.values())

    def missing(self, person: str, since: datetime) -> list[int]:
        """The ids of sessions that `person` played, that ended normally at `since` or later, and for which they filled
        in no form; newest first.
        """
        given = select(SessionFormRow.id).where(
            SessionFormRow.trial_id == TrialRow.id, SessionFormRow.person == person
        )
        kept = [end.value for end in Termination if not end.is_failure]
        conditions: list[Any] = [
            RunRow.kind == "play",
            RunRow.created_by == person,
            col(TrialRow.termination).in_(kept),
            col(TrialRow.ended_at) >= since,
            ~given.exists(),
        ]
        query = (
            select(TrialRow.id)
            .join(RunRow)
            .where(*conditions)
            .order_by(col(TrialRow.ended_at).desc(), col(TrialRow.id).desc())
        )
        with self._database.read() as session:
            return [trial_id for trial_id in session.exec(query) if trial_id is not None]


def _form(row: SessionFormRow) -> SessionForm:
    return SessionForm.model_validate(
        {
            "trial_id": row.trial_id,
            "person": row.person,
            "questions": _QUESTIONS.validate_python(from_json(row.questions)),
            "answers": from_json(row.answers),
            "at": row.at,
        }
    )


_CALLS = TypeAdapter(tuple[ModelReply, ...], config=ConfigDict(defer_build=True))


class Shadows:
    """Shadow replies: what a simulator would have said in a user turn of a trial that it did not play."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, shadow: Shadow, claim: Claim | None = None) -> bool:
        """Keep a reply, unless this simulator has one at this point already; gives whether it was kept. Raises
        `NotFound` for an unknown trial, and `ClaimLost` if `claim` stands no more.
        """
        who = simulator_hash(shadow.player)
        row = {
            "trial_id": shadow.trial_id,
            "state": shadow.state,
            "simulator": who,
            "turn": shadow.turn,
            "player": shadow.player.model_dump_json(),
            "reply": to_json(shadow.reply.model_dump(mode="json")).decode(),
            "calls": to_json([call.model_dump(mode="json") for call in shadow.calls]).decode(),
            "live": shadow.live,
            "at": shadow.at,
        }
        with self._database.append() as session:
            known_or_held(session, shadow.trial_id, claim)
            return add_new(session.connection(), metadata.tables["shadow"], row)

    def of(self, trial_ids: Collection[int] | None = None) -> list[Shadow]:
        """The replies in these trials, or in all, in the order in which they were kept."""
        query = select(ShadowRow).order_by(col(ShadowRow.id))
        if trial_ids is not None:
            query = query.where(col(ShadowRow.trial_id).in_(trial_ids))
        with self._database.read() as session:
            return [_shadow(row) for row in session.exec(query)]


def simulator_hash(player: PlayerRef) -> str:
    """An identifier of a simulator with its settings and the versions of its prompts: 16 hex digits."""
    return hashlib.sha256(player.model_dump_json().encode()).hexdigest()[:16]


def _shadow(row: ShadowRow) -> Shadow:
    return Shadow.from_fields(
        row,
        player=PlayerRef.model_validate_json(row.player),
        reply=UserReply.model_validate(from_json(row.reply)),
        calls=_CALLS.validate_python(from_json(row.calls)),
    )
