"""What the person at the keyboard says, as the log wants it: card, mark and text make a reply.

A stage counts as disclosed when its line was inserted and is still recognisable in what is sent, was
typed out, or is carried by other words; where that is in doubt, the person's answer counts. The
person's marks are recorded as they are; no script's opinion enters here.
"""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.events import (
    AgentSpoke,
    Event,
    TrialEnded,
    TrialReopened,
    UserSpoke,
    dialogue_of,
    kept_by,
)
from cuecard.core.parts import CheckpointStatus, Evidence, UserReply
from cuecard.core.tasks import CueKind
from cuecard.core.text import contains_term, storable
from cuecard.core.users.moves import Move, Situation, status_of
from cuecard.core.users.phrasebook import phrase
from cuecard.tui.state.play_choices import (
    MOVES,
    SAYS,
    Decision,
    Doubt,
    Insertion,
    Mark,
    Phase,
    Reading,
    StageState,
    mark_of,
    reading_of,
)
from cuecard.tui.state.play_lines import keeps_meaning, opening_text, says
from cuecard.tui.state.play_place import PlayPlace

__all__ = [
    "Decision",
    "Doubt",
    "Insertion",
    "Mark",
    "Phase",
    "PlayState",
    "Reading",
    "StageState",
]


@dataclass
class PlayState(PlayPlace):
    """One trial as its human user sees it. `follow` events in; `reply` out. `inserted`: the line that
    a key put in; `evidence`: what the mark rests on, in the agent's last reply.
    """

    mark: Mark | None = None
    reading: Reading | None = None
    inserted: str = ""
    evidence: Evidence | None = None

    def follow(self, event: Event) -> None:
        """Take in what happened."""
        body = event.body
        if isinstance(body, TrialReopened):
            self._take_again(body)
            return
        self.course.append(event)
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
        situation = Situation(ambiguous=ambiguous, clue_given=self.clue_released, last=last)
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

    def _take_again(self, reopened: TrialReopened) -> None:
        self.course = kept_by(self.course, reopened)
        self.dialogue = dialogue_of(self.course)
        asked = any(m.role == "user" for m in self.dialogue.messages[-1:])
        self.phase = "writing" if asked else "yours"
        self._forget_marks()
