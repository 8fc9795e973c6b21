"""Proposals that nobody has decided on yet, kept on disk: they were paid for, and are no part of the task.

One small file per workspace, task and person in the user's own state folder.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from pydantic import ValidationError

from cuecard.annotate.assist.proposal import Proposal
from cuecard.core.files import keep, kept_path
from cuecard.core.tasks.base import Frozen


class Pending(Frozen):
    """`ticked`: the ids of the items that are to be accepted as it stands. `task_id`: of a translation,
    the new task's.
    """

    proposal: Proposal
    ticked: tuple[str, ...]
    task_id: str = ""


class PendingFile:
    """A machine without a writable home just forgets."""

    def __init__(self, url: str, task_id: str, person: str) -> None:
        self._url, self._place = url, (task_id, person)

    def load(self) -> Pending | None:
        """What is kept; None for nothing, or nothing that this version can read."""
        try:
            return Pending.model_validate_json(self._path().read_text(encoding="utf-8"))
        except (OSError, ValueError, ValidationError):
            return None

    def save(self, pending: Pending) -> None:
        """Replace the file in one move."""
        with contextlib.suppress(OSError):
            keep(self._path(), pending.model_dump_json())

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._path().unlink(missing_ok=True)

    def _path(self) -> Path:
        return kept_path("proposals", self._url, self._name)

    def _name(self, url: str) -> str:
        place = "\0".join((url, *self._place))
        return f"{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()[:24]}.json"
