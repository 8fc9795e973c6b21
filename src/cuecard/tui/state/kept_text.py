"""Texts that are edited in a program outside, kept as files until they are back in the workspace.

They stand in the user's own state folder, readable by nobody else, so that neither a crash nor a text
that cannot be read loses what was typed.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cuecard.core.errors import CuecardError
from cuecard.core.files import keep, kept_path
from cuecard.core.i18n import _
from cuecard.core.text import slug, storable

_MAX_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class Kept:
    """A text that was left behind, and when it was last written."""

    text: str
    at: datetime


class KeptText:
    """The file of one text: `place` names it within the workspace at `url`, `suffix` its language."""

    def __init__(self, url: str, place: str, suffix: str = ".yaml") -> None:
        self._url, self._place, self._suffix = url, place, suffix

    @property
    def path(self) -> Path:
        return kept_path("edited", self._url, self._name)

    def _name(self, url: str) -> str:
        text = f"{url} {self._place}".encode("utf-8", "replace")
        mark = hashlib.sha256(text).hexdigest()[:10]
        return f"{slug(self._place)[:60]}-{mark}{self._suffix}"

    def load(self) -> Kept | None:
        """What was left behind; None if nothing was, or nothing that can be read."""
        try:
            at = datetime.fromtimestamp(self.path.stat().st_mtime, UTC)
            return Kept(self.read(), at)
        except (OSError, CuecardError):
            return None

    def read(self) -> str:
        """The file's text. Raises `CuecardError`; the file stays."""
        path, hint = self.path, _("The file stays where it is.")
        try:
            if path.stat().st_size > _MAX_BYTES:
                raise CuecardError(_("This text is too long"), str(path), hint)
            return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        except FileNotFoundError as error:
            raise CuecardError(_("The file is gone"), str(path)) from error
        except UnicodeDecodeError as error:
            raise CuecardError(_("This text is not UTF-8"), str(path), hint) from error
        except OSError as error:
            why = error.strerror or str(error)
            raise CuecardError(_("A file cannot be read"), f"{path}: {why}") from error

    def write(self, text: str) -> Path:
        """Replace the file in one move. Raises `CuecardError`."""
        path = self.path
        try:
            return keep(path, storable(text))
        except OSError as error:
            why = error.strerror or str(error)
            raise CuecardError(_("A file cannot be written"), f"{path}: {why}") from error

    def set_aside(self) -> Path | None:
        """Give what was left behind another name, so that the file is free; None if nothing was."""
        path = self.path
        try:
            stamp = datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y%m%d-%H%M%S")
            return path.rename(path.with_name(f"{path.stem}-{stamp}{path.suffix}"))
        except OSError:
            return None

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
