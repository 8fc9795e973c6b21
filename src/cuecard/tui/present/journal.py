"""What waits on this machine for a database that is away: calls by name with arguments in JSON, delivered in order later."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from cuecard.core.errors import Conflict, DatabaseAway, error_text
from cuecard.core.i18n import N_, _
from cuecard.core.system import keep, kept_path

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

Arguments = Mapping[str, Any]


def _draft(ws: Workspace, at: datetime, given: Arguments) -> None:
    from pydantic import TypeAdapter

    from cuecard.core.tasks.base import Origin

    key, person, base = given["key"], given["person"], given["base"]
    there = ws.drafts.get(key, person)
    if there is not None and there.updated_at > at:
        raise Conflict(
            _("A draft was kept here, and a later one of yours is in the workspace"),
            key,
            _("The later one stays."),
        )
    if given["changed"]:
        origins = TypeAdapter(tuple[Origin, ...]).validate_python(given["origins"])
        data, history = given["data"], given["history"]
        ws.drafts.keep(key, person, base, data, origins=origins, history=history)
    else:
        ws.drafts.discard(key, person, base=base, history=given["history"])


def _review_form(ws: Workspace, _at: datetime, given: Arguments) -> None:
    ws.review_forms.keep(**given)


def _label(ws: Workspace, _at: datetime, given: Arguments) -> None:
    from cuecard.store.labels import OutsideLabel

    ws.verdicts.enter([OutsideLabel.model_validate(given)])


def _answer(ws: Workspace, at: datetime, given: Arguments) -> None:
    from cuecard.annotate.review.comments import answer
    from cuecard.core.records import Comment

    comment = Comment.model_validate(given["comment"])
    answer(ws, comment, given["by"], given["text"], turns=given["turns"], at=at)


def _tell_authors(ws: Workspace, at: datetime, given: Arguments) -> None:
    from cuecard.annotate.task_feedback import comment_to_authors

    comment_to_authors(ws, **given, at=at)


def _comment(ws: Workspace, at: datetime, given: Arguments) -> None:
    from cuecard.annotate.task_feedback import comment_on_task

    comment_on_task(ws, **given, at=at)


def _trial_note(ws: Workspace, _at: datetime, given: Arguments) -> None:
    ws.trial_notes.add(**given)


def _move(ws: Workspace, _at: datetime, given: Arguments) -> None:
    from pydantic import TypeAdapter

    from cuecard.core.engine.step_context import PlayMove
    from cuecard.core.evaluation.wizard_of_oz import make_move

    move = TypeAdapter[PlayMove](PlayMove).validate_python(given["move"])
    make_move(ws, **{**given, "move": move})  # pyright: ignore[reportArgumentType]


def _session_form(ws: Workspace, at: datetime, given: Arguments) -> None:
    from pydantic import TypeAdapter

    from cuecard.annotate.sessions import keep_form
    from cuecard.core.tasks.base import FormQuestion

    asked = TypeAdapter(tuple[FormQuestion, ...]).validate_python(given["questions"])
    keep_form(ws, given["trial_id"], given["person"], asked, given["answers"], at=at)


class Kept(NamedTuple):
    """What is told of it, and what delivers it; twice does no more than once."""

    word: str
    call: Callable[[Workspace, datetime, Arguments], None]


CALLS = {
    "draft": Kept(N_("a draft"), _draft),
    "review_form": Kept(N_("a review that was begun"), _review_form),
    "label": Kept(N_("a label"), _label),
    "answer": Kept(N_("an answer to a comment"), _answer),
    "tell_authors": Kept(N_("a note for a task's authors"), _tell_authors),
    "comment": Kept(N_("a comment on a task"), _comment),
    "trial_note": Kept(N_("a note on a trial"), _trial_note),
    "move": Kept(N_("a move of yours as the agent"), _move),
    "session_form": Kept(N_("answers about a session"), _session_form),
}


@dataclass(frozen=True)
class Refused:
    """Something kept that the workspace did not take; `file` holds it still."""

    what: str
    reason: str
    file: Path


class Journal:
    """What waits on this machine for the workspace at `url`: a file each, in order of their names. Of two with one key the
    later one replaces the other.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._by_key: dict[str, Path] = {}

    @property
    def waiting(self) -> list[Path]:
        return sorted(self._folder.glob("*.json"))

    def add(self, name: str, key: str, given: Arguments, at: datetime) -> None:
        """Keep a call of `CALLS` that was made `at`; it is on the disk when this returns. Raises `OSError`."""
        from pydantic_core import to_jsonable_python

        entry = {"call": name, "at": at.isoformat(), "given": to_jsonable_python(given)}
        key = f"{name} {key}" if key else ""
        with self._lock:
            path = self._folder / f"{time.time_ns():020}-{uuid4().hex[:8]}.json"
            keep(path, json.dumps(entry), synced=True)
            if before := self._by_key.get(key):
                before.unlink(missing_ok=True)
            if key:
                self._by_key[key] = path

    def deliver(self, workspace: Workspace) -> tuple[int, list[Refused]]:
        """Hand everything to the workspace; gives how many it took, and what it did not. Raises `DatabaseAway`."""
        taken, refused = 0, list[Refused]()
        for path in self.waiting:
            with self._lock:
                if not path.exists():
                    continue  # a later one replaced it
                what = ""
                try:
                    entry = json.loads(path.read_text(encoding="utf-8"))
                    what, call = CALLS[entry["call"]]
                    call(workspace, datetime.fromisoformat(entry["at"]), entry["given"])
                except DatabaseAway:
                    raise
                except Exception as error:  # noqa: BLE001 - the boundary of a worker: nothing is lost by it
                    refused.append(
                        Refused(
                            _(what), error_text(error), path.replace(path.with_suffix(".refused"))
                        )
                    )
                else:
                    path.unlink(missing_ok=True)
                    taken += 1
        return taken, refused

    @property
    def _folder(self) -> Path:
        return kept_path("waiting", self._url, lambda url: sha256(url.encode()).hexdigest()[:24])
