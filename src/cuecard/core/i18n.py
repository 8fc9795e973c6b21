"""Gettext for every visible string.

`_("text")` translates now; `N_("text")` only marks a string for the catalogues, for places that
are evaluated before the language is known (bindings, enum labels) and translated when shown.
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


def _(message: str) -> str:
    return _Catalogue.translations.gettext(message) if message else ""


def ngettext(singular: str, plural: str, n: int) -> str:
    return _Catalogue.translations.ngettext(singular, plural, n)


def N_(message: str) -> str:  # noqa: N802 - the name is gettext's convention
    return message
