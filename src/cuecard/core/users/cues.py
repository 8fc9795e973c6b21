"""Whether an agent's reply meets a cue: a pure test that scripts and the play screen share."""

from __future__ import annotations

from cuecard.core.phrases import (
    content_words,
    coverage,
    questions,
    shared_words,
    statements_in,
)
from cuecard.core.tasks import Cue, CueKind, Stage
from cuecard.core.text import contains_term, normalise

_MENTIONED = 0.3
_COVERED_WORDS = 2


def cue_met(cue: Cue, reply_text: str) -> bool:
    """Whether a reply meets a cue.

    `start` is always met. With terms, any one of them must stand in the reply, for `asks` in a
    sentence that asks. Without terms: `asks` by any question; `mentions` by a reply that has about
    a third of the content words of the cue's text; `completes` by a reply that says something
    besides asking.
    """
    if cue.kind is CueKind.START:
        return True
    if cue.kind is CueKind.ASKS:
        asked = questions(reply_text)
        if not cue.terms:
            return bool(asked)
        return any(contains_term(question, term) for question in asked for term in cue.terms)
    if cue.terms:
        return any(contains_term(reply_text, term) for term in cue.terms)
    if cue.kind is CueKind.MENTIONS:
        return coverage(content_words(cue.text), content_words(reply_text)) >= _MENTIONED
    return any(normalise(sentence) for sentence in statements_in(reply_text))


def is_covered(question: str, stage: Stage) -> bool:
    """Whether a question is about what a stage's line is going to say."""
    if any(contains_term(question, term) for term in stage.cue.terms):
        return True
    about = content_words(f"{stage.title}\n{stage.line}")
    return len(shared_words(content_words(question), about)) >= _COVERED_WORDS
