"""Finds what a user's words give away: gold names that nobody has said yet, and lines before their stage."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from cuecard.core.engine.messages import Dialogue
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.tasks.models import Gold, Task
from cuecard.core.text import (
    clauses,
    contains_term,
    content_words,
    coverage,
    is_cjk,
    occurrences,
    questions,
    sentences,
)

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_THOUSANDS = re.compile(r"(?<=\d)[,，'’](?=\d{3}(?!\d))")
# Points, colons and slashes hold a number together (365.24, 06:12, 355/113) and nothing else.
_PUNCTUATION = re.compile(r"[^\w\s.:/]|_|(?<!\d)[.:/]|[.:/](?!\d)")
_BLANK_BY_HAN = re.compile(rf"(?<=[{_HAN}]) | (?=[{_HAN}])")
_NUMBER = re.compile(r"\d+(?:[.:/]\d+)*")
_YES_NO = frozenset({"yes", "no", "true", "false", "none", "unknown", "是", "否", "不是", "没有"})
_MIN_LATIN, _MIN_HAN, _MIN_LOWER, _MAX_UNIT = 3, 2, 5, 6


def fold(text: str) -> str:
    """The text normalised for finding names in it: without case, accents, punctuation, invisible characters and blanks
    beside Chinese characters.
    """
    text = _THOUSANDS.sub("", text)
    if not text.isascii():
        text = "".join(
            c
            for c in unicodedata.normalize("NFKD", text)
            if unicodedata.category(c) not in ("Mn", "Cf")
        )
    text = " ".join(_PUNCTUATION.sub(" ", text.casefold()).split())
    return text if text.isascii() else _BLANK_BY_HAN.sub("", text)


class KnownTexts:
    """The texts that a user knows: said by or to them. Folded only when a name is first looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._folded: str | None = None

    def has(self, folded: str) -> bool:
        """Whether a folded name occurs in the texts: as a whole word if it is Latin, anywhere if it is not."""
        return next(iter(occurrences(self.folded, folded)), None) is not None

    @property
    def folded(self) -> str:
        if self._folded is None:
            self._folded = fold("\n".join(self._texts))
        return self._folded


def known_texts(task: Task, dialogue: Dialogue, *own: str) -> KnownTexts:
    """What the user of a task knows at the end of a dialogue: their identity and first query, the lines disclosed so
    far, all that was said, and `own`, the task's own words for this turn.
    """
    said = (message.text for message in dialogue.messages)
    if (persona := task.persona) is None:
        return KnownTexts((task.opening, *own, *said))
    disclosed = set(dialogue.stages_disclosed)
    lines = (s.line for n, s in enumerate(persona.stages, start=1) if n in disclosed)
    return KnownTexts((persona.name, persona.identity, persona.initial_query, *lines, *own, *said))


@dataclass(frozen=True)
class _Secret:
    """One thing: its names as written, and the folded forms that find it, each with the name as written."""

    names: frozenset[str]
    forms: dict[str, str]


class Secrets:
    """Things that a user must not be the first to name. Each is a group of names; once one of them has been said, the
    thing is known.

    Names that are too short or too common are ignored: numbers of fewer than three digits, Latin names of fewer than
    three characters, lower-case words of fewer than five letters, single Chinese characters, function words, yes and
    no. A number with a short unit is also found without the unit.
    """

    def __init__(self, things: Iterable[Iterable[str]]) -> None:
        self._secrets = tuple(s for names in things if (s := _secret(names)).forms)

    def named(self, text: str, told: KnownTexts) -> tuple[str, ...]:
        """The names in `text` of things that are not in `told`, one name per thing."""
        folded = fold(text)
        found: list[str] = []
        for secret in self._secrets:
            for form, written in secret.forms.items():
                if form not in folded or next(iter(occurrences(folded, form)), None) is None:
                    continue
                if not told.has(form) and not any(told.has(name) for name in secret.names):
                    found.append(written)
                    break
        return tuple(found)


def _secret(names: Iterable[str]) -> _Secret:
    whole = {fold(name): name for name in names if counts(name)}
    forms = dict(whole)
    for folded, name in whole.items():
        if number := bare_number(folded):
            forms.setdefault(number, name)
    return _Secret(frozenset(whole), forms)


def bare_number(folded: str) -> str:
    """The number in a folded name that consists of a number and a short unit, if it `counts` alone; else ""."""
    numbers = _NUMBER.findall(folded)
    letters = sum(c.isalpha() for c in folded)
    return numbers[0] if len(numbers) == 1 and letters <= _MAX_UNIT and counts(numbers[0]) else ""


def counts(name: str) -> bool:
    """Whether a name is long and rare enough for its mention to give something away."""
    folded = fold(name)
    if not folded or folded in _YES_NO or not content_words(name):
        return False
    digits = sum(c.isdigit() for c in folded)
    weight = sum(c.isalnum() for c in folded) - (digits if digits == 1 else 0)
    if is_cjk(folded):
        return weight >= _MIN_HAN
    if name.isalpha() and name.islower() and name.isascii():
        return weight >= _MIN_LOWER
    return weight >= _MIN_LATIN


def gold_things(gold: Gold) -> tuple[tuple[str, ...], ...]:
    """The entities and values of a gold answer, each with all its names."""
    return gold.things


def chain_things(chain: CheckpointChain) -> tuple[tuple[str, ...], ...]:
    """As `gold_things`, and the candidates of every ambiguous step."""
    open_steps = [step.ambiguity for step in chain.steps if step.ambiguity]
    candidates = ((name,) for ambiguity in open_steps for name in ambiguity.candidates)
    return (*gold_things(chain), *candidates)


def forbidden_in(text: str, chain: CheckpointChain) -> tuple[str, ...]:
    """The task's forbidden strings that `text` contains."""
    folded = fold(text)
    return tuple(
        name
        for name in chain.forbidden
        if contains_term(text, name) or contains_term(folded, fold(name))
    )


_WHOLE, _EACH_REQUEST, _GIVEN_AWAY = 0.6, 0.6, 0.6
_FEW, _SHORT_LATIN, _SHORT_HAN = 3, 12, 6
_LINES_NUMBER = re.compile(r"\d+(?:[.:/,]\d+)*")
_QUOTED = re.compile('《([^》]+)》|“([^”]+)”|「([^」]+)」|"([^"]+)"')
_CAPITALISED = re.compile(r"(?<=[a-z0-9,;:)’'] )[\"“(]?([A-Z][\w-]+)")


_folded = lru_cache(maxsize=8192)(fold)


@lru_cache(maxsize=64)
def words_said(text: str) -> frozenset[str]:
    """The content words of a reply. The cache is small: a reply is compared with many lines at once, then never again."""
    return frozenset(content_words.__wrapped__(text))


_reply_folded = lru_cache(maxsize=64)(fold)


def carries(text: str, line: str) -> bool:
    """Whether `text` says what `line` says, if in other words: it has the line's numbers, quotations and names, most of
    its content words, and most of those of each thing that the line asks for. Strict on purpose, since a simulator can
    always say the line itself.
    """
    folded = _reply_folded(text)
    if fold(line) in folded:
        return True
    said = words_said(text)
    if coverage(content_words(line), said) < _WHOLE:
        return False
    if not all(fold(fact) in folded for fact in _particulars(line)):
        return False
    return all(coverage(request, said) >= _EACH_REQUEST for request in _requests(line))


def _requests(line: str) -> Iterator[tuple[str, ...]]:
    """The content words of each thing that the line asks for; a sentence that is only 好 asks for nothing."""
    for question in questions(line):
        for clause in clauses(question):
            words = content_words(clause)
            if any(len(word) > 1 or word.isascii() for word in words):
                yield words


def _particulars(line: str) -> list[str]:
    quoted = (next(group for group in found if group) for found in _QUOTED.findall(line))
    names = (
        name for s in sentences(line) for name in _CAPITALISED.findall(s) if content_words(name)
    )
    return [fact for fact in (*_LINES_NUMBER.findall(line), *quoted, *names) if fold(fact)]


def gives_away(text: str, line: str, told: KnownTexts) -> bool:
    """Whether `text` says a line that is not due: in the line's own words, or with most of its content words that are
    not in `told`.
    """
    folded, flat = _reply_folded(text), _folded(line)
    long_enough = len(flat) >= (_SHORT_HAN if is_cjk(flat) else _SHORT_LATIN)
    if long_enough and flat in folded and flat not in told.folded:
        return True
    words, said = content_words(line), words_said(text)
    if sum(word in said for word in words) < _FEW:
        return False
    new = [word for word in words if _folded(word) not in told.folded]
    return len(new) >= _FEW and sum(word in said for word in new) >= _GIVEN_AWAY * len(new)
