"""Simulators that are looked at, not played with: one call a turn, and words as the model gave them."""

from __future__ import annotations

from cuecard.core.parts import CallDesk, Desk, Dialogue, Flag, UserReply
from cuecard.core.text import storable
from cuecard.core.users.asking import ask_once
from cuecard.core.users.model_responder import ModelResponder, own_words
from cuecard.core.users.moves import Move
from cuecard.core.users.persona import PersonaUser
from cuecard.core.users.shapes import MOVES, FarewellAnswer, PersonaAnswer, ResponderAnswer
from cuecard.core.users.stages import next_stage


class PersonaOnce(PersonaUser):
    """A persona as its model plays it unaided. Nothing is asked again, mended or replaced by the line;
    what would be complained of stands in `flags`.

    `cue_met` and `done` are the model's; a met cue discloses the next stage, for the engine counts, whether
    or not the words say its line. Without a usable answer there are no words and no decision.
    """

    async def reply(self, dialogue: Dialogue, desk: CallDesk) -> UserReply:
        number = next_stage(self._persona, dialogue)
        asked, language = self.asked(dialogue), self._language
        if number is None:
            last = await ask_once(
                self._client,
                asked,
                FarewellAnswer,
                desk,
                prompt=self._end_prompt,
                language=language,
            )
            if isinstance(last, Flag):
                return _unusable(last)
            return UserReply(
                text=storable(last.reply),
                done=last.done,
                reason=storable(last.reason),
                flags=self._checks.pushing(last.reply, None, dialogue).flags,
            )
        answer = await ask_once(
            self._client, asked, PersonaAnswer, desk, prompt=self._prompt, language=language
        )
        if isinstance(answer, Flag):
            return _unusable(answer)
        if answer.cue_met:
            words = self._checks.with_line(answer.reply, number, dialogue)
        else:
            words = self._checks.pushing(answer.reply, number, dialogue, ends=answer.done)
        return UserReply(
            text=storable(answer.reply),
            stage=number if answer.cue_met else None,
            cue_met=answer.cue_met,
            done=answer.done,
            reason=storable(answer.reason),
            flags=words.flags,
        )


class ResponderOnce(ModelResponder):
    """A responder as its model plays it unaided: the move is the model's, also where the agent's tool says
    otherwise (but where there are no readings, nobody asks rightly). Status and progress follow from it
    by the decision table. A clue is always said in the task's words, for the model does not know it; all
    other words are the model's, whatever they give away.
    """

    async def reply(self, dialogue: Dialogue, desk: Desk) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        answer = await ask_once(
            self._client,
            self.asked(dialogue),
            ResponderAnswer,
            desk,
            prompt=self._prompt,
            language=self._language,
        )
        if isinstance(answer, Flag):
            return _unusable(answer)
        place = self._rules.place(dialogue)
        move = MOVES[answer.move]
        if move is Move.ASKS_RIGHTLY and not place.situation.ambiguous:
            move = Move.ASKS_OTHERWISE
        outcome = self._rules.follow(dialogue, last, move)
        reply = self._rules.reply(outcome, reason=storable(answer.reason))
        if not own_words(outcome, place):
            return reply
        words = self._checks.words(answer.reply, place, dialogue)
        said = {"text": storable(answer.reply), "flags": words.flags}
        return reply.model_copy(update=said)


def _unusable(flag: Flag) -> UserReply:
    return UserReply(text="", flags=(flag,))
