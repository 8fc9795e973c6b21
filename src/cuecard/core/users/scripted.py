"""The scripted user: plays a persona's stages in order by testable cues."""

from __future__ import annotations

from cuecard.core.parts import CallDesk, Dialogue, PlayerRef, UserReply
from cuecard.core.phrases import questions
from cuecard.core.tasks import CueKind, Persona, Task, TaskLanguage
from cuecard.core.text import normalise
from cuecard.core.users.cues import cue_met, is_covered
from cuecard.core.users.phrasebook import phrase
from cuecard.core.users.stages import next_stage

PATIENCE = 3


class ScriptedUser:
    """Discloses one stage a turn, each when the agent's last reply meets its cue.

    It opens with the initial query; a first stage whose cue is `start` belongs to the opening and
    its line is said along with it. While a cue is not met it pushes with what the stage says for
    that case; asked about something that no stage covers, it says it does not care. After `patience`
    pushes in a row it moves on all the same (recorded as `cue_met=False`, reason `patience`), so
    that a trial ends. When the last line has been answered it is done.

    Everything follows from the dialogue alone. Raises `ValueError` for a task without a persona.
    """

    def __init__(self, task: Task, patience: int = PATIENCE) -> None:
        if task.persona is None:
            raise ValueError("a scripted user needs a task with a persona")
        self._persona: Persona = task.persona
        self._language: TaskLanguage = task.language
        self._patience = patience

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="scripted", kind="scripted", baseline=True)

    async def open(self, desk: CallDesk) -> UserReply:
        return self.opening()

    def opening(self) -> UserReply:
        """What is said first."""
        query, first = self._persona.initial_query, self._persona.stages[0]
        if first.cue.kind is not CueKind.START:
            return UserReply(text=query)
        if normalise(first.line) in normalise(query):
            return UserReply(text=query, stage=1, cue_met=True)
        if normalise(query) in normalise(first.line):
            return UserReply(text=first.line, stage=1, cue_met=True)
        return UserReply(text=f"{query}\n\n{first.line}", stage=1, cue_met=True)

    async def reply(self, dialogue: Dialogue, desk: CallDesk) -> UserReply:
        return self.answer(dialogue)

    def answer(self, dialogue: Dialogue) -> UserReply:
        """What is said at this point of the dialogue."""
        number = next_stage(self._persona, dialogue)
        if number is None:
            return UserReply(text=phrase(self._language, "thanks"), done=True)
        stage = self._persona.stages[number - 1]
        last = dialogue.last("agent")
        said = last.text if last else ""
        if cue_met(stage.cue, said):
            return UserReply(text=stage.line, stage=number, cue_met=True)
        if self._pushes(dialogue) >= self._patience:
            return UserReply(text=stage.line, stage=number, cue_met=False, reason="patience")
        return UserReply(text=self.push(number, said), cue_met=False)

    @staticmethod
    def _pushes(dialogue: Dialogue) -> int:
        """How many times in a row the user has pushed; the opening is no push."""
        count = 0
        for message in reversed(dialogue.of("user")):
            if message.stage is not None or message.turn == 0:
                break
            count += 1
        return count

    def push(self, number: int, said: str) -> str:
        """What is said while the cue of this stage, from 1, is not met by the agent's reply."""
        stage = self._persona.stages[number - 1]
        push = stage.not_met or phrase(self._language, "push")
        remaining = self._persona.stages[number - 1 :]
        asked = questions(said)
        if asked and not any(is_covered(q, stage) for q in asked for stage in remaining):
            blank = "" if self._language == "zh" else " "
            return f"{phrase(self._language, 'no_preference')}{blank}{push}"
        return push
