"""What the background of a closed world must not contain."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cuecard.core.phrases import occurrences, without_terms
from cuecard.core.text import normalise

OMITTED = "…"


class ValueGuard:
    """Finds fact values in texts. Built once for a world; what it has seen it remembers.

    `terms`: every value, alias and final answer. A term counts where `text.contains_term` finds it.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._written: dict[str, str] = {}
        for term in terms:
            if normalised := normalise(term):
                self._written.setdefault(normalised, term)
        self._seen: dict[str, frozenset[str]] = {}

    def terms_in(self, text: str) -> frozenset[str]:
        """The terms, normalised, that stand in a text."""
        found = self._seen.get(text)
        if found is None:
            found = self.named_in(text)
            self._seen[text] = found
        return found

    def named_in(self, text: str) -> frozenset[str]:
        """`terms_in` for a text that will hardly come again, such as a query."""
        haystack = normalise(text)
        return frozenset(
            term
            for term in self._written
            if term in haystack and next(iter(occurrences(haystack, term)), None)
        )

    def clean(self, text: str, allowed: Collection[str] = ()) -> bool:
        """Whether a text holds no term but the `allowed` ones."""
        return all(term in allowed for term in self.terms_in(text))

    def redacted(self, text: str, allowed: Collection[str]) -> str:
        """`text` with its terms left out; empty if that is not possible or nothing remains."""
        banned = [term for term in self.terms_in(text) if term not in allowed]
        if not banned:
            return text
        cut = without_terms(text, (*banned, *(self._written[t] for t in banned)), OMITTED)
        kept = cut.replace(OMITTED, " ").strip()
        return cut if kept and self.clean(cut, allowed) else ""
