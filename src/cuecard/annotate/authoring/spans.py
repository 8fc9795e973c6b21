"""Which words of a text changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

# Blanks, one character of a script without blanks, or a word with what clings to it.
_TOKENS = re.compile(
    r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uf900-\uffef]+"
)
_MOST_WORK = 25_000_000
_LEAST_KEPT = 0.25


@dataclass(frozen=True)
class Span:
    """A run of text, and whether it differs from the other version."""

    text: str
    changed: bool


def spans(before: str, after: str) -> tuple[list[Span], list[Span]]:
    """Both texts as runs of words that both have and runs that only one has. Texts with little in
    common are one changed run each.
    """
    from rapidfuzz.distance import Indel

    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    kept_old, kept_new = [False] * len(old), [False] * len(new)
    if len(old) * len(new) <= _MOST_WORK:
        for code in Indel.opcodes(old, new):
            if code.tag == "equal":
                size = code.src_end - code.src_start
                kept_old[code.src_start : code.src_end] = [True] * size
                kept_new[code.dest_start : code.dest_end] = [True] * size
    else:
        start = 0
        while start < min(len(old), len(new)) and old[start] == new[start]:
            kept_old[start] = kept_new[start] = True
            start += 1
        end = 1
        while end <= min(len(old), len(new)) - start and old[-end] == new[-end]:
            kept_old[-end] = kept_new[-end] = True
            end += 1
    size = sum(len(token) for token, keep in zip(old, kept_old, strict=True) if keep)
    if size < _LEAST_KEPT * max(len(before), len(after)):
        kept_old, kept_new = [False] * len(old), [False] * len(new)
    return _runs(old, kept_old), _runs(new, kept_new)


def excerpt(runs: list[Span], around: int) -> list[Span]:
    """The changed runs with `around` characters about them, and an ellipsis for what is left out."""
    found: list[Span] = []
    last = len(runs) - 1
    for at, run in enumerate(runs):
        text = run.text
        head, tail = (0 if at == 0 else around), (0 if at == last else around)
        if not run.changed and len(text) > head + tail + 3:
            text = text[:head] + "…" + (text[-tail:] if tail else "")
        found.append(Span(text, run.changed))
    return found


def _runs(tokens: list[str], kept: list[bool]) -> list[Span]:
    """Runs of tokens; blanks between two changed words are changed too."""
    flags = list(kept)
    for at in range(1, len(tokens) - 1):
        if tokens[at].isspace() and not kept[at - 1] and not kept[at + 1]:
            flags[at] = False
    paired = zip(tokens, flags, strict=True)
    return [
        Span("".join(token for token, _keep in run), not keep)
        for keep, run in groupby(paired, key=lambda pair: pair[1])
    ]
