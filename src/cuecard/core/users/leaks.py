"""What a simulated user gives away: gold that nobody has said yet. Pure functions over texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from cuecard.core.parts import Dialogue
from cuecard.core.phrases import content_words, occurrences
from cuecard.core.tasks import CheckpointChain, FactWorld, Gold, Graph, Task
from cuecard.core.text import contains_term, is_cjk

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_THOUSANDS = re.compile(r"(?<=\d)[,，'’](?=\d{3}(?!\d))")
# Points, colons and slashes hold a number together (365.24, 06:12, 355/113) and nothing else.
_PUNCTUATION = re.compile(r"[^\w\s.:/]|_|(?<!\d)[.:/]|[.:/](?!\d)")
_BLANK_BY_HAN = re.compile(rf"(?<=[{_HAN}]) | (?=[{_HAN}])")
_NUMBER = re.compile(r"\d+(?:[.:/]\d+)*")
_YES_NO = frozenset({"yes", "no", "true", "false", "none", "unknown", "是", "否", "不是", "没有"})
_MIN_LATIN, _MIN_HAN, _MIN_LOWER, _MAX_UNIT = 3, 2, 5, 6


def fold(text: str) -> str:
    """A text for comparing names in it: case, accents, punctuation, blanks beside Chinese characters
    and characters that nobody sees make no difference.
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


class Told:
    """All that has been said to or by the user, folded only once something in doubt is looked up."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)
        self._folded: str | None = None

    def has(self, folded: str) -> bool:
        """Whether a folded name stands here as a word (Latin) or at all (others)."""
        return next(iter(occurrences(self.folded, folded)), None) is not None

    @property
    def folded(self) -> str:
        if self._folded is None:
            self._folded = fold("\n".join(self._texts))
        return self._folded


def told_in(task: Task, dialogue: Dialogue, *own: str) -> Told:
    """What the user of a task knows at the end of a dialogue: who they are and what they asked first, the
    lines they have disclosed, all that was said, and `own`, the task's words for this moment.
    """
    said = (message.text for message in dialogue.messages)
    if (persona := task.persona) is None:
        return Told((task.opening, *own, *said))
    disclosed = set(dialogue.stages_disclosed)
    lines = (s.line for n, s in enumerate(persona.stages, start=1) if n in disclosed)
    return Told((persona.name, persona.identity, persona.initial_query, *lines, *own, *said))


@dataclass(frozen=True)
class _Secret:
    """One thing: its names as written, and what finds it (folded form -> as written)."""

    names: frozenset[str]
    forms: dict[str, str]


class Secrets:
    """Things that a user must not be the first to name. Each is a group of names; who has heard one
    of them knows the thing.

    Names too short or too common to mean anything count neither way: single digits, numbers of fewer
    than three digits, Latin names of fewer than three characters, lower-case words of fewer than five
    letters, single Chinese characters, small words, yes and no. A number with a short unit is also
    found without the unit.
    """

    def __init__(self, things: Iterable[Iterable[str]]) -> None:
        self._secrets = tuple(s for names in things if (s := _secret(names)).forms)

    def named(self, text: str, told: Told) -> tuple[str, ...]:
        """The names in `text` of things that were not told before, each thing once."""
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
    """The number of a folded name that is a number with a short unit, if it counts by itself."""
    numbers = _NUMBER.findall(folded)
    letters = sum(c.isalpha() for c in folded)
    return numbers[0] if len(numbers) == 1 and letters <= _MAX_UNIT and counts(numbers[0]) else ""


def counts(name: str) -> bool:
    """Whether a name is long and rare enough that hearing it means something."""
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
    match gold:
        case Graph():
            return tuple(gold.names_of(node) for node in gold.node_ids)
        case CheckpointChain():
            steps = tuple(step.names for step in gold.steps)
            return (*steps, (gold.final_answer, *gold.final_aliases))
        case FactWorld():
            facts = tuple((fact.value, *fact.aliases) for fact in gold.facts)
            entities = tuple((fact.entity,) for fact in gold.facts if fact.entity)
            return (*entities, *facts, (gold.answer, *gold.answer_aliases))
        case _:
            return tuple((cell,) for cell in dict.fromkeys(c for row in gold.rows for c in row))


def chain_things(chain: CheckpointChain) -> tuple[tuple[str, ...], ...]:
    """As `gold_things`, with every reading of an ambiguous step."""
    open_steps = [step.ambiguity for step in chain.steps if step.ambiguity]
    candidates = ((name,) for ambiguity in open_steps for name in ambiguity.candidates)
    return (*gold_things(chain), *candidates)


def forbidden_in(text: str, chain: CheckpointChain) -> tuple[str, ...]:
    """What a user must never say and `text` says."""
    folded = fold(text)
    return tuple(
        name
        for name in chain.forbidden
        if contains_term(text, name) or contains_term(folded, fold(name))
    )
