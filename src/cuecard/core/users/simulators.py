"""Users played by a model: the persona of a staged task, the responder of a checkpoint task, and each of them asked for
a single uncorrected turn.
"""

import hashlib

from cuecard.core.config import Prompt, find_prompt
from cuecard.core.config_players import SimulatorConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import (
    Act,
    CheckpointStatus,
    Dialogue,
    Flag,
    Message,
    PlayerRef,
    UserReply,
)
from cuecard.core.engine.step_context import CallContext, StepContext, User
from cuecard.core.families.registry import chain_of
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import CueKind, Persona, Task, TaskLanguage
from cuecard.core.text import storable
from cuecard.core.users.asking import (
    MOVES,
    Asker,
    FarewellAnswer,
    PersonaAnswer,
    ResponderAnswer,
    Turn,
    label,
    listed,
    transcript,
)
from cuecard.core.users.checks import PersonaChecks, ResponderChecks, Words
from cuecard.core.users.responder import ChainRules, Move, Outcome, Place, read_move
from cuecard.core.users.scripted import OneShotUser, ScriptedUser, next_stage, phrase

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


class _Simulator:
    """A user part whose words are a model's."""

    kind: str

    def __init__(self, name: str, client: ChatClient, task: Task, *prompts: Prompt) -> None:
        self._name, self._prompts = name, prompts
        self._language: TaskLanguage = task.language
        self._model = Asker(client, task.language)

    @property
    def ref(self) -> PlayerRef:
        model, version = self._model.client.config.model, version_of(*self._prompts)
        return PlayerRef(name=self._name, kind=self.kind, model=model, version=version)


class PersonaUser(_Simulator):
    """A model plays the persona. It is shown the current stage in full and only the titles of later ones, and returns
    whether the cue is met and what the person says; a reply discloses at most one stage, always the next. If the cue is
    met and the words lack the stage's line, the line is said instead. Words that would give a line away are asked for
    again, then replaced by the stage's words for an unmet cue. Gold names and layout are asked for again, then flagged.

    It never runs out of patience: a cue that is never met is waited for until the trial's limit of turns. When all is
    disclosed and the model considers the last line answered, it is done. Without a usable answer the scripted user
    (which has patience) takes the turn, flagged.

    Raises `ValueError` for a task without a persona.
    """

    kind = "persona"

    def __init__(
        self, name: str, client: ChatClient, task: Task, prompt: Prompt, end_prompt: Prompt
    ) -> None:
        if task.persona is None:
            raise ValueError("a persona needs a task with one")
        super().__init__(name, client, task, prompt, end_prompt)
        self._persona: Persona = task.persona
        self._prompt, self._end_prompt = prompt, end_prompt
        self._scripted = ScriptedUser(task)
        self._checks = PersonaChecks(task)

    async def open(self, context: CallContext) -> UserReply:
        return await self._scripted.open(context)

    async def reply(self, dialogue: Dialogue, context: CallContext) -> UserReply:
        number = next_stage(self._persona, dialogue)
        if number is None:
            return await self._end(dialogue, context)
        start = self._persona.stages[number - 1].cue.kind is CueKind.START

        def examine(answer: PersonaAnswer) -> Words:
            if answer.cue_met or start:
                return self._checks.disclosing(answer.reply, number, dialogue)
            return self._checks.pushing(answer.reply, number, dialogue, ends=answer.done)

        asked = self.asked(dialogue)
        turn = await self._model.turn(asked, PersonaAnswer, self._prompt, context, examine)
        if not isinstance(turn, Turn):
            scripted = await self._scripted.reply(dialogue, context)
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

    async def _end(self, dialogue: Dialogue, context: CallContext) -> UserReply:
        turn = await self._model.turn(
            self.asked(dialogue),
            FarewellAnswer,
            self._end_prompt,
            context,
            lambda answer: self._checks.pushing(answer.reply, None, dialogue),
        )
        if not isinstance(turn, Turn):
            scripted = await self._scripted.reply(dialogue, context)
            return scripted.model_copy(update={"flags": (turn,)})
        done = turn.answer.done
        return UserReply(
            text=turn.findings.text or phrase(self._language, "thanks" if done else "push"),
            done=done,
            reason=storable(turn.answer.reason),
            flags=turn.findings.flags,
        )

    def asked(self, dialogue: Dialogue) -> str:
        """The prompt for the model's turn at the end of `dialogue`."""
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
    """A player's version by its prompts: 12 hex digits."""
    return hashlib.sha256("".join(prompt.hash for prompt in prompts).encode()).hexdigest()[:12]


class ModelResponder(_Simulator):
    """A model classifies the agent's turn and words the reply; status, clue and progress follow from the decision table
    (`ChainRules`, after DiscoBench).

    The agent's declaration outranks the model: `ask` only asks, `answer` only answers, and no question is right at a
    step that is not ambiguous. The model never sees a clue before its release, later steps or the final answer. A clue
    is always said in the task's words; other words that break a rule of `ResponderChecks` are asked for again, then
    replaced by scripted ones and flagged. Without a usable answer the turn is classified by the scripted rules, flagged.

    It never runs out of patience: only the limit of turns ends a trial without progress. Raises `ValueError` for a task
    of another family.
    """

    kind = "responder"

    def __init__(self, name: str, client: ChatClient, task: Task, prompt: Prompt) -> None:
        super().__init__(name, client, task, prompt)
        self._task = task
        self._prompt = prompt
        self._rules = ChainRules(task, patience=None)
        self._checks = ResponderChecks(task, self._rules)

    async def open(self, context: StepContext) -> UserReply:
        return UserReply(text=self._task.opening)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        place = self._rules.place(dialogue)

        def examine(answer: ResponderAnswer) -> Words:
            move, corrected = _admitted(MOVES[answer.move], last, place)
            outcome = self._rules.follow(dialogue, last, move)
            if corrected or not own_words(outcome, place):
                return Words(self._rules.words(outcome))
            return self._checks.words(answer.reply, place, dialogue)

        asked = self.asked(dialogue)
        turn = await self._model.turn(asked, ResponderAnswer, self._prompt, context, examine)
        if not isinstance(turn, Turn):
            outcome = self._rules.follow(dialogue, last, read_move(last, place.step))
            return self._rules.reply(outcome, flags=(turn,))
        move, _corrected = _admitted(MOVES[turn.answer.move], last, place)
        return self._rules.reply(
            self._rules.follow(dialogue, last, move),
            text=turn.findings.text,
            reason=storable(turn.answer.reason),
            flags=turn.findings.flags,
        )

    def asked(self, dialogue: Dialogue) -> str:
        """The prompt for the model's turn at the end of `dialogue`."""
        place, last = self._rules.place(dialogue), dialogue.last("agent")
        language, ambiguity = self._language, place.step.ambiguity
        none = label("none", language)
        return self._prompt.render(
            opening=self._task.opening,
            dialogue=transcript(dialogue, language),
            question=place.step.question,
            targets=listed(place.step.names, language),
            ambiguity=ambiguity.logic if ambiguity else none,
            candidates=listed(ambiguity.candidates if ambiguity else (), language),
            clue=label("yes" if place.situation.clue_given else "no", language),
            turn=last.text if last else none,
        )


def _admitted(move: Move, said: Message, place: Place) -> tuple[Move, bool]:
    """The move, corrected to what the agent's declaration and the step allow, and whether it was corrected."""
    asks = move in (Move.ASKS_RIGHTLY, Move.ASKS_OTHERWISE)
    if said.act is Act.ASK and not asks:
        return read_move(said, place.step), True
    if said.act is Act.ANSWER and move is not Move.RIGHT:
        return Move.WRONG, move is not Move.WRONG
    if move is Move.ASKS_RIGHTLY and not place.situation.ambiguous:
        return Move.ASKS_OTHERWISE, True
    return move, False


def own_words(outcome: Outcome, place: Place) -> bool:
    """Whether the model's words are used: not for a clue, nor if the turn completed another step than the one shown."""
    detected = outcome.status is CheckpointStatus.AMBIGUITY_DETECTED
    return not detected and outcome.index == place.index


class PersonaOnce(PersonaUser):
    """The persona's model without corrections, as a shadow: nothing is asked again, mended or replaced; faults are in
    `flags`.

    `cue_met` and `done` are the model's decisions; a met cue discloses the next stage, whether or not the words say its
    line. Without a usable answer there are no words and no decision.
    """

    async def reply(self, dialogue: Dialogue, context: CallContext) -> UserReply:
        number = next_stage(self._persona, dialogue)
        asked = self.asked(dialogue)
        if number is None:
            last = await self._model.once(asked, FarewellAnswer, self._end_prompt, context)
            if isinstance(last, Flag):
                return _unusable(last)
            return UserReply(
                text=storable(last.reply),
                done=last.done,
                reason=storable(last.reason),
                flags=self._checks.pushing(last.reply, None, dialogue).flags,
            )
        answer = await self._model.once(asked, PersonaAnswer, self._prompt, context)
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
    """The responder's model without corrections, as a shadow: the move is the model's, even against the agent's
    declaration (but no question is right at a step without ambiguity). Status and progress follow by the decision
    table. A clue is said in the task's words, since the model does not know it; all other words are the model's.
    """

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        last = dialogue.last("agent")
        if last is None:
            return UserReply(text=self._task.opening)
        asked = self.asked(dialogue)
        answer = await self._model.once(asked, ResponderAnswer, self._prompt, context)
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


def make_user(
    name: str, simulator: SimulatorConfig, config: Config, hub: ModelHub, task: Task, once: bool
) -> User:
    """The user part of one trial: it leads through steps, is the persona, or asks once. Raises `ConfigError`."""

    def prompt(which: str) -> Prompt:
        return find_prompt(which, task.language, config, simulator.prompts)

    client = hub.client(simulator.model)
    if chain_of(task):
        responder = ResponderOnce if once else ModelResponder
        return responder(name, client, task, prompt("responder"))
    if task.persona is None:
        return OneShotUser(task)
    persona = PersonaOnce if once else PersonaUser
    return persona(name, client, task, prompt("persona"), prompt("persona_end"))
