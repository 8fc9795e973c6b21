"""What the keys of labelling do to a session: small functions that run in a thread, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from cuecard.annotate.labelling import LabelSession, LabelView, Revealed
from cuecard.annotate.labelling.session_views import Pace
from cuecard.core.parts import CheckpointStatus
from cuecard.store.label_records import LabelValue

Work = Callable[[LabelSession], Revealed | None]
Look = Literal["comment", "all", "gold", "transcript"]
"""What opens something above the item; it waits its turn like any other key."""


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off."""

    view: LabelView | None
    revealed: Revealed | None
    position: int
    total: int
    labelled: int
    skipped: int
    pace: Pace


def step_of(session: LabelSession, work: Work) -> Step:
    """Work a key off."""
    session.touch()
    revealed = work(session)
    view = session.current
    if view is None:
        revealed = None
    elif revealed is None and view.revealed:
        # Who comes back to it sees again what they have seen.
        revealed = session.reveal()
    return Step(
        view=view,
        revealed=revealed,
        position=session.position,
        total=session.total,
        labelled=session.labelled,
        skipped=session.skipped if view is None else 0,
        pace=session.pace,
    )


def labelling(value: LabelValue | CheckpointStatus, *, reveal_after: bool) -> Work:
    """Label and go on, or stay and show what was decided. On an item of which the decision is shown, the
    same value again goes on, another one is a change of mind.
    """

    def work(session: LabelSession) -> Revealed | None:
        view = session.current
        if view is None:
            return None
        again = view.revealed and view.mine is not None
        if not (again and view.mine is not None and view.mine.value is value):
            session.label(value)
        if reveal_after and not again:
            return session.reveal()
        session.next()
        return None

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def flag(session: LabelSession) -> None:
    """Say that the gold is wrong, or take it back."""
    view = session.current
    if view is not None:
        flagged = view.mine.gold_wrong if view.mine else view.draft.gold_wrong
        session.note(gold_wrong=not flagged)


def reveal(session: LabelSession) -> Revealed | None:
    view = session.current
    return session.reveal() if view is not None and view.mine is not None else None


def go_on(session: LabelSession) -> None:
    session.next()


def back(session: LabelSession) -> None:
    session.back()


def nothing(session: LabelSession) -> None:
    """Look at the item as it stands."""
