"""Which workspace is meant. Imports nothing heavy: this runs before the first frame."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

DEFAULT_FILE = "cuecard.db"
_SQLITE = "sqlite:///"
_MASK = "***"
# What stands before the last @ can only be a name and a password, whatever characters it holds.
_CREDENTIALS = re.compile(r"^(\w[\w+.\-]*://)([^:/@]*):(.*)@", re.DOTALL)
_SECRET_PARAMETER = re.compile(
    r"([?&;])([^=&;]*(?:pass|pwd|secret|token|key|auth|cred|sig)[^=&;]*)=([^&;]*)", re.IGNORECASE
)


def workspace_url(option: str | None) -> str:
    """The URL of the workspace: the option (`--db`), else `CUECARD_DB`, else `./cuecard.db`.

    Both may be a URL or a path. Paths come back absolute, so that one file has one URL.
    """
    return as_url(option or os.environ.get("CUECARD_DB") or DEFAULT_FILE)


def as_url(url_or_path: str | Path) -> str:
    """A path as an SQLite URL; a URL as it is."""
    if isinstance(url_or_path, str) and "://" in url_or_path:
        return url_or_path
    path = Path(url_or_path).expanduser().absolute()
    return _SQLITE + quote(str(path), safe="/ ")


def public_form(url: str) -> str:
    """The address as it may be shown, kept and compared: without the password, wherever it stands. An address
    without one is its own public form.
    """
    head, mark, query = url.partition("?")
    if "@" in query and "@" not in head:
        head, mark, query = url, "", ""  # A question mark in the password.
    head = _CREDENTIALS.sub(rf"\1\2:{_MASK}@", head)
    return head + _SECRET_PARAMETER.sub(rf"\1\2={_MASK}", mark + query)


def passwords_in(url: str) -> tuple[str, ...]:
    """What `public_form` leaves out, as it stands and as it is sent."""
    head, mark, query = url.partition("?")
    if "@" in query and "@" not in head:
        head, mark, query = url, "", ""
    found = [match[3] for match in [_CREDENTIALS.match(head)] if match]
    found += [match[3] for match in _SECRET_PARAMETER.finditer(mark + query)]
    return tuple(dict.fromkeys(word for each in found for word in (each, unquote(each)) if word))
