"""What a person who plays the agent may know: no more than a model in their place.

Everything here is made anew from what a model would be told. Nothing of the log is handed on as it is, so
what is added to the log later stays hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from cuecard.core.agents.building import CONCLUSIONS
from cuecard.core.agents.public import PublicTask, public_task
from cuecard.core.agents.settings import approach_to
from cuecard.core.config_agents import Settings
from cuecard.core.events import (
    AgentSpoke,
    Concluded,
    Event,
    Limits,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
    course_of,
)
from cuecard.core.parts import AgentReply, ToolAnswer, ToolSpec, UserReply
from cuecard.core.prompts import find_prompt
from cuecard.core.seat_moves import SeatMove, move_place
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import contains_term

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.tasks import Task

SeatPhase = Literal["user", "yours", "working", "hand_in", "over"]
"""Whose turn it is: the user's; yours; nobody's, a move of yours waits to be carried out; yours, to hand
in; the trial has ended.
"""


class Briefing(Frozen):
    """What the agent knows before anything is said: of a table not even its columns. `role` and `closing`:
    what a model is told at the beginning and at the end, in the task's language. `choose_act`: a turn is
    an answer or a question.
    """

    trial_id: int
    user: str
    task: PublicTask
    role: str
    closing: str
    tools: tuple[ToolSpec, ...]
    choose_act: bool
    limits: Limits


class SeatView(Frozen):
    """`events`: what was said, searched and found, without any mark, decision or note of another part.
    `turn`: the exchange, from 0. `take`, `place`: where the next move goes. `pending`: a move that is made
    but not carried out yet. `calls_left`: in this turn. `newest_at`: when anything last happened in the
    session's window; `taken_back`: how often the user took words back or had a turn taken again.
    `columns`: those of a table that the user has named.
    """

    events: tuple[Event, ...]
    phase: SeatPhase
    turn: int
    take: int
    place: str
    calls_left: int
    pending: SeatMove | None = None
    newest_at: datetime | None = None
    newest: int = -1
    taken_back: int = 0
    columns: tuple[str, ...] = ()


def briefing_of(
    trial_id: int,
    user: str,
    task: Task,
    tools: Sequence[ToolSpec],
    limits: Limits,
    config: Config,
) -> Briefing:
    """Raises `ConfigError` for a prompt file that cannot be used."""
    approach = approach_to(task, Settings())
    role = find_prompt(approach.prompt, task.language, config, {})
    closing = find_prompt(CONCLUSIONS[task.family], task.language, config, {})
    return Briefing(
        trial_id=trial_id,
        user=user,
        task=public_task(task).model_copy(update={"columns": ()}),
        role=role.render(**approach.values),
        closing=closing.render(),
        tools=tuple(tools) if approach.world_tools else (),
        choose_act=bool(approach.own_tools),
        limits=limits,
    )


def view_of(log: Sequence[Event], limits: Limits, columns: Sequence[str] = ()) -> SeatView:
    """The view that follows from a trial's whole log, moves that are not carried out left aside. `columns`:
    all that the task's table has.
    """
    course = course_of(log)
    shown = tuple(_blind_events(course))
    spoken = [e.body for e in course if isinstance(e.body, UserSpoke | AgentSpoke)]
    said = "\n".join(body.reply.text for body in spoken if isinstance(body, UserSpoke))
    last = spoken[-1] if spoken else None
    turn = last.turn if last else 0
    phase: SeatPhase = "user"
    if any(isinstance(event.body, TrialEnded | Concluded) for event in course):
        phase = "over"
    elif isinstance(last, UserSpoke):
        phase = "hand_in" if last.reply.done or turn >= limits.max_turns else "yours"
    part = "conclusion" if phase == "hand_in" else "agent"
    keys = {event.body.key for event in course}
    number = 0
    while f"{part}/{turn}/tool/{number}" in keys:
        number += 1
    return SeatView(
        events=shown,
        phase=phase,
        turn=turn,
        take=log[-1].take if log else 0,
        place=move_place(part, turn, number),
        calls_left=max(limits.max_tool_calls_per_turn - number, 0) if phase == "yours" else 0,
        newest_at=log[-1].at if log else None,
        newest=log[-1].seq if log else -1,
        taken_back=sum(event.body.type == "trial_reopened" for event in log),
        columns=tuple(name for name in columns if contains_term(said, name)),
    )


def _blind_events(course: Iterable[Event]) -> Iterable[Event]:
    for event in course:
        match event.body:
            case UserSpoke(turn=turn, reply=said):
                body = UserSpoke(turn=turn, reply=UserReply(text=said.text))
            case AgentSpoke(turn=turn, reply=reply):
                told = AgentReply(text=reply.text, act=reply.act, interrupted=reply.interrupted)
                body = AgentSpoke(turn=turn, reply=told)
            case ToolAnswered(part="agent" | "conclusion", scope="") as found:
                answer = ToolAnswer(text=found.answer.text, ok=found.answer.ok)
                body = ToolAnswered(
                    part=found.part,
                    turn=found.turn,
                    step=found.step,
                    call=found.call,
                    answer=answer,
                )
            case Concluded(prediction=prediction):
                body = Concluded(prediction=prediction)
            case TrialEnded(termination=termination):
                body = TrialEnded(termination=termination)
            case _:
                continue
        yield Event(seq=event.seq, at=event.at, take=event.take, body=body)
