"""The index of a closed world of checkpoints: each step's target, asked for from the one before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.core.phrases import content_words, coverage, is_negated, sentences
from cuecard.core.text import contains_term, normalise
from cuecard.core.worlds import finding
from cuecard.core.worlds.finding import Finding, Lead, compound, parts_with_content
from cuecard.core.worlds.forms import Form
from cuecard.core.worlds.statements import Statement, Step

# Which share of a step's words a query must have: alone, after naming the step before, and when
# the answer to the step is the final answer.
_ALONE, _ANCHORED, _EXACT = 0.6, 0.34, 0.75
_CLUE = 0.4


@dataclass(frozen=True)
class _Fit:
    """How well a query fits a step. `anchored`: it names the target of the step before."""

    statement: Statement
    step: Step
    share: float
    anchored: bool
    follows: bool

    @property
    def enough(self) -> bool:
        least = _EXACT if self.statement.secret else _ANCHORED if self.anchored else _ALONE
        return self.follows and self.share >= least


class StepIndex:
    """Finds the step that a query is about, and of an ambiguous one its readings or its target."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._steps = [(s, s.step) for s in statements if s.step and not s.step.lists_readings]
        self._readings = {s.step.index: s for s in statements if s.step and s.step.lists_readings}

    def find(self, query: str) -> Finding:
        fits = [self._fit(statement, step, query) for statement, step in self._steps]
        enough = sorted((f for f in fits if f.enough), key=lambda f: (-f.share, f.step.index))
        if self._several(enough, query):
            return compound(finding.SEVERAL_ATTRIBUTES)
        if enough:
            return self._answer(enough[0], query)
        near = [f for f in fits if f.follows and (f.anchored or f.share > 0)]
        topics = tuple(dict.fromkeys(f.statement.attribute for f in near))
        leads = (Lead(Form.TOPICS, "", topics),) if topics else ()
        return Finding(finding.NOT_ON_RECORD, leads=leads)

    def _fit(self, statement: Statement, step: Step, query: str) -> _Fit:
        named = [any(contains_term(query, n) for n in names) for names in step.anchors]
        share = coverage(content_words(statement.attribute), content_words(query))
        anchored = bool(named and named[0])
        return _Fit(statement, step, share, anchored, not step.anchors or any(named))

    def _several(self, fits: Sequence[_Fit], query: str) -> bool:
        """Whether a query asks for two steps, or names targets that its own step does not build on."""
        asked = [f for f in fits if f.share >= _ALONE]
        if len(asked) > 1 and asked[0].share == asked[1].share:
            return True
        parts = parts_with_content(query)
        steps = {f.step.index for f in asked if any(_about(f.statement, part) for part in parts)}
        if len(parts) > 1 and len(steps) > 1:
            return True
        if not fits:
            return False
        own = {normalise(n) for names in fits[0].step.anchors for n in names}
        own.update(normalise(n) for n in fits[0].statement.values)
        readings = self._readings.get(fits[0].step.index)
        own.update(normalise(n) for n in readings.values if n) if readings else None
        others = {n for s, _ in self._steps for n in s.values if normalise(n) not in own}
        clue = fits[0].step.clue
        return any(
            contains_term(query, n) and not contains_term(clue, n) and not _within(n, own)
            for n in others
        )

    def _answer(self, fit: _Fit, query: str) -> Finding:
        readings = self._readings.get(fit.step.index)
        if readings is None or self._resolved(fit, readings, query):
            return Finding(finding.FOUND, fit.statement)
        named = [c for c in readings.value_aliases if contains_term(query, c)]
        if len(named) == 1:
            return Finding(finding.NOT_ON_RECORD)
        if readings.secret and fit.share < _EXACT:
            return Finding(finding.NOT_ON_RECORD)
        return Finding(finding.FOUND, readings)

    @staticmethod
    def _resolved(fit: _Fit, readings: Statement, query: str) -> bool:
        """Whether a query about an ambiguous step says which reading it means: by the words of the
        clue, or by naming the right candidate and no other.
        """
        named = [c for c in readings.value_aliases if contains_term(query, c)]
        if named == [fit.step.reading]:
            return True
        asked = content_words(fit.step.question)
        parts = sentences(fit.step.clue)
        # "Not the old one. I mean the second." says what is meant in its second sentence only.
        said = [part for part in parts if not is_negated(part)] or parts
        clue = [word for word in content_words("\n".join(said)) if word not in asked]
        return coverage(clue, content_words(query)) >= _CLUE


def _about(statement: Statement, part: str) -> bool:
    return coverage(content_words(statement.attribute), content_words(part)) >= _ALONE


def _within(name: str, others: set[str]) -> bool:
    return any(contains_term(other, name) for other in others)
