"""The agent's part of a session in the hands of a second person, as the session's own process sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from cuecard.core.agents.person import PERSON, EmptySeat, PersonAgent
from cuecard.core.seat_moves import SeatMove

if TYPE_CHECKING:
    from cuecard.core.tasks import Task
    from cuecard.store.records import TrialRecord
    from cuecard.store.workspace import Workspace

SOON, LOOK = 0.03, 0.25
"""Seconds between looks into the mailbox, at first and later: a person takes longer for anything."""

Found = TypeVar("Found")


class Mailbox:
    """A `Seat` whose person plays in a window of their own: what they do is found in
    `workspace.seat_moves`. `take`: the take of the log that is being written.
    """

    def __init__(self, workspace: Workspace, trial_id: int, take: Callable[[], int]) -> None:
        self._moves = workspace.seat_moves
        self._trial_id = trial_id
        self._take = take

    async def taken(self) -> str:
        return await _found(lambda: self._moves.holder(self._trial_id) or None)

    async def next_move(self, place: str) -> SeatMove:
        def look() -> SeatMove | None:
            step = self._moves.find(self._trial_id, self._take(), place)
            return step.move if step else None

        return await _found(look)


async def _found(look: Callable[[], Found | None]) -> Found:
    """What `look` finds, once it does; it blocks for the database."""
    pause = SOON
    while True:
        found = await asyncio.to_thread(look)
        if found is not None:
            return found
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, LOOK)


def seated_agent(
    workspace: Workspace, trial: TrialRecord, task: Task, take: Callable[[], int]
) -> PersonAgent | None:
    """The agent of a session whose agent is a person; None where it is any other."""
    if not played_by_person(trial):
        return None
    return PersonAgent(Mailbox(workspace, trial.id, take), task.language)


def absent_agent(name: str, task: Task) -> PersonAgent | None:
    """As `seated_agent`, before there is a trial: nobody sits there yet."""
    return PersonAgent(EmptySeat(), task.language) if name == PERSON else None


def played_by_person(trial: TrialRecord) -> bool:
    return trial.agent.kind == PersonAgent.ref.kind
