"""Which values of a world a text gives away."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from cuecard.core.phrases import content_words, coverage, occurrences
from cuecard.core.tasks import Graph, Task
from cuecard.core.text import contains_term, normalise
from cuecard.core.worlds.figures import Figure, figure_of, figures_in, spellings, written
from cuecard.core.worlds.guard import ValueGuard
from cuecard.core.worlds.secrets import Secrets
from cuecard.core.worlds.statements import Statement, final_answers, public_text

_ABOUT = 0.6


@dataclass(frozen=True)
class Excuse:
    """What a text may say: `phrases`, by which a query asks, and one statement's own value."""

    phrases: tuple[str, ...] = ()
    stated: Statement | None = None


NOTHING = Excuse()


class Leaks:
    """Finds the values of a task's statements, and its final answer, in a text.

    A value is found as it is written, as an amount in another spelling, and as a date in another
    spelling. What the task's public text names is no secret. A value of small words alone (`yes`,
    `无`) says nothing by itself: it counts where the text is about its attribute.
    """

    def __init__(self, task: Task, secrets: Secrets) -> None:
        self._task = task
        self._secrets = secrets

    @cached_property
    def _values(self) -> tuple[str, ...]:
        return tuple(
            dict.fromkeys((*self._entities(), *self._stated(), *final_answers(self._task)))
        )

    def _stated(self) -> Iterable[str]:
        return (value for s in self._secrets.statements for value in s.values)

    def _entities(self) -> Iterable[str]:
        """The entities of a graph: all of them are values too."""
        if isinstance(self._task.gold, Graph):
            for statement in self._secrets.statements:
                for names in statement.subject:
                    yield from names

    @cached_property
    def _public(self) -> frozenset[str]:
        public = self._secrets.public
        return public | {written(term) for term in public}

    @cached_property
    def _guard(self) -> ValueGuard:
        strong = [value for value in self._values if not _is_weak(value)]
        return ValueGuard(term for value in strong for term in forms_of(value))

    @cached_property
    def _figures(self) -> dict[Figure, str]:
        found = ((figure_of(value, any_unit=True), value) for value in self._values)
        return {f: v for f, v in found if f and normalise(v) not in self._public}

    @cached_property
    def _weak(self) -> tuple[tuple[str, Statement], ...]:
        statements = self._secrets.statements
        return tuple((v, s) for s in statements for v in s.values if _is_weak(v))

    @cached_property
    def _phrases(self) -> dict[str, None]:
        """Names by which one may ask, normalised: entities, attributes, readings of a question. An
        alias is a name of its own: it may be what somebody wants to know.
        """
        names: dict[str, None] = {}
        for statement in self._secrets.statements:
            asked = [*(name for part in statement.subject for name in part), statement.attribute]
            if statement.linked or (statement.step and statement.step.lists_readings):
                asked += statement.values
            names.update((normalise(name), None) for name in asked)
        names.pop("", None)
        return names

    @cached_property
    def _known(self) -> tuple[str, ...]:
        return self._named_in(public_text(self._task))

    def _named_in(self, text: str) -> tuple[str, ...]:
        flat = normalise(text)
        return tuple(
            name
            for name in self._phrases
            if name in flat and next(iter(occurrences(flat, name)), None)
        )

    def excused(self, query: str) -> Excuse:
        """What entries for this query may name: what the query or the task's public text names."""
        return Excuse((*self._known, *self._named_in(query)))

    def stating(self, excuse: Excuse, statement: Statement) -> Excuse:
        """`excuse` for the one entry that states a statement. Of a graph or a chain, the subject may
        be a secret itself.
        """
        own = [statement.attribute]
        if not (statement.linked or statement.step):
            own += (name for names in statement.subject for name in names)
        return Excuse((*excuse.phrases, *own), statement)

    def found_in(self, text: str, excuse: Excuse = NOTHING) -> str:
        """A value that the text gives away, or an empty text."""
        own = excuse.stated.values if excuse.stated else ()
        excused = (*excuse.phrases, *own)
        plain = _Excused(normalise(text), map(normalise, excused))
        figures = _Excused(written(text), map(written, excused))
        mine = frozenset(normalise(form) for value in own for form in forms_of(value))
        for told in (plain, figures):
            for term in sorted(self._guard.named_in(told.text) - self._public - mine):
                if any(not told.covers(*place) for place in occurrences(told.text, term)):
                    return term
        return self._figure_in(figures, own) or self._weak_in(text, own)

    def _figure_in(self, told: _Excused, own: Collection[str]) -> str:
        mine = {figure.number for value in own for figure, *_ in figures_in(written(value))}
        for found, start, end in figures_in(told.text):
            if found.number in mine or told.covers(start, end):
                continue
            for figure, value in self._figures.items():
                if figure.number == found.number and _units_agree(figure, found):
                    return value
        return ""

    def _weak_in(self, text: str, own: Collection[str]) -> str:
        words: tuple[str, ...] | None = None
        for value, statement in self._weak:
            if value in own or normalise(value) in self._public or not contains_term(text, value):
                continue
            words = content_words(text) if words is None else words
            if coverage(content_words(statement.attribute), words) >= _ABOUT:
                return value
        return ""


class _Excused:
    """A text and the places in it where a phrase stands that is excused."""

    def __init__(self, text: str, phrases: Iterable[str]) -> None:
        self.text = text
        found = (occurrences(text, phrase) for phrase in set(phrases) if phrase in text)
        self._places = [place for places in found for place in places]

    def covers(self, start: int, end: int) -> bool:
        """Whether what stands there is part of an excused phrase: `Light` in `Brackness Light`."""
        return any(first <= start and end <= last for first, last in self._places)


def forms_of(value: str) -> tuple[str, ...]:
    """A value as it may be written: as it is, with amounts in plain figures, dates spelled out."""
    return tuple(dict.fromkeys((value, written(value), *spellings(value))))


def holds(text: str, statement: Statement) -> bool:
    """Whether a text states a statement's value: in one of its forms, as the same amount, or, of a
    list of readings, all of them.
    """
    if statement.step and statement.step.lists_readings:
        return all(contains_term(text, reading) for reading in statement.value_aliases)
    canonical = written(text)
    for value in statement.values:
        if any(
            contains_term(text, form) or contains_term(canonical, form) for form in forms_of(value)
        ):
            return True
        figure = figure_of(value)
        if figure and any(
            found.number == figure.number and figure.unit in ("", found.unit)
            for found, *_ in figures_in(canonical)
        ):
            return True
    return False


def _is_weak(value: str) -> bool:
    flat = normalise(value)
    if any(char.isdigit() for char in flat):
        return False
    return not content_words(flat) or len(flat) == 1


def _units_agree(gold: Figure, found: Figure) -> bool:
    return not gold.unit or not found.unit or gold.unit == found.unit
