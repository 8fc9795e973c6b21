"""What all task models share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

from cuecard.core.i18n import _


class Frozen(BaseModel):
    """An immutable model that refuses unknown fields (a misspelt key must not vanish).

    Validators are built on first use, not on import: the app starts with few of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError(_("must not be empty"))
    return value


def is_web_address(value: str) -> bool:
    """Whether a text is an http or https address."""
    scheme, separator, rest = value.partition("://")
    known = scheme in ("http", "https") and bool(separator) and bool(rest)
    return known and not any(c.isspace() for c in value)


def _http_url(value: str) -> str:
    if not is_web_address(value):
        raise ValueError(_("must be a web address that starts with http:// or https://"))
    return value


Text = Annotated[str, AfterValidator(_not_blank)]
"""Text of any length, lines included, kept exactly; not blank."""
Name = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_not_blank)]
"""A short text, stripped; not blank."""
Url = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_http_url)]
