"""The agent's part in a person's hands: moves become events, once."""

from __future__ import annotations

from cuecard.annotate.samples import load_samples
from cuecard.core.engine.events import Event, Limits, ToolAnswered
from cuecard.core.engine.messages import ToolCall
from cuecard.core.engine.players import NoPlayer, PersonAgent
from cuecard.core.engine.step_context import HandInMove, PlayMove, ReplyMove, ToolMove
from cuecard.core.engine.trial import TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.predictions import AnswerPrediction
from cuecard.core.tasks.models import Task
from cuecard.core.users.scripted import OneShotUser
from cuecard.core.worlds.closed import ClosedWorld


class Recorded(NoPlayer):
    """Somebody whose moves are known beforehand; notes which were asked for."""

    def __init__(self, moves: dict[str, PlayMove]) -> None:
        self._moves = moves
        self.asked: list[str] = []

    async def taken(self) -> str:
        return "wiz"

    async def next_move(self, place: str) -> PlayMove:
        self.asked.append(place)
        return self._moves[place]


def call(name: str, **arguments: str) -> ToolMove:
    return ToolMove(call=ToolCall(name=name, arguments=dict(arguments)))


MOVES: dict[str, PlayMove] = {
    "agent/0/move/0": call("search", query="departure"),
    "agent/0/move/1": call("teleport", query="there"),
    "agent/0/move/2": call("search", query="one too many"),
    "agent/0/move/3": ReplyMove(text=" It is 42. "),
    "conclusion/move/0": HandInMove(prediction=AnswerPrediction(answer="42")),
}


def facts() -> Task:
    return next(task for task in load_samples() if task.family == "facts")


async def played(player: Recorded, past: tuple[Event, ...] = ()) -> list[Event]:
    task, sink = facts(), MemorySink()
    setup = TrialSetup(
        task=task,
        agent=PersonAgent(player, task.language),
        user=OneShotUser(task),
        world=ClosedWorld(task),
        limits=Limits(max_tool_calls_per_turn=2),
    )
    await play(setup, TrialLog(sink, past))
    return [*past, *sink.events]


async def test_what_cannot_be_called_is_refused_and_recorded():
    events = await played(Recorded(MOVES))
    answers = [e.body.answer for e in events if isinstance(e.body, ToolAnswered)]
    assert [answer.ok for answer in answers] == [True, False, False]
    assert [event.body.key for event in events] == [
        "start",
        "user/0",
        "agent/0/part_taken/0",
        "agent/0/tool/0",
        "agent/0/tool/1",
        "agent/0/tool/2",
        "agent/0",
        "user/1",
        "conclusion",
        "end",
    ]
    (spoke,) = [e.body for e in events if e.body.type == "agent_spoke"]
    assert spoke.reply.text == "It is 42."


async def test_what_is_in_the_log_is_not_waited_for_again():
    whole = await played(Recorded(MOVES))
    for done in range(1, len(whole)):
        player = Recorded(MOVES)
        again = await played(player, tuple(whole[:done]))
        assert [e.body for e in again] == [e.body for e in whole]
        tools = sum(isinstance(e.body, ToolAnswered) for e in whole[:done])
        assert all(f"agent/0/move/{n}" not in player.asked for n in range(tools))
