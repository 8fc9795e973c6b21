"""What a model may have a persona say at its place in the stages."""

from __future__ import annotations

from cuecard.core.parts import Dialogue, FlagKind
from cuecard.core.tasks import Persona, Stage, Task, TaskLanguage
from cuecard.core.users.checked import Words, well_formed
from cuecard.core.users.leaks import Secrets, gold_things, told_in
from cuecard.core.users.lines import carries, gives_away

_LIMIT = 4000


class PersonaChecks:
    """A persona names nothing of the gold before it has heard or said it, gives no line away before
    its turn, and talks like a person. Raises `ValueError` for a task without a persona.
    """

    def __init__(self, task: Task) -> None:
        if task.persona is None:
            raise ValueError("a persona needs a task with one")
        self._task = task
        self._persona: Persona = task.persona
        self._language: TaskLanguage = task.language
        self._secrets = Secrets(gold_things(task.gold))

    def disclosing(self, reply: str, number: int, dialogue: Dialogue) -> Words:
        """Words that say this stage's line, from 1: the reply if it carries the line, else the line."""
        stage = self._persona.stages[number - 1]
        line = stage.line
        if len(reply) > _LIMIT + len(line) or not carries(reply, line):
            return Words(line)
        words = self.with_line(reply, number, dialogue)
        if words.text and carries(words.text, line):
            return words
        return Words(line, words.complaints, words.flags)

    def with_line(self, reply: str, number: int, dialogue: Dialogue) -> Words:
        """Words beside this stage's line, from 1, whether or not they say it."""
        line = self._persona.stages[number - 1].line
        return self._checked(reply, line, self._persona.stages[number:], dialogue)

    def pushing(
        self, reply: str, number: int | None, dialogue: Dialogue, *, ends: bool = False
    ) -> Words:
        """Words that disclose nothing, while the cue of this stage is not met or (None) when all stages
        are disclosed. `ends`: the model takes the dialogue for finished.
        """
        if number is None:
            return self._checked(reply, "", (), dialogue)
        stages = self._persona.stages[number - 1 :]
        words = self._checked(reply, stages[0].not_met, stages, dialogue)
        if ends:
            words = words.blamed(self._language, "early_end", FlagKind.UNUSABLE)
        return words

    def _checked(self, reply: str, own: str, ahead: tuple[Stage, ...], dialogue: Dialogue) -> Words:
        told = told_in(self._task, dialogue, own)
        words = well_formed(reply, _LIMIT + len(own), told, own, self._language)
        early = tuple(s.title for s in ahead if gives_away(words.text, s.line, told))
        if early:
            words = words.blamed(self._language, "ahead", FlagKind.LEAK, early)
        if found := self._secrets.named(words.text, told):
            words = words.blamed(self._language, "leak", FlagKind.LEAK, found, text=words.text)
        return words
