"""The fact sheet that a parallel world's model is given, and the search for values that its texts give away, however
they are spelled.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from cuecard.core.families.registry import family_of
from cuecard.core.judges.quantities import MONTH_NAMES, Quantity, parse_plain_date, parse_quantity
from cuecard.core.tasks.models import Task, TaskLanguage
from cuecard.core.text import (
    HAN_NUMERALS,
    WORD_NUMERALS,
    contains_term,
    content_words,
    coverage,
    normalise,
    occurrences,
    one_line,
)
from cuecard.core.worlds.background import Secrets, ValueGuard
from cuecard.core.worlds.statements import Statement, Step, final_answers, public_text

LABEL = re.compile(r"(?<![0-9a-z])fact-\d", re.IGNORECASE)
_OR = " / "
_ALSO: dict[TaskLanguage, str] = {"en": "{name} (also: {others})", "zh": "{name}（又作：{others}）"}
_QUESTION: dict[TaskLanguage, str] = {"en": "answers: {text}", "zh": "回答的问题：{text}"}
_NAMES: dict[TaskLanguage, str] = {
    "en": "only if the query names {names}",
    "zh": "仅当查询点名 {names} 时",
}
_OPEN: dict[TaskLanguage, str] = {
    "en": "only if the query does not say which of these it means",
    "zh": "仅当查询没有说明指的是其中哪一个时",
}
_SAYS: dict[TaskLanguage, str] = {
    "en": "only if the query says which one it means: {text}",
    "zh": "仅当查询说明了指的是哪一个时：{text}",
}


class FactSheet:
    """The statements with labels, as the lines that the model reads."""

    def __init__(self, statements: Sequence[Statement], language: TaskLanguage) -> None:
        self._language: TaskLanguage = language
        self._by_label = {f"fact-{n}": s for n, s in enumerate(statements, 1)}
        self._by_key = {statement.key: statement for statement in statements}

    def find(self, label: str) -> Statement | None:
        """The statement with this label or key, or None."""
        label = label.strip()
        return self._by_label.get(label.casefold()) or self._by_key.get(label)

    @property
    def text(self) -> str:
        """One line for each fact: label, subject, attribute, value and, where it has one, the
        condition under which it may be stated.
        """
        return "\n".join(self._line(label, s) for label, s in self._by_label.items()) or "-"

    def _line(self, label: str, statement: Statement) -> str:
        subject = " · ".join(self._name(names) for names in statement.subject)
        told = [label, subject or "-", one_line(statement.attribute), one_line(statement.value)]
        if statement.step:
            told.append("; ".join(self._conditions(statement.step)))
        return " | ".join(told)

    def _name(self, names: Sequence[str]) -> str:
        name, *others = (one_line(name) for name in names)
        if not others:
            return name
        return _ALSO[self._language].format(name=name, others=_OR.join(others))

    def _conditions(self, step: Step) -> list[str]:
        language = self._language
        told = [_QUESTION[language].format(text=one_line(step.question))]
        if step.anchors:
            names = _OR.join(one_line(names[0]) for names in step.anchors)
            told.append(_NAMES[language].format(names=names))
        if step.lists_readings:
            told.append(_OPEN[language])
        elif step.clue:
            meant = _OR.join(filter(None, (one_line(step.reading), one_line(step.clue))))
            told.append(_SAYS[language].format(text=meant))
        return told


_THIN_BLANKS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_PER_CENT = re.compile(r"\bper\s+cent\b")
_BLANKS = re.compile(r"\s+")
_HAN = "".join(sorted(HAN_NUMERALS))
_WORD = "|".join(sorted(WORD_NUMERALS, key=len, reverse=True))
_IDEOGRAPH = "[\u4e00-\u9fff]"
_NUMBER = r"(?<![a-z\d])(?:(?<!\w)[-+])?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
_AMOUNT = re.compile(
    rf"百分之(?:{_NUMBER}|[{_HAN}]+)"
    rf"|(?:us\$|[$€£¥]|\b(?:eur|usd|cny|rmb|gbp|jpy)\b)?\s*{_NUMBER}"
    rf"(?:\s*(?:百万|千万|千|万|亿|thousand|million|billion|trillion)(?![a-z]))?"
    rf"(?:\s*(?:[a-z$€£¥%°]+|{_IDEOGRAPH}{{1,4}}))?"
    rf"|[{_HAN}]+{_IDEOGRAPH}{{1,4}}"
    rf"|\b(?:{_WORD})(?:[\s-]+(?:{_WORD}|and))*\s+[a-z]+\b"
)
_FIGURE = re.compile(r"(?<![\d.])(-?\d+(?:\.\d+)?)(?: (%|°c|°|[a-z]+))?")


class Figure(NamedTuple):
    """A number and the canonical name of its unit ("" without one)."""

    number: Decimal
    unit: str


@lru_cache(maxsize=2048)
def written(text: str) -> str:
    """The text, normalised, with every amount as a plain number and its canonical unit: `€1,200`,
    `1200 euros` and `一千二百欧元` all become `1200 eur`.
    """
    plain = _THIN_BLANKS.sub("", text).replace("\u2212", "-")
    plain = _PER_CENT.sub("percent", unicodedata.normalize("NFKC", plain).casefold())
    return normalise(_BLANKS.sub(" ", _AMOUNT.sub(lambda found: _canonical(found[0]), plain)))


def figures_in(text: str) -> Iterator[tuple[Figure, int, int]]:
    """The amounts in a `written` text, with the places of their numbers."""
    for found in _FIGURE.finditer(text):
        known = parse_quantity(found[0]) if found[2] else None
        figure = Figure(Decimal(found[1]), known.unit if known and known.known else "")
        yield figure, *found.span(1)


def figure_of(value: str, *, any_unit: bool = False) -> Figure | None:
    """The amount that a value is, if it is nothing but one. `any_unit`: also where its unit is not
    known here; the amount then has none.
    """
    quantity = parse_quantity(value)
    if quantity is None or not (quantity.known or any_unit):
        return None
    return Figure(quantity.value, quantity.unit if quantity.known else "")


def spellings(value: str) -> tuple[str, ...]:
    """The usual spellings of a date; for any other value only itself."""
    moment = parse_plain_date(value)
    if moment is None or moment.month is None:
        return (value,)
    year, month, day, name = moment.year, moment.month, moment.day, MONTH_NAMES[moment.month - 1]
    if day is None:
        others = (
            f"{name} {year}",
            f"{name[:3]} {year}",
            f"{year}年{month}月",
            f"{year}-{month:02}",
        )
    else:
        others = (
            *(f"{day} {n} {year}" for n in (name, name[:3])),
            *(f"{n} {day}, {year}" for n in (name, name[:3])),
            *(f"{year}年{month}月{day}日", f"{year}-{month:02}-{day:02}", f"{year}/{month}/{day}"),
        )
    return (value, *others)


def _canonical(found: str) -> str:
    """`found` with the amount at its beginning in canonical spelling."""
    leading = found[: len(found) - len(found.lstrip())]
    end = len(found)
    while end > 0:
        quantity = parse_quantity(found[:end])
        if quantity and quantity.known and (quantity.unit or _stands_alone(found, quantity)):
            return f"{leading} {_plain(quantity.value)} {quantity.unit} {found[end:]}"
        shorter = re.sub(r"[a-z]+$", "", found[:end])
        end = len(shorter) if len(shorter) < end else end - 1
    return found


def _stands_alone(found: str, quantity: Quantity) -> bool:
    """Whether a number without a unit counts as an amount: 一 and `one` are more often articles."""
    return any(char.isdigit() for char in found) or (found.isascii() and quantity.value > 1)


def _plain(number: Decimal) -> str:
    return format(number.normalize(), "f")


_ABOUT = 0.6


@dataclass(frozen=True)
class AllowedText:
    """What a text may contain: `phrases` by which a query asks, and the value of the statement `stated`."""

    phrases: tuple[str, ...] = ()
    stated: Statement | None = None


NOTHING = AllowedText()


class Leaks:
    """Finds the values of a task's statements, and its final answer, in a text.

    A value is found as written, and as an amount or a date in another spelling. Values that the task's public text
    names are no secrets. A value that consists of function words (`yes`, `无`) only counts where the text is about its
    attribute.
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
        if family_of(self._task).entities:
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
        """Names that a query may use, normalised: entities, attributes, readings of a question. An alias is a separate
        name, since it may be what a query asks for.
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

    def excused(self, query: str) -> AllowedText:
        """What the entries for this query may name: whatever the query or the task's public text names."""
        return AllowedText((*self._known, *self._named_in(query)))

    def stating(self, excuse: AllowedText, statement: Statement) -> AllowedText:
        """`excuse` for the one entry that states `statement`. In a graph or a chain its subject may be secret too."""
        own = [statement.attribute]
        if not (statement.linked or statement.step):
            own += (name for names in statement.subject for name in names)
        return AllowedText((*excuse.phrases, *own), statement)

    def found_in(self, text: str, excuse: AllowedText = NOTHING) -> str:
        """A value that the text gives away; "" if there is none."""
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
    """A text with the places of its excused phrases."""

    def __init__(self, text: str, phrases: Iterable[str]) -> None:
        self.text = text
        found = (occurrences(text, phrase) for phrase in set(phrases) if phrase in text)
        self._places = [place for places in found for place in places]

    def covers(self, start: int, end: int) -> bool:
        """Whether this part of the text lies within an excused phrase, as `Light` in `Brackness Light`."""
        return any(first <= start and end <= last for first, last in self._places)


def forms_of(value: str) -> tuple[str, ...]:
    """The spellings of a value: as it is, with amounts as `written`, dates in their usual spellings."""
    return tuple(dict.fromkeys((value, written(value), *spellings(value))))


def holds(text: str, statement: Statement) -> bool:
    """Whether a text states a statement's value: in one of its spellings, as an equal amount, or, for a list of
    readings, all of them.
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
