"""Names that stand for people: P1, P2, … in an order that says nothing about who is who."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from cuecard.core.i18n import _
from cuecard.core.text import is_cjk


class Masks:
    """What each person is called in a datasheet. `listed` people get numbers, in the order of a hash of
    their names, so the same people are numbered alike in every workspace; `others` are nobody in
    particular. With `named` everybody keeps their name.
    """

    def __init__(
        self, listed: Iterable[str], others: Iterable[str] = (), *, named: bool = False
    ) -> None:
        self._named = named
        order = sorted(set(listed), key=lambda name: hashlib.sha256(name.encode()).digest())
        self._numbers = {name: f"P{index}" for index, name in enumerate(order, 1)}
        every = {*self._numbers, *others} - {""}
        words = sorted(every, key=lambda name: (-len(name), name))
        # Without a name there is nothing to find.
        self._pattern = re.compile("|".join(map(_as_word, words)) or r"(?!)", re.IGNORECASE)
        self._by_folded = {name.casefold(): self.name(name) for name in sorted(every)}

    def name(self, person: str) -> str:
        return person if self._named else self._numbers.get(person, _("somebody"))

    def text(self, text: str) -> str:
        """What somebody wrote, with the people in it masked."""
        if self._named:
            return text
        return self._pattern.sub(
            lambda found: self._by_folded.get(found[0].casefold(), _("somebody")), text
        )

    @property
    def order(self) -> list[str]:
        """The listed people by real name, in the order of their masks."""
        return sorted(self._numbers) if self._named else list(self._numbers)


def _as_word(name: str) -> str:
    # Chinese is written without blanks between words.
    return re.escape(name) if is_cjk(name) else rf"(?<!\w){re.escape(name)}(?!\w)"
