"""The user of a task without a persona: asks once and takes the answer."""

from __future__ import annotations

from cuecard.core.parts import Desk, Dialogue, PlayerRef, UserReply
from cuecard.core.phrases import is_question, sentences
from cuecard.core.tasks import Task
from cuecard.core.users.phrasebook import phrase

MAX_QUESTIONS = 5


class OneShotUser:
    """Opens with the query, or with `opening`; leaves every question to the agent; the first reply that
    does not end with a question is the answer. After `max_questions` questions it takes whatever there
    is. Not a `baseline`: where saying one thing is all that is wanted.
    """

    def __init__(
        self,
        task: Task,
        max_questions: int = MAX_QUESTIONS,
        *,
        opening: str = "",
        baseline: bool = True,
    ) -> None:
        self._task = task
        self._max_questions = max_questions
        self._opening = opening or task.query
        self._baseline = baseline

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="one-shot", kind="oneshot", baseline=self._baseline)

    async def open(self, desk: Desk) -> UserReply:
        return UserReply(text=self._opening)

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        last = dialogue.last("agent")
        said = sentences(last.text) if last else ()
        answered = len(dialogue.of("user")) - 1
        if said and is_question(said[-1]) and answered < self._max_questions:
            return UserReply(text=phrase(self._task.language, "no_preference"))
        return UserReply(text=phrase(self._task.language, "thanks"), done=True, answered=True)
