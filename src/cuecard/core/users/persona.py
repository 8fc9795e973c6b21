"""The persona played by a model. The engine owns the stages; the model judges cues and finds words."""

from __future__ import annotations

import hashlib

from cuecard.core.llm.client import ChatClient
from cuecard.core.parts import CallDesk, Dialogue, PlayerRef, UserReply
from cuecard.core.prompts import Prompt
from cuecard.core.tasks import CueKind, Persona, Task, TaskLanguage
from cuecard.core.text import storable
from cuecard.core.users.asking import Turn, ask_turn
from cuecard.core.users.checked import Words
from cuecard.core.users.persona_checks import PersonaChecks
from cuecard.core.users.phrasebook import phrase
from cuecard.core.users.scripted import ScriptedUser
from cuecard.core.users.shapes import FarewellAnswer, PersonaAnswer
from cuecard.core.users.stages import next_stage
from cuecard.core.users.transcript import label, listed, transcript

_WHEN: dict[TaskLanguage, dict[CueKind, str]] = {
    "en": {
        CueKind.START: "at once",
        CueKind.MENTIONS: "when the assistant's last reply mentions it",
        CueKind.ASKS: "only when the assistant, in its last reply, asks about it of its own accord",
        CueKind.COMPLETES: "when, with its last reply, the assistant has completed it",
    },
    "zh": {
        CueKind.START: "随时可以",
        CueKind.MENTIONS: "助手最近一次回复提到了相关内容时",
        CueKind.ASKS: "只有助手在最近一次回复中主动问起时",
        CueKind.COMPLETES: "到最近一次回复为止，助手已经把这件事做完时",
    },
}


class PersonaUser:
    """A model plays the persona. It sees the current stage whole, of later ones only the titles, and
    returns whether the cue is met and what the person says; at most one stage, always the next, is
    disclosed with a reply. Words that lack the line of a met cue are replaced by the line; words that
    would give a line away are asked for again, then replaced by what the stage says for an unmet cue.
    Named gold and odd forms are asked for again, then flagged.

    It has no patience to run out: a cue that is never met is pushed for until the trial's limit of
    turns. When all is disclosed and the model finds the last line answered, it is done. Without a
    usable answer a scripted user (which does have patience) takes the turn, flagged.

    Raises `ValueError` for a task without a persona.
    """

    def __init__(
        self, name: str, client: ChatClient, task: Task, prompt: Prompt, end_prompt: Prompt
    ) -> None:
        if task.persona is None:
            raise ValueError("a persona needs a task with one")
        self._name = name
        self._client = client
        self._persona: Persona = task.persona
        self._language: TaskLanguage = task.language
        self._prompt, self._end_prompt = prompt, end_prompt
        self._scripted = ScriptedUser(task)
        self._checks = PersonaChecks(task)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(
            name=self._name,
            kind="persona",
            model=self._client.config.model,
            version=version_of(self._prompt, self._end_prompt),
        )

    async def open(self, desk: CallDesk) -> UserReply:
        return await self._scripted.open(desk)

    async def reply(self, dialogue: Dialogue, desk: CallDesk) -> UserReply:
        number = next_stage(self._persona, dialogue)
        if number is None:
            return await self._end(dialogue, desk)
        start = self._persona.stages[number - 1].cue.kind is CueKind.START

        def examine(answer: PersonaAnswer) -> Words:
            if answer.cue_met or start:
                return self._checks.disclosing(answer.reply, number, dialogue)
            return self._checks.pushing(answer.reply, number, dialogue, ends=answer.done)

        turn = await ask_turn(
            self._client,
            self.asked(dialogue),
            PersonaAnswer,
            desk,
            prompt=self._prompt,
            language=self._language,
            examine=examine,
        )
        if not isinstance(turn, Turn):
            scripted = await self._scripted.reply(dialogue, desk)
            return scripted.model_copy(update={"flags": (turn,)})
        met = turn.answer.cue_met or start
        last = dialogue.last("agent")
        return UserReply(
            text=turn.findings.text or self._scripted.push(number, last.text if last else ""),
            stage=number if met else None,
            cue_met=met,
            reason=storable(turn.answer.reason),
            flags=turn.findings.flags,
        )

    async def _end(self, dialogue: Dialogue, desk: CallDesk) -> UserReply:
        turn = await ask_turn(
            self._client,
            self.asked(dialogue),
            FarewellAnswer,
            desk,
            prompt=self._end_prompt,
            language=self._language,
            examine=lambda answer: self._checks.pushing(answer.reply, None, dialogue),
        )
        if not isinstance(turn, Turn):
            scripted = await self._scripted.reply(dialogue, desk)
            return scripted.model_copy(update={"flags": (turn,)})
        done = turn.answer.done
        return UserReply(
            text=turn.findings.text or phrase(self._language, "thanks" if done else "push"),
            done=done,
            reason=storable(turn.answer.reason),
            flags=turn.findings.flags,
        )

    def asked(self, dialogue: Dialogue) -> str:
        """What the model is asked at this point of the dialogue."""
        language, number = self._language, next_stage(self._persona, dialogue)
        none = label("none", language)
        person = {
            "identity": self._identity,
            "behaviour": self._persona.behaviour or none,
            "dialogue": transcript(dialogue, language),
        }
        if number is None:
            return self._end_prompt.render(**person, line=self._persona.stages[-1].line)
        stage = self._persona.stages[number - 1]
        return self._prompt.render(
            **person,
            number=str(number),
            title=stage.title,
            when=_WHEN[language][stage.cue.kind],
            cue=stage.cue.text,
            terms=", ".join(stage.cue.terms) or none,
            line=stage.line,
            not_met=stage.not_met or phrase(language, "push"),
            later=listed(tuple(s.title for s in self._persona.stages[number:]), language),
        )

    @property
    def _identity(self) -> str:
        name, identity = self._persona.name, self._persona.identity
        return identity if name in identity else f"{name}\n{identity}"


def version_of(*prompts: Prompt) -> str:
    """What tells players apart that differ only in their prompts: 12 hex digits."""
    return hashlib.sha256("".join(prompt.hash for prompt in prompts).encode()).hexdigest()[:12]
