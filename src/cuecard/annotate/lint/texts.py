"""Texts: in the task's language, with that language's punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from cuecard.annotate.lint.case import Case, Written, said_by
from cuecard.annotate.lint.finding import Finding, warning
from cuecard.core.i18n import _

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_CHAR = re.compile(f"[{_HAN}]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_SENTENCE_OF_WORDS = re.compile(r"(?<![A-Za-z’'])[A-Za-z’']+(?:[ ,]+[A-Za-z’']+){5}")
# Bounded, so that openings without an end cost no more than they are long.
_QUOTED = re.compile(
    '《[^》]{0,200}》|“[^”]{0,200}”|「[^」]{0,200}」|"[^"]{0,200}"|‘[^’]{0,200}’|\\([^)]{0,200}\\)|（[^）]{0,200}）'
)
# Full-width letters and digits, which look like plain ones and match none of them.
_WIDE = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u3000]")
_HALF_IN_CHINESE = re.compile(rf"[{_HAN}》”）][,;!?:](?![\d/])|[{_HAN}》”）]\.(?![\w.])")
_FULL_IN_ENGLISH = re.compile(rf"(?<![{_HAN}》”）])[，。；！？、：（）](?![{_HAN}《“（])")
_MOSTLY, _SOME = 0.3, 0.15


def lint_texts(case: Case) -> Iterator[Finding]:
    """L042 and L043."""
    chinese = case.task.language == "zh"
    for written in case.texts():
        if _is_foreign(written.text, chinese):
            yield _mixed(written, chinese)
        elif mark := _odd_mark(written.text, chinese):
            yield _odd(written, mark)
    yield from _gold(case, chinese)


def _gold(case: Case, chinese: bool) -> Iterator[Finding]:
    """Names may be foreign, relations may not; neither may be of the wrong width."""
    if case.graph is None:
        return
    told: set[str] = set()
    for index, triple in case.triples:
        if triple.relation not in told:
            told.add(triple.relation)
            has_han = _HAN_CHAR.search(triple.relation) is not None
            words = _LATIN_WORD.search(triple.relation) is not None
            if (chinese and words and not has_han) or (not chinese and has_han):
                place = f"gold.triples[{index}].relation"
                yield _mixed(Written(place, triple.relation, triple.relation), chinese)
        for field, name in (("head", triple.head), ("tail", triple.tail)):
            if not name.isascii() and name not in told:
                told.add(name)
                if mark := _WIDE.search(name):
                    about = said_by(case.graph, triple)
                    yield _odd(Written(f"gold.triples[{index}].{field}", name, about), mark[0])


def _mixed(written: Written, chinese: bool) -> Finding:
    reason = _("is not in Chinese, the language of the task")
    if not chinese:
        reason = _("is not in English, the language of the task")
    return warning(
        "L042",
        written.place,
        reason,
        _("Translate it, or change the language of the task."),
        written.about,
    )


def _odd(written: Written, mark: str) -> Finding:
    return warning(
        "L043",
        written.place,
        _("“{mark}” has the width of another language").format(mark=mark),
        _("Write ，。？ between Chinese characters, and , . ? and plain digits elsewhere."),
        f"{written.about}: {mark}",
    )


@lru_cache(maxsize=4096)
def _is_foreign(text: str, chinese: bool) -> bool:
    """Whether a text is mostly in the other language. Quotations and names in it do not count."""
    own = _QUOTED.sub(" ", text)
    han = len(_HAN_CHAR.findall(own))
    words = len(_LATIN_WORD.findall(own))
    if not han and not words:
        return False
    # A Chinese word has about two characters.
    share = (han / 2) / (han / 2 + words)
    if chinese:
        return (share < _MOSTLY and words > 3) or _SENTENCE_OF_WORDS.search(own) is not None
    return share > _SOME


@lru_cache(maxsize=4096)
def _odd_mark(text: str, chinese: bool) -> str:
    """The first sign of the wrong width, with what stands before it; empty where there is none."""
    if found := _WIDE.search(text):
        return found[0]
    if chinese:
        found = _HALF_IN_CHINESE.search(text)
    else:
        found = _FULL_IN_ENGLISH.search(text)
    return found[0] if found else ""
