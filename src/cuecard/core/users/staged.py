"""The user of VibeSearchBench's staged setting: says the sub-queries in their order, unconditionally."""

from __future__ import annotations

from cuecard.core.parts import Desk, Dialogue, PlayerRef, UserReply
from cuecard.core.tasks import Task, TaskLanguage
from cuecard.core.users.phrasebook import phrase


class StagedUser:
    """One sub-query a turn, whatever the agent replied; done when all are said and answered. Without
    sub-queries the persona's lines take their place, without a persona the query.
    """

    def __init__(self, task: Task) -> None:
        self._language: TaskLanguage = task.language
        lines = tuple(stage.line for stage in task.stages)
        self._lines = task.sub_queries or lines or (task.query,)
        self._staged = not task.sub_queries and bool(lines)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="staged", kind="staged", baseline=True)

    async def open(self, desk: Desk) -> UserReply:
        return self._say(0)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        said = len(dialogue.of("user"))
        if said < len(self._lines):
            return self._say(said)
        return UserReply(text=phrase(self._language, "thanks"), done=True)

    def _say(self, index: int) -> UserReply:
        stage = index + 1 if self._staged else None
        return UserReply(text=self._lines[index], stage=stage)
