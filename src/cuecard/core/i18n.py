"""Gettext for every visible string.

`_("text")` translates now; `N_("text")` only marks a string for the catalogues, for places that
are evaluated before the language is known (bindings, enum labels) and translated when shown.

One English text that means two things carries a context: `pgettext("state of a run", "begun")` now,
`NP_("state of a run", "begun")` to mark it. The context is for translators and never shown.
"""

from __future__ import annotations

import gettext
import os
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
    _Catalogue.translations = gettext.translation(
        "cuecard", localedir=LOCALE_DIR, languages=[language], fallback=True
    )
    _Catalogue.language = language


def current_language() -> Language:
    return _Catalogue.language


class Marked(str):
    """A text with a context, to be translated when it is shown."""

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
    """The translation of `message` where it means what `context` says."""
    return _Catalogue.translations.pgettext(context, str(message))


def ngettext(singular: str, plural: str, n: int) -> str:
    return _Catalogue.translations.ngettext(singular, plural, n)


def npgettext(context: str, singular: str, plural: str, n: int) -> str:
    return _Catalogue.translations.npgettext(context, singular, plural, n)


def N_(message: str) -> str:  # noqa: N802 - the name is gettext's convention
    return message


def NP_(context: str, message: str) -> str:  # noqa: N802
    """Mark `message` as `N_` does, with a context; `_` finds it again. What is made of it (joined, formatted,
    kept as JSON) has no context any more.
    """
    return Marked(context, message)
