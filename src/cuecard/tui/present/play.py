"""The state of a live session for the person who plays the user: card, mark, text, phrases, and composed answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    TrialEnded,
    TrialRetried,
    UserSpoke,
    dialogue_of,
    kept_by,
)
from cuecard.core.engine.messages import Act, CheckpointStatus, Evidence, Message, UserReply
from cuecard.core.tasks.models import CueKind, TaskLanguage
from cuecard.core.text import contains_term, content_words, questions, shared_words, storable
from cuecard.core.users.responder import CurrentStep, Move, read_move, status_of
from cuecard.core.users.scripted import Phrase, is_covered, phrase, pushes
from cuecard.tui.present.play_decisions import (
    MOVES,
    SAYS,
    Decision,
    Doubt,
    Insertion,
    Mark,
    PlayPlace,
    Reading,
    keeps_meaning,
    mark_of,
    opening_text,
    reading_of,
    says,
)


@dataclass
class PlayState(PlayPlace):
    """One trial as its human user sees it. `follow` takes events in, `reply` gives what is sent. `inserted`: the line
    that a key inserted; `evidence`: the range that the mark is based on, in the agent's last reply.
    """

    mark: Mark | None = None
    reading: Reading | None = None
    inserted: str = ""
    evidence: Evidence | None = None

    def follow(self, event: Event) -> None:
        """Take in what happened."""
        body = event.body
        if isinstance(body, TrialRetried):
            self._take_again(body)
            return
        self.effective.append(event)
        match body:
            case UserSpoke():
                self.dialogue = self.dialogue.plus(body.message)
                self.phase = "concluding" if body.reply.done else "writing"
                self._forget_marks()
                self.inserted = ""
            case AgentSpoke():
                self.dialogue = self.dialogue.plus(body.message)
                self.phase = "yours"
            case TrialEnded():
                self.phase = "ended"
            case _:
                pass

    def take_back(self, reply: UserReply) -> str:
        """The person's last words are theirs again: put their marks back and return them."""
        chain = self.chain
        if chain:
            self.reading = reading_of(reply, at_last=self.step_number == len(chain.steps) - 1)
        elif self.stage and self.stage.cue.kind is not CueKind.START:
            self.mark = mark_of(reply)
        self.evidence = reply.evidence
        if self.says_line(reply.text) or reply.stage is not None:
            self.inserted = self.line
        return reply.text

    @property
    def mark_wanted(self) -> bool:
        """Whether the agent's last reply still lacks the person's mark."""
        return self.markable and self.chain is None and self.mark is None

    @property
    def reading_wanted(self) -> bool:
        """Whether the agent's last turn still lacks the person's reading."""
        return self.markable and self.chain is not None and self.reading is None

    @property
    def markable(self) -> bool:
        """Whether the agent's last reply can be marked at all."""
        if self.dialogue.last("agent") is None:
            return False
        if self.chain:
            return self.step is not None
        return self.stage is not None and self.stage.cue.kind is not CueKind.START

    def insert(self, what: Insertion) -> str:
        """The text that a key inserts; "" where the card has none. A line is remembered."""
        language = self.task.language
        match what:
            case Insertion.LINE:
                self.inserted = self.line or self.inserted
                return self.line
            case Insertion.PUSH if self.chain and self.reading:
                return phrase(language, SAYS.get(self.reading, "nothing_yet"))
            case Insertion.PUSH:
                return (self.stage.not_met if self.stage else "") or phrase(language, "push")
            case Insertion.NEVER_MIND:
                return phrase(language, "no_preference")

    def suggestion(self) -> str:
        """What follows from the person's mark or reading: the card's line, or a push."""
        if self.mark is Mark.MET or self.reading is Reading.ASKED:
            return self.insert(Insertion.LINE) or self.insert(Insertion.PUSH)
        if self.mark is Mark.NOT_MET or self.reading:
            return self.insert(Insertion.PUSH)
        return ""

    @property
    def line(self) -> str:
        """What the card gives to say: the stage's line, or the clue of an ambiguous step."""
        if self.opening:
            return opening_text(self.task)
        if self.stage:
            return self.stage.line
        ambiguity = self.step.ambiguity if self.step else None
        return ambiguity.clue if ambiguity else ""

    def discloses(self, text: str) -> int | None:
        """The stage that sending `text` would disclose."""
        return self.stage_number if self.stage and self._says(self.stage.line, text) else None

    def edited(self, text: str) -> bool:
        """Whether `text` says the card's line in other words or with more than it; an opening is
        always the card's.
        """
        said = self.opening or self.says_line(text)
        return said and text.strip() != self.line.strip()

    def says_line(self, text: str) -> bool:
        """Whether `text` says what the card gives, as it stands or edited."""
        return self._says(self.line, text)

    def doubt(self, text: str) -> Doubt | None:
        """Whether the person must say if `text` is the card's line. `edited`: a line that may mean
        something else by now; `unsaid`: the line is due, but not to be found in the words.
        """
        if not text.strip() or not self.line:
            return None
        if self.edited(text):
            return None if keeps_meaning(self.line, text) else "edited"
        return "unsaid" if self._line_due and not self.says_line(text) else None

    @property
    def _line_due(self) -> bool:
        if self.chain:
            return self.reading is Reading.ASKED and not self.clue_released
        started = self.stage is not None and self.stage.cue.kind is CueKind.START
        return self.stage is not None and (self.mark is Mark.MET or started)

    def _says(self, line: str, text: str) -> bool:
        return says(line, text, offered=self.opening or self.inserted == self.line)

    def forbidden_in(self, text: str) -> tuple[str, ...]:
        """The strings that the user part must never say and that `text` holds."""
        forbidden = self.chain.forbidden if self.chain else ()
        return tuple(term for term in forbidden if contains_term(text, term))

    def status(self) -> CheckpointStatus | None:
        """The responder's status that follows from the person's reading and the log."""
        step, chain = self.step, self.chain
        if self.reading is None or step is None or chain is None:
            return None
        if self.reading is Reading.COMPLETED:
            return CheckpointStatus.TASK_COMPLETED
        ambiguous = step.ambiguity is not None
        move = MOVES[self.reading]
        if move is Move.ASKS_RIGHTLY and not ambiguous:
            move = Move.ASKS_OTHERWISE
        last = self.step_number == len(chain.steps) - 1
        situation = CurrentStep(ambiguous=ambiguous, clue_given=self.clue_released, last=last)
        return status_of(move, situation)

    @property
    def completes(self) -> bool:
        """Whether the person's reading ends the dialogue."""
        return self.status() is CheckpointStatus.TASK_COMPLETED

    def reply(
        self, text: str, *, done: bool = False, decision: Decision | None = None
    ) -> UserReply:
        """What the log will hold. A completed task ends the dialogue; an end without words says a
        farewell in the task's language. `decision`: the answer to a `doubt` of this text.
        """
        status = self.status()
        done = done or self.completes
        text = storable(text).strip()
        if done and not text:
            text = phrase(self.task.language, "thanks")
        stage = self.discloses(text)
        edited = self.edited(text)
        if decision is not None:
            stage = self.due_stage if decision.counts else None
            edited = edited or decision.counts
        return UserReply(
            text=text,
            stage=stage,
            cue_met=self._cue_met(stage),
            checkpoint=self._checkpoint(status),
            status=status,
            done=done,
            answered=done and self._answered(status),
            edited=edited,
            unsure=self.mark is Mark.UNSURE,
            evidence=self.evidence,
            meaning=decision.meaning if decision else "",
        )

    @property
    def due_stage(self) -> int | None:
        """The stage that words said now can disclose; an opening only one that belongs to the start."""
        if self.opening and self.stage and self.stage.cue.kind is not CueKind.START:
            return None
        return self.stage_number

    def _cue_met(self, stage: int | None) -> bool | None:
        if self.stage and self.stage.cue.kind is CueKind.START:
            return True if stage or not self.opening else None
        return {Mark.MET: True, Mark.NOT_MET: False}.get(self.mark) if self.mark else None

    def _checkpoint(self, status: CheckpointStatus | None) -> int | None:
        """A completed task is a reading of the last step, wherever the agent jumped from."""
        if status is CheckpointStatus.TASK_COMPLETED and self.chain:
            return len(self.chain.steps) - 1
        return self.step_number if status else None

    def _answered(self, status: CheckpointStatus | None) -> bool:
        if self.chain:
            statuses = (status, *(message.status for message in self.dialogue.of("user")))
            return CheckpointStatus.TASK_COMPLETED in statuses
        return not self.task.stages and self.dialogue.last("agent") is not None

    def _forget_marks(self) -> None:
        self.mark = self.reading = self.evidence = None

    def _take_again(self, retried: TrialRetried) -> None:
        self.effective = kept_by(self.effective, retried)
        self.dialogue = dialogue_of(self.effective)
        asked = any(m.role == "user" for m in self.dialogue.messages[-1:])
        self.phase = "writing" if asked else "yours"
        self._forget_marks()


Source = Literal["card", "phrase", "before"]
_OF_STEPS: tuple[Phrase, ...] = ("nothing_yet", "no_wish", "wrong", "go_on")
_EARLIER = 8


@dataclass(frozen=True)
class Choice:
    """`source`: the card, the phrasebook, or what this person said before."""

    source: Source
    text: str


def choices_of(state: PlayState) -> list[Choice]:
    """The card's own words first, then phrases in the task's language, then what the person said before
    without giving a line; each once.
    """
    language = state.task.language
    card = state.stage.not_met if state.stage else ""
    phrases: tuple[str, ...] = pushes(language)
    if state.chain:
        fits = (SAYS[state.reading],) if state.reading and state.reading in SAYS else ()
        phrases = tuple(phrase(language, name) for name in (*fits, *_OF_STEPS))
    before = [m.text for m in reversed(state.dialogue.of("user")) if _gave_nothing(m)][:_EARLIER]
    found: dict[str, Source] = {}
    sources: tuple[tuple[Source, tuple[str, ...]], ...] = (
        ("card", (card,)),
        ("phrase", phrases),
        ("before", tuple(before)),
    )
    for source, texts in sources:
        for text in texts:
            if text.strip():
                found.setdefault(text.strip(), source)
    return [Choice(source, text) for text, source in found.items()]


def _gave_nothing(message: Message) -> bool:
    return message.turn > 0 and message.stage is None and (message.cue_met is not True)


AnswerKind = Literal["line", "said", "never_mind", "own", "skip"]
MAX_QUESTIONS = 20
_SHARED = 2


@dataclass(frozen=True)
class Answer:
    """One question and what is to be answered. `said`: what the persona has told about it already;
    `own`: the person's words.
    """

    question: str
    kind: AnswerKind
    line: str = ""
    said: str = ""
    own: str = ""

    @property
    def kinds(self) -> tuple[AnswerKind, ...]:
        """What can be answered."""
        line: tuple[AnswerKind, ...] = ("line",) if self.line else ()
        said: tuple[AnswerKind, ...] = ("said",) if self.said else ()
        return (*line, *said, "never_mind", "own", "skip")

    def turned(self, step: int) -> Answer:
        """The next of `kinds`."""
        kinds = self.kinds
        return replace(self, kind=kinds[(kinds.index(self.kind) + step) % len(kinds)])

    def text(self, language: TaskLanguage) -> str:
        match self.kind:
            case "line":
                return self.line
            case "said":
                return self.said
            case "never_mind":
                return phrase(language, "no_preference")
            case "own":
                return self.own.strip()
            case "skip":
                return ""


def asked_by_agent(state: PlayState) -> tuple[str, ...]:
    """The questions of the agent's last reply, each once."""
    return tuple(dict.fromkeys(questions(state.last_reply)))[:MAX_QUESTIONS]


def answers_for(state: PlayState) -> list[Answer]:
    """What the persona has for each question: the current line where that covers it, what was said
    already, or else that it does not matter. A checkpoint's clue covers a question that asks rightly.
    """
    return [_answer(state, question) for question in asked_by_agent(state)]


def _answer(state: PlayState, question: str) -> Answer:
    line, said = state.line, _said_about(state, question)
    if line and _covers(state, question):
        return Answer(question, "line", line, said)
    return Answer(question, "said" if said else "never_mind", line, said)


def _covers(state: PlayState, question: str) -> bool:
    if state.stage:
        return is_covered(question, state.stage)
    if state.step:
        asked = Message(role="agent", turn=0, text=question, act=Act.ASK)
        return read_move(asked, state.step) is Move.ASKS_RIGHTLY
    return False


def _said_about(state: PlayState, question: str) -> str:
    """The line of a stage that is said and covers the question, the latest first; else a sentence of
    the person's that shares words with it.
    """
    for number in reversed(state.dialogue.stages_disclosed):
        if number <= len(state.task.stages) and is_covered(question, state.task.stages[number - 1]):
            return state.task.stages[number - 1].line
    if state.chain:
        return ""
    about = content_words(question)
    for message in reversed(state.dialogue.of("user")):
        if len(shared_words(about, content_words(message.text))) > _SHARED:
            return message.text
    return ""


def composed(answers: Iterable[Answer], language: TaskLanguage) -> str:
    """One reply in the order of the questions; what would be said twice is said once."""
    texts = dict.fromkeys(filter(None, (answer.text(language) for answer in answers)))
    return ("" if language == "zh" else " ").join(texts)


def gives_line(answers: Sequence[Answer]) -> bool:
    """Whether the composed reply says the card's line."""
    return any(answer.kind == "line" for answer in answers)
