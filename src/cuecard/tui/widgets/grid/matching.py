"""Which of many texts a person may mean while they type one."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Protocol

SHOWN = 6


class Completer(Protocol):
    """Knows by itself which texts to offer for what is typed."""

    def matching(self, typed: str, limit: int = SHOWN) -> list[str]: ...


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


class Candidates:
    """Texts in order of preference; folded once, when first asked."""

    def __init__(self, texts: Sequence[str] = ()) -> None:
        self.texts = texts
        self._keys: list[str] | None = None

    def matching(self, typed: str, limit: int = SHOWN) -> list[str]:
        """Those that begin with `typed`, then those with a word that does, then those that hold it.

        Case and width do not matter. A text that is `typed` itself is not among them.
        """
        if self._keys is None:
            self._keys = [_folded(text) for text in self.texts]
        needle = _folded(typed).strip()
        begins: list[str] = []
        words: list[str] = []
        holds: list[str] = []
        for text, key in zip(self.texts, self._keys, strict=True):
            if needle not in key or text == typed:
                continue
            if key.startswith(needle):
                begins.append(text)
                if len(begins) == limit:
                    break
            elif f" {needle}" in key:
                words.append(text)
            else:
                holds.append(text)
        return [*begins, *words, *holds][:limit]
