"""Users without a model: one that discloses a persona's stages when cues are met, one that says sub-queries in order,
one that asks once; and the phrases they use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from cuecard.core.engine.events import Limits
from cuecard.core.engine.messages import Dialogue, PlayerRef, UserReply
from cuecard.core.engine.step_context import CallContext, StepContext, User
from cuecard.core.families.registry import chain_of
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task, TaskLanguage
from cuecard.core.text import (
    contains_term,
    content_words,
    coverage,
    is_question,
    normalise,
    questions,
    sentences,
    shared_words,
    statements_in,
)

if TYPE_CHECKING:
    from cuecard.core.config_players import ScriptedUserConfig


def next_stage(persona: Persona, dialogue: Dialogue) -> int | None:
    """The first stage (from 1) that is not disclosed yet; None if all are."""
    disclosed = set(dialogue.stages_disclosed)
    numbers = range(1, len(persona.stages) + 1)
    return next((number for number in numbers if number not in disclosed), None)


_MENTIONED = 0.3
_COVERED_WORDS = 2


class CueWhy(StrEnum):
    """Why a reply meets a cue, or why it does not."""

    START = "start"
    TERM = "term"
    QUESTION = "question"
    WORDS = "words"
    STATEMENT = "statement"
    NOTHING_SAID = "nothing_said"
    NO_TERM = "no_term"
    TERM_NOT_ASKED = "term_not_asked"
    NO_QUESTION = "no_question"
    FEW_WORDS = "few_words"
    ONLY_QUESTIONS = "only_questions"


@dataclass(frozen=True)
class CueCheck:
    """Whether a reply meets a cue, and why. `term`: the cue's term that was found (for `TERM_NOT_ASKED`, in a sentence
    that asks nothing); `sentence`: the sentence of the reply that decided. `words`: which of the `wanted` content words
    of the cue's text the reply has.
    """

    met: bool
    why: CueWhy
    term: str = ""
    sentence: str = ""
    words: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


def cue_met(cue: Cue, reply_text: str) -> bool:
    """Whether a reply meets a cue; `explain_cue` says why."""
    return explain_cue(cue, reply_text).met


def explain_cue(cue: Cue, reply_text: str) -> CueCheck:
    """Whether and why a reply meets a cue.

    `start` is always met. A cue with terms is met if one of them is in the reply; for `asks`, in a question. Without
    terms, `asks` is met by any question, `mentions` by a reply with about a third of the content words of the cue's
    text, and `completes` by a reply that contains a statement.
    """
    if cue.kind is CueKind.START:
        return CueCheck(True, CueWhy.START)
    if cue.kind is CueKind.ASKS:
        return _asked(cue, reply_text)
    if cue.terms:
        term = _first_term(cue, reply_text)
        if term:
            return CueCheck(True, CueWhy.TERM, term, _sentence_with(reply_text, term))
        return _missed(CueWhy.NO_TERM, reply_text)
    if cue.kind is CueKind.MENTIONS:
        wanted, said = content_words(cue.text), content_words(reply_text)
        met = coverage(wanted, said) >= _MENTIONED
        check = _met(CueWhy.WORDS) if met else _missed(CueWhy.FEW_WORDS, reply_text)
        return replace(check, words=shared_words(wanted, said), wanted=wanted)
    stated = next((s for s in statements_in(reply_text) if normalise(s)), "")
    if stated:
        return _met(CueWhy.STATEMENT, stated)
    return _missed(CueWhy.ONLY_QUESTIONS, reply_text)


def _asked(cue: Cue, reply_text: str) -> CueCheck:
    asked = questions(reply_text)
    if not cue.terms:
        return _met(CueWhy.QUESTION, asked[0]) if asked else _missed(CueWhy.NO_QUESTION, reply_text)
    for question in asked:
        if term := _first_term(cue, question):
            return CueCheck(True, CueWhy.TERM, term, question)
    if term := _first_term(cue, reply_text):
        sentence = _sentence_with(reply_text, term)
        return CueCheck(False, CueWhy.TERM_NOT_ASKED, term, sentence)
    return _missed(CueWhy.NO_TERM if asked else CueWhy.NO_QUESTION, reply_text)


def _met(why: CueWhy, sentence: str = "") -> CueCheck:
    return CueCheck(True, why, sentence=sentence)


def _missed(why: CueWhy, reply_text: str) -> CueCheck:
    return CueCheck(False, why if reply_text.strip() else CueWhy.NOTHING_SAID)


def _first_term(cue: Cue, text: str) -> str:
    return next((term for term in cue.terms if contains_term(text, term)), "")


def _sentence_with(text: str, term: str) -> str:
    """The sentence that contains the term; "" if no single sentence does."""
    return next((s for s in sentences(text) if contains_term(s, term)), "")


def is_covered(question: str, stage: Stage) -> bool:
    """Whether a question is about what a stage's line says."""
    if any(contains_term(question, term) for term in stage.cue.terms):
        return True
    about = content_words(f"{stage.title}\n{stage.line}")
    return len(shared_words(content_words(question), about)) >= _COVERED_WORDS


Phrase = Literal[
    "push",
    "no_preference",
    "thanks",
    "go_on",
    "completed",
    "wrong",
    "nothing_yet",
    "no_wish",
    "give_up",
]
_PHRASES: dict[TaskLanguage, dict[Phrase, str]] = {
    "en": {
        "push": "That is not quite what I am after yet. Could you go on?",
        "no_preference": "I don't mind either way; please decide yourself.",
        "thanks": "Thank you, that is all I wanted to know.",
        "go_on": "That fits, go on.",
        "completed": "Yes, that is what I was looking for. Thank you!",
        "wrong": "That does not seem right to me. Please look again.",
        "nothing_yet": "I don't see an answer in that yet. Please go on.",
        "no_wish": "I have no special wish there; take it as it stands.",
        "give_up": "I don't think we are getting anywhere. Let us leave it there, thank you.",
    },
    "zh": {
        "push": "这还不是我想要的，请继续。",
        "no_preference": "这个我都可以，您来定吧。",
        "thanks": "谢谢，我想知道的就是这些。",
        "go_on": "对得上，请继续。",
        "completed": "对，我要找的就是这个。谢谢！",
        "wrong": "这个好像不对，请再查一查。",
        "nothing_yet": "我还没有看到答案，请继续。",
        "no_wish": "这一点我没有特别的要求，按字面理解就行。",
        "give_up": "看来查不出来了，就到这里吧，谢谢。",
    },
}
_PUSHES: dict[TaskLanguage, tuple[str, ...]] = {
    "en": (
        "Hm, that does not really help me yet. Could you look a little further?",
        "Could you be more specific about that?",
        "I think you have missed what I asked. Please take another look.",
        "Go on, I am not there yet.",
        "Is that all you can find? I had hoped for more.",
        "I see. And what else is there to say about it?",
    ),
    "zh": (
        "嗯，这对我帮助不大，能再查一查吗？",
        "能说得更具体一些吗？",
        "您好像没有回答我的问题，请再看一下。",
        "请接着说，我想知道的还没说到。",
        "只能查到这些吗？我还想了解得更多。",
        "明白了，那还有别的吗？",
    ),
}


def pushes(language: TaskLanguage) -> tuple[str, ...]:
    """Phrases that urge an agent to go on and give nothing away, the scripted user's first."""
    return (_PHRASES[language]["push"], *_PUSHES[language])


def phrase(language: TaskLanguage, name: Phrase) -> str:
    return _PHRASES[language][name]


PATIENCE = 3


class ScriptedUser:
    """Discloses one stage per turn, as soon as the agent's last reply meets its cue.

    It opens with the initial query, and with the line of a first stage whose cue is `start`. While a cue is not met
    it says the stage's words for that case; asked about something that no stage covers, it says that it does not
    matter. After `patience` such turns in a row it discloses the stage all the same (recorded as `cue_met=False`,
    reason `patience`), so that trials end. When the last line has been answered it is done.

    Everything is derived from the dialogue alone. Raises `ValueError` for a task without a persona.
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

    async def open(self, context: CallContext) -> UserReply:
        return self.opening()

    def opening(self) -> UserReply:
        """The user's first words."""
        query, first = self._persona.initial_query, self._persona.stages[0]
        if first.cue.kind is not CueKind.START:
            return UserReply(text=query)
        if normalise(first.line) in normalise(query):
            return UserReply(text=query, stage=1, cue_met=True)
        if normalise(query) in normalise(first.line):
            return UserReply(text=first.line, stage=1, cue_met=True)
        return UserReply(text=f"{query}\n\n{first.line}", stage=1, cue_met=True)

    async def reply(self, dialogue: Dialogue, context: CallContext) -> UserReply:
        return self.answer(dialogue)

    def answer(self, dialogue: Dialogue) -> UserReply:
        """The user's reply at the end of `dialogue`."""
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
        """How many of the user's latest turns in a row disclosed nothing; the opening does not count."""
        count = 0
        for message in reversed(dialogue.of("user")):
            if message.stage is not None or message.turn == 0:
                break
            count += 1
        return count

    def push(self, number: int, said: str) -> str:
        """The user's words when the agent's reply `said` does not meet the cue of stage `number` (from 1)."""
        stage = self._persona.stages[number - 1]
        push = stage.not_met or phrase(self._language, "push")
        remaining = self._persona.stages[number - 1 :]
        asked = questions(said)
        if asked and not any(is_covered(q, stage) for q in asked for stage in remaining):
            blank = "" if self._language == "zh" else " "
            return f"{phrase(self._language, 'no_preference')}{blank}{push}"
        return push


class StagedUser:
    """Says one sub-query per turn, whatever the agent replied, and is done when all are answered. A task without
    sub-queries gives the persona's lines instead, one without a persona the query.
    """

    def __init__(self, task: Task) -> None:
        self._language: TaskLanguage = task.language
        lines = tuple(stage.line for stage in task.stages)
        self._lines = task.sub_queries or lines or (task.query,)
        self._staged = not task.sub_queries and bool(lines)

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name="staged", kind="staged", baseline=True)

    async def open(self, context: StepContext) -> UserReply:
        return self._say(0)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        said = len(dialogue.of("user"))
        if said < len(self._lines):
            return self._say(said)
        return UserReply(text=phrase(self._language, "thanks"), done=True)

    def _say(self, index: int) -> UserReply:
        stage = index + 1 if self._staged else None
        return UserReply(text=self._lines[index], stage=stage)


MAX_QUESTIONS = 5


class OneShotUser:
    """Opens with the query, or with `opening`, and answers no questions: the first reply that does not end with a
    question is taken as the answer, and after `max_questions` questions any reply is. `baseline` is false where asking
    once is the intended setting rather than a stand-in for a simulator.
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

    async def open(self, context: StepContext) -> UserReply:
        return UserReply(text=self._opening)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        last = dialogue.last("agent")
        said = sentences(last.text) if last else ()
        answered = len(dialogue.of("user")) - 1
        if said and is_question(said[-1]) and answered < self._max_questions:
            return UserReply(text=phrase(self._task.language, "no_preference"))
        return UserReply(text=phrase(self._task.language, "thanks"), done=True, answered=True)


HASTY = "scripted:hasty"


class _HastyUser(ScriptedUser):
    """Takes the cue of the next stage for met, whatever the agent said."""

    @property
    def ref(self) -> PlayerRef:
        return PlayerRef(name=HASTY, kind=HASTY, baseline=True)

    def answer(self, dialogue: Dialogue) -> UserReply:
        number = next_stage(self._persona, dialogue)
        if number is None:
            return super().answer(dialogue)
        line = self._persona.stages[number - 1].line
        return UserReply(text=line, stage=number, cue_met=True)


def _hasty_user(task: Task) -> User:
    if chain_of(task):
        from cuecard.core.users.responder import ScriptedResponder

        return ScriptedResponder(task, 1)
    return OneShotUser(task, 0) if task.persona is None else _HastyUser(task)


def scripted_user_for(task: Task) -> User:
    """The offline user for `task`: a responder where the user leads through steps, a scripted user for a persona,
    otherwise a user who asks once.

    With many stages the scripted user waits fewer turns for each cue, so that even an agent that never meets one
    hears the last stage within the usual limit of turns.
    """
    if chain_of(task):
        from cuecard.core.users.responder import ScriptedResponder

        return ScriptedResponder(task)
    if task.persona is None:
        return OneShotUser(task)
    turns_a_stage = (Limits().max_turns - 1) // len(task.stages)
    return ScriptedUser(task, patience=min(PATIENCE, max(turns_a_stage - 1, 0)))


def make_user(
    _name: str,
    settings: ScriptedUserConfig,
    _config: object,
    _hub: object,
    task: Task,
    *_rest: object,
) -> User:
    """As `scripted_user_for`, or the one that waits for no cue; there is nothing else to configure."""
    return _hasty_user(task) if settings.kind == HASTY else scripted_user_for(task)
