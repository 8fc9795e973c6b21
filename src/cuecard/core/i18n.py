"""Gettext for every visible string, and times in words.

The code is written in English, so English has no catalogue; other languages have one each in `locale`, compiled when the
package is built (`scripts/msgfmt.py`).
"""

from __future__ import annotations

import gettext
import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import chain, count
from pathlib import Path
from typing import Literal

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
LOCALE_DIR = Path(__file__).parent.parent / "locale"


class _Catalogue:
    translations: gettext.NullTranslations = gettext.NullTranslations()
    language: Language = "en"


def detect_language(setting: str | None = None) -> Language:
    """The setting if it names a known language, else what `LC_ALL`, `LC_MESSAGES` or `LANG` say."""
    candidates = [setting, *(os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))]
    for candidate in candidates:
        if not candidate:
            continue
        code = candidate.replace("-", "_").split("_")[0].split(".")[0].lower()
        return code if code in LANGUAGES else "en"
    return "en"


def set_language(language: Language) -> None:
    """Switch all later translations to `language`."""
    if language == "en":
        _Catalogue.translations = gettext.NullTranslations()
    else:
        _Catalogue.translations = gettext.translation(
            "cuecard", localedir=LOCALE_DIR, languages=[language], fallback=True
        )
    _Catalogue.language = language


def current_language() -> Language:
    return _Catalogue.language


class Marked(str):
    """A text with a gettext context, to be translated when it is shown."""

    __slots__ = ("context",)
    context: str

    def __new__(cls, context: str, message: str) -> Marked:
        marked = super().__new__(cls, message)
        marked.context = context
        return marked

    def __reduce__(self) -> tuple[type[Marked], tuple[str, str]]:
        return Marked, (self.context, str(self))


def _(message: str) -> str:
    if not message:
        return ""
    if isinstance(message, Marked):
        return pgettext(message.context, message)
    return _Catalogue.translations.gettext(message)


def pgettext(context: str, message: str) -> str:
    """The translation of `message` in the gettext context `context`, which tells apart equal texts."""
    return _Catalogue.translations.pgettext(context, str(message))


def ngettext(singular: str, plural: str, n: int) -> str:
    return _Catalogue.translations.ngettext(singular, plural, n)


def plural(one: str, many: str, n: int, **fields: object) -> str:
    """As `ngettext`, and filled in, with `n` and the fields."""
    return ngettext(one, many, n).format(n=n, **fields)


def joined(texts: Iterable[str]) -> str:
    """Sentences one after the other, with a blank between them except behind a full-width mark; what is empty is left out."""
    found = ""
    for text in filter(None, texts):
        found += spaced(found, text)
    return found


def spaced(before: str, text: str) -> str:
    """A text as it follows the one `before`: behind a blank, except beside a full-width mark."""
    tight = not before or before[-1] in "。？！；：，）" or text[0] in "（，。"
    return text if tight else f" {text}"


def listed(names: Iterable[str], most: int = 0) -> str:
    """Names as the language lists them: `a, b, c`; with `most`, of more than so many the first, and how many more there are.
    Chinese has another mark between names than between phrases, which `_(", ")` joins.
    """
    found = list(names)
    comma = pgettext("between names", ", ")
    if not 0 < most < len(found):
        return comma.join(found)
    return _("{names} and {n} more").format(names=comma.join(found[:most]), n=len(found) - most)


def headed(*parts: object) -> str:
    """Texts, each about the one before, as the language sets them: `name: text`; what is empty is left out."""
    return _(": ").join(filter(None, map(str, parts)))


def beside(name: str, code: str) -> str:
    """A text, and in brackets what belongs to it, unless that is empty: `name (code)`."""
    return _("{name} ({code})").format(name=name, code=code) if code else name


def numbered(name: str, taken: Iterable[str]) -> str:
    """A name that was made by rule, with a number where others are called so: `main, rescored (2)`."""
    known = set(taken)
    tried = chain((name,), (beside(name, str(n)) for n in count(2)))
    return next(each for each in tried if each not in known)


def npgettext(context: str, singular: str, plural: str, n: int) -> str:
    return _Catalogue.translations.npgettext(context, singular, plural, n)


def N_(message: str) -> str:  # noqa: N802 - the name is gettext's convention
    return message


def NP_(context: str, message: str) -> str:  # noqa: N802
    """Mark `message` as `N_` does, with a context that `_` uses later. Texts made from it (joined, formatted, stored as
    JSON) lose the context.
    """
    return Marked(context, message)


IDLE = timedelta(minutes=5)
"""The most of a pause between two events of a session that counts as time spent in it."""


def age(moment: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits: "now", "5 min", "3 h", "2 d"."""
    minutes = int((now - moment).total_seconds() // 60)
    if minutes < 1:
        return _("now")
    if minutes < 60:
        return _("{n} min").format(n=minutes)
    if minutes < 48 * 60:
        return _("{n} h").format(n=minutes // 60)
    return _("{n} d").format(n=minutes // (24 * 60))


def time_left(until: datetime, now: datetime) -> str:
    """How long until then, in the largest unit that fits: "5 min left", "3 h left", "2 d left", "3 y left"."""
    minutes = max(int((until - now).total_seconds() // 60), 0)
    if minutes < 60:
        return _("{n} min left").format(n=minutes)
    if minutes < 48 * 60:
        return _("{n} h left").format(n=minutes // 60)
    days = minutes // (24 * 60)
    return _("{n} d left").format(n=days) if days < 730 else _("{n} y left").format(n=days // 365)


def stopwatch(seconds: float) -> str:
    """How long something took, as a clock would show it: "7 s", "3:05", "1:02:09"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return _("{n} s").format(n=whole)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def active(pause: timedelta) -> timedelta:
    """The part of a pause between two events that counts as work, since people leave sessions open overnight."""
    return min(max(pause, timedelta()), IDLE)
