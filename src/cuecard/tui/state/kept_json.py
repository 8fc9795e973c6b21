"""Small things that were begun and not given yet, kept on disk so that neither leaving nor a crash loses them.

One small file each in the user's own state folder: it is nobody else's business until it is given.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from cuecard.core.files import keep, kept_path


class KeptJson:
    """The file of one thing: `place` names it within the workspace at `url`, `folder` is its kind. A
    machine without a writable home just forgets.
    """

    def __init__(self, url: str, place: str, folder: str = "unsent") -> None:
        self._url, self._place, self._folder = url, place, folder

    def load(self) -> dict[str, Any]:
        """What was kept; {} if nothing was, or nothing that can be read."""
        try:
            data: Any = json.loads(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return cast(dict[str, Any], data) if isinstance(data, dict) else {}

    def save(self, data: Mapping[str, Any]) -> None:
        """Replace the file in one move; nothing to keep removes it."""
        if not data:
            self.discard()
            return
        with contextlib.suppress(OSError):
            keep(self._path(), json.dumps(dict(data), ensure_ascii=True))

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return kept_path(self._folder, self._url, self._name)

    def _name(self, url: str) -> str:
        text = f"{url} {self._place}".encode("utf-8", "replace")
        return f"{hashlib.sha256(text).hexdigest()[:24]}.json"
