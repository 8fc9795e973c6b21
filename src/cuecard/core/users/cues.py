"""Whether an agent's reply meets a cue: a pure test that scripts and the play screen share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from cuecard.core.phrases import (
    content_words,
    coverage,
    questions,
    sentences,
    shared_words,
    statements_in,
)
from cuecard.core.tasks import Cue, CueKind, Stage
from cuecard.core.text import contains_term, normalise

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
    """What a script makes of a reply. `term`: the cue's term that counts, or (`TERM_NOT_ASKED`) stands
    where nothing is asked; `sentence`: of the reply, the one that counts. `words`: which of the
    `wanted` content words of the cue's text the reply has.
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

    `start` is always met. With terms, any one of them must stand in the reply, for `asks` in a
    sentence that asks. Without terms: `asks` by any question; `mentions` by a reply that has about
    a third of the content words of the cue's text; `completes` by a reply that says something
    besides asking.
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
    """The sentence that holds the term; nothing where it runs over the end of one."""
    return next((s for s in sentences(text) if contains_term(s, term)), "")


def is_covered(question: str, stage: Stage) -> bool:
    """Whether a question is about what a stage's line is going to say."""
    if any(contains_term(question, term) for term in stage.cue.terms):
        return True
    about = content_words(f"{stage.title}\n{stage.line}")
    return len(shared_words(content_words(question), about)) >= _COVERED_WORDS
