"""What a closed world's index makes of a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from cuecard.core.i18n import N_
from cuecard.core.phrases import content_words, is_question, sentences
from cuecard.core.worlds.forms import Form
from cuecard.core.worlds.statements import Statement

# Reasons of the hit log: recorded as they stand here, translated where a screen shows them.
FOUND = N_("one entity and one attribute, on record")
SEVERAL_ENTITIES = N_("names several entities")
SEVERAL_ATTRIBUTES = N_("asks for several things at once")
NO_ENTITY = N_("names no entity on record")
NO_ATTRIBUTE = N_("names an entity but no attribute on record")
UNCLEAR_ATTRIBUTE = N_("fits several attributes on record equally well")
WITHHELD = N_("asks for what is never stated: the final answer")
NOT_ON_RECORD = N_("nothing on record fits")

MAX_WORDS = 14
_AND = re.compile(
    r"\b(?:and|or|as well as|plus|versus|vs|both)\b|[&;；、/]|以及|和|与|及|还有|或者|分别",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Lead:
    """A list that helps to ask better: names and headings, never values."""

    form: Form
    name: str
    items: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """`statement` for a hit; otherwise `leads`, which a compound query never gets."""

    reason: str
    statement: Statement | None = None
    is_compound: bool = False
    leads: tuple[Lead, ...] = ()


class Index(Protocol):
    def find(self, query: str) -> Finding: ...


def compound(reason: str) -> Finding:
    return Finding(reason, is_compound=True)


def asks_for_several(text: str) -> bool:
    """Whether a text has several parts with content, joined by "and" and the like, or several
    questions, or more words than one question needs.
    """
    if len(parts_with_content(text)) > 1:
        return True
    if sum(1 for s in sentences(text) if is_question(s) and content_words(s)) > 1:
        return True
    latin = [word for word in content_words(text) if word.isascii()]
    return len(latin) > MAX_WORDS or len(content_words(text)) > 3 * MAX_WORDS


def parts_with_content(text: str) -> tuple[str, ...]:
    return tuple(part for part in _AND.split(text) if content_words(part))
