"""Small things that were begun and not given yet, kept on disk so that neither leaving nor a crash loses them.

One small file each in the user's own state folder: it is nobody else's business until it is given.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast


class KeptJson:
    """The file of one thing: `place` names it within the workspace at `url`, `folder` is its kind. A
    machine without a writable home just forgets.
    """

    def __init__(self, url: str, place: str, folder: str = "unsent") -> None:
        name = hashlib.sha256(f"{url} {place}".encode("utf-8", "replace")).hexdigest()[:24]
        self._folder, self._name = folder, f"{name}.json"

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
            path = self._path()
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.tmp")
            partial.write_text(json.dumps(dict(data), ensure_ascii=True), encoding="utf-8")
            partial.replace(path)

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        import platformdirs

        folder = Path(platformdirs.user_state_dir("cuecard", appauthor=False))
        return folder / self._folder / self._name
