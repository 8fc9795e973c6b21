"""The index of a closed world of checkpoints: each step's target, asked for from the one before.

A query is compound, and gets nothing, if it

- has several questions, or asks for what two steps are about, or for something besides its step;
- names several entities (targets of steps, readings of ambiguous ones) that its step does not build on.

The step whose target is the final answer takes the exact query only: its words, the target of the step before, and
nothing else. What a step builds on besides the step before may be named where the answer is no secret.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from cuecard.core.phrases import (
    content_words,
    coverage,
    is_negated,
    is_question,
    sentences,
    shared_words,
    spans,
)
from cuecard.core.text import contains_term, normalise
from cuecard.core.worlds import finding
from cuecard.core.worlds.finding import Finding, Lead, compound, parts_with_content
from cuecard.core.worlds.forms import Form
from cuecard.core.worlds.statements import Statement, Step

# Which share of a step's words a query must have: alone, after naming the step before, and when
# the answer to the step is the final answer.
_ALONE, _ANCHORED, _EXACT = 0.6, 0.34, 0.75
_CLUE = 0.4
# Which share of another step's own words makes a query ask for that step too.
_EXTRA = 0.5


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
        if self.statement.secret:
            return self.share >= _EXACT and (self.anchored or not self.step.anchors)
        return self.follows and self.share >= (_ANCHORED if self.anchored else _ALONE)


Group = tuple[int, str]
"""A thing that a query can name: the target of a step, `(index, "")`, or one of its readings by name."""


class StepIndex:
    """Finds the step that a query is about, and of an ambiguous one its readings or its target."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self._steps = [(s, s.step) for s in statements if s.step and not s.step.lists_readings]
        self._readings = {s.step.index: s for s in statements if s.step and s.step.lists_readings}
        self._names: dict[str, Group] = {}
        for statement, step in self._steps:
            for name in statement.values:
                self._names.setdefault(normalise(name), (step.index, ""))
        for index, readings in self._readings.items():
            for name in readings.value_aliases:
                self._names.setdefault(normalise(name), (index, normalise(name)))
        self._names.pop("", None)
        self._longest_first = sorted(self._names, key=lambda name: (-len(name), name))

    def find(self, query: str) -> Finding:
        fits = [self._fit(statement, step, query) for statement, step in self._steps]
        enough = sorted((f for f in fits if f.enough), key=lambda f: (-f.share, f.step.index))
        if reason := self._compound(fits, enough, query):
            return compound(reason)
        if enough and not (self._secret(enough[0]) and self._inexact(enough[0], query)):
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

    def _compound(self, fits: Sequence[_Fit], enough: Sequence[_Fit], query: str) -> str:
        """Why a query is compound, or ""."""
        asked = sorted((f for f in fits if f.share >= _ALONE), key=lambda f: -f.share)
        fit = enough[0] if enough else asked[0] if asked else None
        said = [s for s in sentences(query) if fit is None or s not in fit.step.clue]
        if sum(is_question(s) and bool(content_words(s)) for s in said) > 1:
            return finding.SEVERAL_ATTRIBUTES
        words = content_words(query)
        if fit is None:
            return ""
        own = self._vocabulary(fit)
        both = [f for f in enough if f.share >= _ALONE]
        if len(both) > 1 and both[0].share == both[1].share:
            return finding.SEVERAL_ATTRIBUTES
        for other in asked:
            extra = _beyond(content_words(other.statement.attribute), own)
            if other is not fit and coverage(extra, words) >= _EXTRA:
                return finding.SEVERAL_ATTRIBUTES
        text, found = self._marked(query, fit.step.clue)
        parts = parts_with_content(text)
        in_parts = [{found[w] for w in content_words(part) if w in found} for part in parts]
        if fit.enough and not set(found.values()) <= self._allowed(fit):
            return finding.SEVERAL_ENTITIES
        named = [groups for groups in in_parts if groups]
        if any(not one & other for one in named for other in named):
            return finding.SEVERAL_ENTITIES
        beside = [_beyond(content_words(part), (*own, *found)) for part in parts]
        secret = self._secret(fit)
        if len(parts) > 1 and any(
            rest and (secret or len(rest) == len(content_words(part)))
            for part, rest in zip(parts, beside, strict=True)
        ):
            return finding.SEVERAL_ATTRIBUTES
        return ""

    def _inexact(self, fit: _Fit, query: str) -> bool:
        """Whether a query says anything that its step does not."""
        text, found = self._marked(query, fit.step.clue)
        return bool(_beyond(content_words(text), (*self._vocabulary(fit), *found)))

    def _vocabulary(self, fit: _Fit) -> tuple[str, ...]:
        """The words that a query for a step may have."""
        step, readings = fit.step, self._readings.get(fit.step.index)
        names = [name for names in self._anchors(fit) for name in names]
        options = readings.value_aliases if readings else ()
        told = (fit.statement.attribute, step.question, step.clue)
        return content_words("\n".join((*told, *names, *options, *fit.statement.values)))

    def _allowed(self, fit: _Fit) -> set[Group]:
        """The entities that a query for a step may name: its own and, where it is no secret, all it builds on."""
        names = [normalise(name) for names in self._anchors(fit) for name in names]
        allowed = {self._names[name] for name in names if name in self._names}
        for name, group in self._names.items():
            if group[0] == fit.step.index or contains_term(fit.step.question, name):
                allowed.add(group)
        return allowed

    def _anchors(self, fit: _Fit) -> tuple[tuple[str, ...], ...]:
        return fit.step.anchors[:1] if self._secret(fit) else fit.step.anchors

    def _secret(self, fit: _Fit) -> bool:
        """Whether an answer to a query for a step may hold the final answer."""
        readings = self._readings.get(fit.step.index)
        return fit.statement.secret or (readings is not None and readings.secret)

    def _marked(self, query: str, clue: str) -> tuple[str, dict[str, Group]]:
        """The query with a mark in place of every name that is not of the clue, and what the marks stand for."""
        text, found = normalise(query), dict[str, Group]()
        for name, start, end in sorted(spans(text, self._longest_first), key=lambda s: -s[1]):
            if not contains_term(clue, name):
                mark = f"named{len(found)}"
                found[mark] = self._names[name]
                text = f"{text[:start]} {mark} {text[end:]}"
        return text, found

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


def _beyond(words: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The words that `known` has in no form."""
    every = tuple(words)
    shared = set(shared_words(every, known))
    return tuple(word for word in every if word not in shared)
