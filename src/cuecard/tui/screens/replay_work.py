"""What the keys of re-play do to a session: small functions that run in a thread, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cuecard.annotate.fidelity.replay import ReplaySession
from cuecard.annotate.fidelity.replay_views import ReplaySummary, ReplayValue, ReplayView

Work = Callable[[ReplaySession], object]


@dataclass(frozen=True)
class Step:
    """What the session looks like after a key was worked off. `summary`: only at the end."""

    view: ReplayView | None
    summary: ReplaySummary | None
    total: int
    decided: int


def step_of(session: ReplaySession, work: Work) -> Step:
    """Work a key off."""
    session.touch()
    work(session)
    view = session.current
    return Step(
        view=view,
        summary=session.summary() if view is None else None,
        total=session.total,
        decided=session.decided,
    )


def nothing(session: ReplaySession) -> None:
    """Look at the turn as it stands."""


def deciding(value: ReplayValue) -> Work:
    """Decide on the turn. A key that came too late for it, or twice, does nothing."""

    def work(session: ReplaySession) -> None:
        view = session.current
        if view is not None and view.mine is None and value in view.choices:
            session.decide(value)

    return work


def commenting(text: str) -> Work:
    return lambda session: session.note(text.strip())


def going_to(turn: int) -> Work:
    return lambda session: session.go_to(turn)


def on(session: ReplaySession) -> None:
    """To the next turn, once this one is decided."""
    view = session.current
    if view is not None and view.mine is not None:
        session.next()


def go_on(session: ReplaySession) -> None:
    session.go_on()


def back(session: ReplaySession) -> None:
    session.back()
