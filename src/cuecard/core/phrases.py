"""What scripts need of language: content words, sentences, questions. English and Chinese.

Chinese has no blanks between words, so its runs are compared as overlapping pairs of characters.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from cuecard.core.text import normalise

_STOP_WORDS = frozenset(
    """a an the of in on at for to from by with and or but so is are was were be been being am do does
    did has have had having what which who whom whose when where why how many much that this these
    those it its their his her there here please tell me find look up about into i you we they my your
    our us them he she would could should can will shall may might must not no yes as than then also
    any some all each every list give show know need want like get let if just only very more most
    next one ones ll ve re don hi hello""".split()  # noqa: SIM905 - a list of 110 quoted words would be unreadable
)
_STOP_CHINESE = re.compile(
    "[这那哪](?:一|几)?[部座位本种只条张家次届场首件款台项个]?|指的是"
    "|请问|请你|请|什么|哪些|多少|怎么|如何|为什么|是否|告诉|知道|了解|查一查|查一下|查|一下|帮我|帮|关于"
    "|我们|你们|我|你|您|它|他|她|的|了|是|在|吗|呢|吧|啊|和|与|及|想|要|能|可以|个|几"
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECES = re.compile(rf"[{_HAN}]+|[^\W_{_HAN}]+")
_HAN_RUN = re.compile(rf"[{_HAN}]+")
# A full stop ends a sentence only before a blank, so that 1.5 and example.org stay whole.
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.](?=\S)[^.!?。！？\n]*)*(?:[.!?。！？]+|\n|$)")
_CLAUSE = re.compile(r"[,;:，；：、()（）\n]+|\s[–—-]\s")
_QUESTION_END = re.compile("[?？]\\W*$|[吗呢][。！.!\\s]*$")
_NEGATED = re.compile(r"\b(?:not|no|never|neither|nor)\b|n['’]t\b|不是|并非|不要|没", re.IGNORECASE)
_ASKED = re.compile(
    r"^\W*(?:and |but |so |now |then )?(?:(?:what|which|who|whom|whose|when|where|why|how)\b"
    r"|(?:do|does|did|would|could|should|shall|can|will|may|are|is|have) (?:you|i|we|it|there)\b"
    r"|(?:please )?(?:tell me|let me know)\b)"
    r"|^\W*(?:请问|能否|是否|要不要|您是|你是|您想|你想)"
    r"|(?:多少|什么|哪里|哪儿|哪个|哪些|哪一\w|谁|如何|怎么样)\W*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def content_words(text: str) -> tuple[str, ...]:
    """The words that carry meaning, in order, each once; Chinese runs as pairs of characters."""
    found: dict[str, None] = {}
    for piece in _PIECES.findall(normalise(text)):
        if not _HAN_RUN.fullmatch(piece):
            if not _is_small(piece):
                found.setdefault(piece)
            continue
        for run in _STOP_CHINESE.split(piece):
            for start in range(max(len(run) - 1, min(len(run), 1))):
                found.setdefault(run[start : start + 2])
    return tuple(found)


def _is_small(word: str) -> bool:
    """Stop words, and the single letters that `I'm` and `don't` leave behind."""
    return word in _STOP_WORDS or (len(word) == 1 and word.isalpha())


@lru_cache(maxsize=2048)
def keywords(text: str) -> str:
    """The text without its small words, readable: Chinese runs stay whole."""
    kept: list[str] = []
    for piece in _PIECES.findall(text):
        if _HAN_RUN.fullmatch(piece):
            kept.extend(run for run in _STOP_CHINESE.split(piece) if run)
        elif not _is_small(piece.casefold()):
            kept.append(piece)
    return " ".join(kept)


@lru_cache(maxsize=65536)
def same_word(one: str, other: str) -> bool:
    """Equal, or two forms of one word (`invented`, `inventor`). Numbers must be equal."""
    if one == other:
        return True
    longest = max(len(one), len(other))
    if min(len(one), len(other)) < 4 or not (one.isalpha() and other.isalpha()):
        return False
    shared = _shared_prefix(one, other)
    if shared >= 5 and shared >= 0.6 * longest:
        return True
    if shared < 2:
        return False
    from rapidfuzz.fuzz import ratio

    return ratio(one, other) >= 87


def _shared_prefix(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def shared_words(needle: Iterable[str], haystack: Collection[str]) -> tuple[str, ...]:
    """The words of `needle` that `haystack` has too, in some form."""
    return tuple(
        word for word in needle if word in haystack or any(same_word(word, h) for h in haystack)
    )


def coverage(needle: Collection[str], haystack: Collection[str]) -> float:
    """Which share of `needle`'s words `haystack` has, 0 to 1; 0 for no words."""
    return len(shared_words(needle, haystack)) / len(needle) if needle else 0.0


def occurrences(haystack: str, needle: str) -> Iterable[tuple[int, int]]:
    """Where `needle` stands as a term in `haystack`, both normalised (see `text.contains_term`).

    A plural or possessive `s` after a Latin word belongs to it.
    """
    start = haystack.find(needle) if needle else -1
    while start >= 0:
        end = start + len(needle)
        if not (_latin(needle[0]) and start and _latin(haystack[start - 1])):
            if not _latin(needle[-1]) or end == len(haystack) or not _latin(haystack[end]):
                yield start, end
            elif (
                haystack[end] == "s"
                and needle[-1].isalpha()
                and not (end + 1 < len(haystack) and _latin(haystack[end + 1]))
            ):
                yield start, end + 1
        start = haystack.find(needle, start + 1)


def spans(text: str, terms: Iterable[str]) -> list[tuple[str, int, int]]:
    """Which of the normalised `terms` stand where in a normalised text, no two overlapping.

    Longer terms first need no sorting here: give them in the order in which they go.
    """
    taken = bytearray(len(text))
    found: list[tuple[str, int, int]] = []
    for term in terms:
        if term not in text:
            continue
        for start, end in occurrences(text, term):
            if not any(taken[start:end]):
                taken[start:end] = b"\x01" * (end - start)
                found.append((term, start, end))
    return found


def without_terms(text: str, terms: Iterable[str], mark: str = " ") -> str:
    """`text` with `mark` in place of every one of `terms` that stands in it as a term."""
    for term in sorted(terms, key=len, reverse=True):
        if term.strip():
            left = r"(?<![0-9a-z])" if _latin(term[0].lower()) else ""
            right = r"(?![0-9a-z])" if _latin(term[-1].lower()) else ""
            text = re.sub(left + re.escape(term) + right, lambda _: mark, text, flags=re.IGNORECASE)
    return text


def _latin(char: str) -> bool:
    return char in "0123456789abcdefghijklmnopqrstuvwxyz"


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text with their closing marks; a line break ends one too."""
    return tuple(s.strip() for s in _SENTENCE.findall(text) if s.strip())


def clauses(text: str) -> tuple[str, ...]:
    """The parts of all sentences between commas, colons and dashes."""
    parts = (part for sentence in sentences(text) for part in _CLAUSE.split(sentence))
    return tuple(dict.fromkeys(part.strip(" .!?。！？") for part in parts if content_words(part)))


def is_question(sentence: str) -> bool:
    """Whether a sentence asks: it ends with a question mark or has the form of a question."""
    return bool(_QUESTION_END.search(sentence) or _ASKED.search(sentence))


def questions(text: str) -> tuple[str, ...]:
    return tuple(s for s in sentences(text) if is_question(s))


def is_negated(text: str) -> bool:
    return _NEGATED.search(text) is not None


def statements_in(text: str) -> tuple[str, ...]:
    """The sentences that do not ask."""
    return tuple(s for s in sentences(text) if not is_question(s))
