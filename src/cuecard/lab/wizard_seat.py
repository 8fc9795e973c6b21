"""The agent's part of a session in the hands of a second person, as the session's own process sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from cuecard.core.agents.person import PERSON, EmptySeat, PersonAgent
from cuecard.core.seat_moves import SeatMove

if TYPE_CHECKING:
    from cuecard.core.tasks import Task
    from cuecard.store.records import TrialRecord
    from cuecard.store.workspace import Workspace

LOOK = 0.25
"""Seconds between looks into the mailbox: a person takes longer for anything."""


class Mailbox:
    """A `Seat` whose person plays in a window of their own: what they do is found in
    `workspace.seat_moves`. `take`: the take of the log that is being written.
    """

    def __init__(self, workspace: Workspace, trial_id: int, take: Callable[[], int]) -> None:
        self._moves = workspace.seat_moves
        self._trial_id = trial_id
        self._take = take

    async def taken(self) -> str:
        while True:
            if holder := await asyncio.to_thread(self._moves.holder, self._trial_id):
                return holder
            await asyncio.sleep(LOOK)

    async def next_move(self, place: str) -> SeatMove:
        while True:
            take = self._take()
            step = await asyncio.to_thread(self._moves.find, self._trial_id, take, place)
            if step is not None and take == self._take():
                return step.move
            await asyncio.sleep(LOOK)


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
