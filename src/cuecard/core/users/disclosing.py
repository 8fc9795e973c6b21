"""Which of a task's lines, clues and questions a reply says, and whether their turn has come."""

from __future__ import annotations

from dataclasses import dataclass

from cuecard.core.parts import CheckpointStatus, Dialogue, UserReply
from cuecard.core.phrases import content_words, coverage, questions, without_terms
from cuecard.core.tasks import Persona, Stage, Task
from cuecard.core.text import is_cjk
from cuecard.core.users.chain_rules import ChainRules
from cuecard.core.users.leaks import Told, fold, forbidden_in, told_in
from cuecard.core.users.lines import carries, gives_away, words_said
from cuecard.core.users.responder_checks import says_question
from cuecard.core.users.stages import next_stage

_AGAIN, _AGAIN_WORDS = 0.9, 6
_TOUCHED, _FEW = 0.35, 3
_LONG_LATIN, _LONG_HAN = 20, 10


@dataclass(frozen=True)
class Disclosed:
    """What a reply discloses that it should not, by titles, questions and clues. `own`: what the task has
    the user say at this moment; `known`: texts whose names are no news beside what is found here.
    `not_met`: what the card says for an unmet cue; `coming`: the stages that are not disclosed yet.
    """

    forbidden: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    doubled: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    not_met: str = ""
    coming: tuple[Stage, ...] = ()


class PersonaLines:
    def __init__(self, task: Task, persona: Persona) -> None:
        self._task = task
        self._persona = persona

    def disclosed(self, text: str, before: Dialogue, reply: UserReply) -> Disclosed:
        stages = self._persona.stages
        done, number = set(before.stages_disclosed), next_stage(self._persona, before)
        said = _stage(stages, reply.stage)
        due = stages[number - 1] if number else None
        not_met = due.not_met if due else ""
        query = "" if before.messages else self._persona.initial_query
        own = tuple(filter(None, (said.line if said else "", not_met, query)))
        told = told_in(self._task, before, *own)
        at_hand = Told((self._persona.initial_query, *own))
        ahead: list[Stage] = []
        doubled: list[Stage] = []
        for n, stage in enumerate(stages, start=1):
            if n == reply.stage:
                continue
            if n in done:
                if _says_again(text, stage.line, at_hand):
                    doubled.append(stage)
            elif gives_away(text, stage.line, told):
                both = said and carries(text, stage.line) and carries(text, said.line)
                (doubled if both else ahead).append(stage)
        skipped: tuple[str, ...] = ()
        if reply.stage is not None and reply.stage != number:
            # Which other stage was meant says it all.
            title = said.title if said else str(reply.stage)
            if reply.stage in done and said:
                ahead, doubled = [], [said]
            else:
                ahead, doubled, skipped = [], [], (title,)
        missing = ""
        if said and not (ahead or doubled or skipped) and not _kept(reply):
            missing = "" if _touches(text, said.line) else said.line
        found = (stage.line for stage in (*ahead, *doubled))
        return Disclosed(
            ahead=tuple(stage.title for stage in ahead),
            skipped=skipped,
            doubled=tuple(stage.title for stage in doubled),
            missing=(missing,),
            own=own,
            known=(*own, self._persona.behaviour, *found, *(_all_lines(stages) if skipped else ())),
            not_met=not_met,
            coming=tuple(s for n, s in enumerate(stages, start=1) if n not in done),
        )


class ChainLines:
    """Of a checkpoint task. Raises `ValueError` for a task of another family."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._rules = ChainRules(task, patience=None)

    def disclosed(self, text: str, before: Dialogue, reply: UserReply) -> Disclosed:
        steps, chain = self._rules.steps, self._rules.chain
        place = self._rules.place(before)
        asked = reply.status is CheckpointStatus.AMBIGUITY_DETECTED
        at = reply.checkpoint if reply.checkpoint is not None else place.index
        open_at = steps[at].ambiguity if 0 <= at < len(steps) else None
        clue = open_at.clue if asked and open_at else ""
        own = tuple(filter(None, (clue, "" if before.messages else chain.opening)))
        told = told_in(self._task, before, *own)
        spoken = text.replace(chain.opening, " ")
        asks = tuple(
            step.question
            for step in steps[place.index + 1 :]
            if says_question(step.question, spoken, told)
        )
        clues = tuple(
            step.ambiguity.clue
            for n, step in enumerate(steps)
            if step.ambiguity and not (asked and n == at)
            if gives_away(text, step.ambiguity.clue, told)
        )
        skipped = clue if at != place.index else ""
        said = without_terms(clue, chain.forbidden, "…")
        unsaid = clue and not (place.situation.clue_given or _touches(text, said) or _kept(reply))
        missing = clue if unsaid and not (skipped or asks or clues) else ""
        return Disclosed(
            forbidden=forbidden_in(spoken, chain),
            ahead=(*asks, *clues),
            skipped=(skipped,),
            missing=(missing,),
            own=own,
            known=(*own, *asks, *clues),
        )


def _stage(stages: tuple[Stage, ...], number: int | None) -> Stage | None:
    return stages[number - 1] if number is not None and 1 <= number <= len(stages) else None


def _says_again(text: str, line: str, at_hand: Told) -> bool:
    """Whether a line that was said before is said once more, and not only spoken about: word for word, or
    with nearly all of its words. `at_hand`: what may be said now anyway.
    """
    flat, folded = fold(line), fold(text)
    long_enough = len(flat) >= (_LONG_HAN if is_cjk(flat) else _LONG_LATIN)
    if long_enough and flat in folded:
        return flat not in at_hand.folded
    words, said = content_words(line), words_said(text)
    if sum(word in said for word in words) < max(_AGAIN * len(words), _AGAIN_WORDS):
        return False
    return carries(text, line) and gives_away(text, line, at_hand)


def _touches(text: str, line: str) -> bool:
    """Whether words may pass for the line, told in others: they have about a third of its content words.
    Far laxer than `carries`: people put things in their own words, and nobody should be stopped for that.
    """
    words = content_words(line)
    if fold(line) in fold(text) or coverage(words, words_said(text)) >= _TOUCHED:
        return True
    return len(words) < _FEW and any(content_words(asked) for asked in questions(text))


def _kept(reply: UserReply) -> bool:
    return reply.edited and reply.meaning == "kept"


def _all_lines(stages: tuple[Stage, ...]) -> tuple[str, ...]:
    return tuple(stage.line for stage in stages)
