"""The scripted responder: the user of a checkpoint task (DiscoBench's responder, without a model)."""

from __future__ import annotations

from cuecard.core.parts import Desk, Dialogue, PlayerRef, UserReply
from cuecard.core.tasks import Task
from cuecard.core.users.chain_rules import ChainRules
from cuecard.core.users.moves import read_move

PATIENCE = 3


class ScriptedResponder:
    """Asks the ambiguous question and reads every turn of the agent at the current step by the names
    in it. It never names the next question or a forbidden string. After `patience` turns in a row
    without progress it gives up; a task completed ends as answered.

    Raises `ValueError` for a task of another family.
    """

    def __init__(self, task: Task, patience: int = PATIENCE) -> None:
        self._task = task
        self._rules = ChainRules(task, patience)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="scripted responder", kind="responder", baseline=True)

    async def open(self, desk: Desk) -> UserReply:
        return UserReply(text=self._task.opening)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        move = read_move(last, self._rules.place(dialogue).step)
        return self._rules.reply(self._rules.follow(dialogue, last, move))
