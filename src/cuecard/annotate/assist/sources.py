"""A pasted source: cut into parts at the ends of sentences, and searched for what a model quotes from it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from cuecard.core.agents.measuring import estimate
from cuecard.core.phrases import sentences

_OVERLAP = 2
_MIN_QUOTE = 4
_QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "‑": "-"})
_CLOSING = "\"'”’」』）)]】》»"
_ENDS = ".!?。！？…;；"


def parts_of(text: str, tokens: int) -> list[tuple[str, ...]]:
    """The sentences of a text in parts of about so many tokens; each part begins with the last
    sentences of the one before, unless they are long, so that what refers back can be understood.
    """
    pieces = [piece for sentence in _sentences(text) for piece in _cut(sentence, tokens)]
    found: list[tuple[str, ...]] = []
    part: list[str] = []
    used = fresh = 0
    for piece in pieces:
        size = estimate(piece)
        if fresh and used + size > tokens:
            found.append(tuple(part))
            part = [p for p in part[-_OVERLAP:] if estimate(p) <= tokens // 8]
            used, fresh = sum(map(estimate, part)), 0
        part.append(piece)
        used, fresh = used + size, fresh + 1
    if fresh:
        found.append(tuple(part))
    return found


class SourceText:
    """A text in which quotations are found whatever their blanks, width and quotation marks."""

    def __init__(self, text: str) -> None:
        # Composed, so that single characters fold as the whole does.
        self._text = text = unicodedata.normalize("NFC", text)
        chars: list[str] = []
        self._at: list[int] = []
        for index, char in enumerate(text):
            for folded in _fold(char):
                chars.append(folded)
                self._at.append(index)
        self._folded = "".join(chars)

    def find(self, quote: str) -> str | None:
        """The words of the text that `quote` repeats, as they stand there; None if it does not."""
        wanted = "".join(_fold(quote))
        bare = wanted.strip(_CLOSING + _ENDS)
        for needle in (wanted, bare):
            if len(needle) < _MIN_QUOTE:
                continue
            start = self._folded.find(needle)
            if start >= 0:
                first, last = self._at[start], self._at[start + len(needle) - 1]
                return " ".join(self._text[first : last + 1].split())
        return None


def _fold(text: str) -> str:
    """Without blanks, in one width, case kept: a quotation is literal but for its layout."""
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return "".join(
        char for char in folded if not char.isspace() and char not in "\u200b\ufeff\u00ad"
    )


def _sentences(text: str) -> Sequence[str]:
    """Sentences, with the quotation mark or bracket that closes one left at its end."""
    found: list[str] = []
    for sentence in sentences(text):
        lead = len(sentence) - len(sentence.lstrip(_CLOSING))
        if lead and found and found[-1][-1:] in _ENDS:
            found[-1] += sentence[:lead]
            sentence = sentence[lead:].lstrip()
        if sentence:
            found.append(sentence)
    return found


def _cut(sentence: str, tokens: int) -> Sequence[str]:
    """A sentence without end (a table, a page without full stops) in pieces at blanks."""
    if estimate(sentence) <= tokens:
        return (sentence,)
    words = re.findall(r"\S{1,200}\s*", sentence)
    pieces: list[str] = []
    now, used = "", 0
    for word in words:
        size = estimate(word)
        if now and used + size > tokens:
            pieces.append(now.strip())
            now, used = "", 0
        now, used = now + word, used + size
    return (*pieces, now.strip())
