"""The editor's work with the workspace: opening, drafting and saving a task, its versions, time worked, guidelines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import resources
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from cuecard.annotate.authoring.edit import TaskEdit, as_task
from cuecard.annotate.authoring.task_data import Snapshot
from cuecard.annotate.authoring.yaml_text import DefaultFiller
from cuecard.annotate.families.registry import ANNOTATE
from cuecard.core.config_schema import Config
from cuecard.core.errors import Conflict, CuecardError, NotFound, system_words
from cuecard.core.i18n import Language, _, beside, headed
from cuecard.core.tasks.base import Origin, id_problem
from cuecard.core.tasks.models import Family
from cuecard.core.text import for_display

if TYPE_CHECKING:
    from cuecard.core.records import Draft, Revision, TaskState
    from cuecard.store.workspace import Workspace


@dataclass(frozen=True)
class OpenedEdit:
    """An edit that was opened. `restored`: when the draft it continues was written, None if there was none; `newest`:
    the newest revision, maybe later than the edit's base; `crashed`: the program ended while that draft was being
    written.
    """

    edit: TaskEdit
    restored: datetime | None
    newest: Revision | None
    state: TaskState | None
    crashed: bool = False


def open_task(ws: Workspace, task_id: str, person: str) -> OpenedEdit:
    """An edit of this person's draft, or else of the newest revision. Raises `NotFound`."""
    draft = ws.drafts.get(task_id, person)
    try:
        newest = ws.tasks.revision(task_id)
    except NotFound:
        if draft is None:
            raise
        edit = TaskEdit(_whole(draft.data, None), origins=draft.origins)
        # A draft that was left as it was written has only just been begun.
        restored = None if draft.left_at == draft.updated_at else draft.updated_at
        recall_history(ws, edit, task_id, person, draft)
        return OpenedEdit(edit, restored, None, None, draft.left_at is None)
    state = ws.reviews.state(task_id)
    current = newest.task.model_dump(mode="json")
    data = _whole(draft.data, newest.task.family) if draft is not None else current
    if draft is None or data == current:
        edit = TaskEdit(current, base=newest.number, saved=current)
        recall_history(ws, edit, task_id, person, draft)
        return OpenedEdit(edit, None, newest, state)
    saved: dict[str, Any] | None = current
    if draft.base != newest.number:
        saved = _data_of(ws, task_id, draft.base)
    edit = TaskEdit(data, base=draft.base, saved=saved, origins=draft.origins)
    recall_history(ws, edit, task_id, person, draft)
    return OpenedEdit(edit, draft.updated_at, newest, state, draft.left_at is None)


def recall_history(
    ws: Workspace, edit: TaskEdit, key: str, person: str, draft: Draft | None
) -> None:
    """Give an edit that was opened the history that was kept with it: with its draft, or, where there is none, with the
    revision that it equals.
    """
    kept = ws.drafts.history(key, person)
    if kept is None:
        return
    if draft is not None:
        fits = kept.updated_at == draft.updated_at and draft.data == edit.data
    else:
        fits = kept.base == edit.base and kept.data.get("changed") is False
    if fits:
        # Without a revision that it went on from, undo would lead to nothing that can be saved.
        with contextlib.suppress(NotFound):
            edit.recall(kept.data, lambda number: _data_of(ws, edit.task_id, number))


def _whole(data: dict[str, Any], family: Family | None) -> dict[str, Any]:
    """A draft with every field that tasks have now: older programs knew fewer. `family`: of the task's revisions, if any."""
    return DefaultFiller().task(data, family or cast(Family, data["gold"]["family"]))


def keep_draft(ws: Workspace, person: str, edit: Snapshot, key: str = "") -> None:
    """Save the draft with its history, under the task's id or another `key`; one that equals its revision is deleted
    instead, and its history stays.
    """
    key, history = key or str(edit.data["id"]), edit.history()
    if edit.changed:
        ws.drafts.keep(key, person, edit.base, edit.data, origins=edit.origins, history=history)
    else:
        ws.drafts.discard(key, person, base=edit.base, history=history)


def save_revision(
    ws: Workspace,
    person: str,
    base: int,
    data: Mapping[str, Any],
    message: str,
    origins: Sequence[Origin] = (),
) -> Revision:
    """Make the data the newest revision. Raises `FileProblems`, and `Conflict` if somebody else
    saved since `base`; the draft stays until it is discarded.
    """
    return ws.tasks.save(
        as_task(data), author=person, message=message.strip(), base=base, origins=origins
    )


def begin_task(
    ws: Workspace, person: str, data: dict[str, Any], origins: Sequence[Origin] = ()
) -> None:
    """Save a new task as a draft; `origins`: the parts a model drafted. Raises `Conflict` if the id is taken, by a task
    or by another draft of this person, and `CuecardError` if it is no valid id.
    """
    task_id = str(data["id"])
    if reason := id_problem(task_id):
        raise CuecardError(_("This cannot be an id"), f"{task_id} {reason}")
    try:
        ws.tasks.revision(task_id)
    except NotFound:
        if ws.drafts.get(task_id, person) is None:
            ws.drafts.save(task_id, person, 0, data, origins=origins, left=True)
            return
    raise Conflict(
        _("There is already a task with this id"),
        task_id,
        _("Choose another id, or open that task."),
    )


def duplicate_task(ws: Workspace, person: str, task_id: str) -> str:
    """Begin a task that says what this one says: this person's draft, or else the newest revision. Gives its id. Raises
    `NotFound`.
    """
    edit = open_task(ws, task_id, person).edit
    title = _("Copy of {title}").format(title=edit.data.get("title") or task_id)
    origins = [origin for line in ws.tasks.log(task_id) for origin in line.origins]
    for n in count(1):
        new_id = f"{task_id[:110]}-copy{f'-{n}' if n > 1 else ''}"
        with contextlib.suppress(Conflict):
            named = title if n == 1 else beside(title, str(n))
            data = {**edit.data, "id": new_id, "title": named}
            begin_task(ws, person, data, (*origins, *edit.origins))
            return new_id
    raise AssertionError  # one number is free


def rename_draft(ws: Workspace, person: str, data: dict[str, Any], new_id: str) -> dict[str, Any]:
    """Move the draft of a task that was never saved to another id. Raises `Conflict`."""
    renamed = {**data, "id": new_id}
    begin_task(ws, person, renamed)
    ws.drafts.discard(str(data["id"]), person)
    ws.effort.move(str(data["id"]), person, new_id)
    return renamed


def _data_of(ws: Workspace, task_id: str, number: int) -> dict[str, Any] | None:
    return ws.tasks.revision(task_id, number).task.model_dump(mode="json") if number else None


@dataclass(frozen=True)
class Version:
    """A revision, or a discarded draft (`number`: the revision it was based on, `thrown`: its id). `before`: the
    preceding revision, 0 for none. `author` is "" while the reader must not know.
    """

    kind: Literal["revision", "thrown"]
    number: int
    author: str
    at: datetime
    message: str = ""
    hash: str = ""
    origins: tuple[Origin, ...] = ()
    thrown: int = 0
    before: int = 0


def versions_of(ws: Workspace, task_id: str, person: str) -> list[Version]:
    """The last first. A task that was never saved has no revisions, but may have had drafts."""
    lines = ws.tasks.log(task_id)
    seen = ws.reviews.seen_log(person, task_id).revisions if lines else ()
    nodes = {node.number: node for node in seen}
    numbers = {node.uid: node.number for node in seen}
    versions: list[Version] = []
    for line in lines:
        node = nodes[line.number]
        masked = not node.authors[0]
        versions.append(
            Version(
                "revision",
                line.number,
                "" if masked else line.author,
                line.created_at,
                "" if masked else line.message,
                line.hash,
                () if masked else line.origins,
                before=max((numbers[uid] for uid in node.parents), default=0),
            )
        )
    versions += (
        Version(
            "thrown", d.base, d.person, d.thrown_at, origins=d.origins, thrown=d.id, before=d.base
        )
        for d in ws.drafts.thrown(person, task_id)
    )
    return sorted(versions, key=lambda version: version.at, reverse=True)


def data_of(ws: Workspace, task_id: str, person: str, version: Version) -> dict[str, Any]:
    """What a version says, as data of a task. Raises `NotFound`."""
    if version.kind == "revision":
        return revision_data(ws, task_id, version.number)
    thrown: Sequence[Any] = ws.drafts.thrown(person, task_id)
    return next(cast(dict[str, Any], draft.data) for draft in thrown if draft.id == version.thrown)


def revision_data(ws: Workspace, task_id: str, number: int) -> dict[str, Any]:
    """The data of a revision; nothing at all for number 0. Raises `NotFound`."""
    if number == 0:
        return {}
    return ws.tasks.revision(task_id, number).task.model_dump(mode="json")


IDLE = 60.0
PORTION = 30.0


@dataclass
class WorkedTime:
    """Counts the seconds of work from the times of key presses. A pause of more than `idle` seconds does not count, nor
    does a single key. Times are seconds of any monotonic clock.
    """

    idle: float = IDLE
    portion: float = PORTION
    _last: float | None = field(default=None, init=False)
    _owed: float = field(default=0.0, init=False)

    def key(self, now: float) -> float:
        """Note a key press. Gives the seconds to record now: 0 until `portion` seconds have accumulated, which bounds
        what a crash loses.
        """
        if self._last is not None and 0 <= now - self._last <= self.idle:
            self._owed += now - self._last
        self._last = now
        return self._take() if self._owed >= self.portion else 0.0

    def rest(self) -> float:
        """Note that work stops. Gives the seconds not recorded yet."""
        self._last = None
        return self._take()

    def give_back(self, seconds: float) -> None:
        """Add seconds whose recording failed to the next portion."""
        self._owed += seconds

    def _take(self) -> float:
        owed, self._owed = self._owed, 0.0
        return owed


_MAX_BYTES = 1024 * 1024


def guidelines(family: Family, language: Language, config: Config | None = None) -> str:
    """The authors' guidelines for the family, in `language`; a file named in the configuration replaces them. Raises
    `CuecardError`.
    """
    if config is not None and config.guidelines:
        return _own(Path(config.guidelines))
    return "\n".join(
        (ANNOTATE[family].guidelines(language), shipped_guidelines("general")(language))
    )


def shipped_guidelines(name: str) -> Callable[[Language], str]:
    """A function that gives the guidelines `name` of this package in a language."""

    def read(language: Language) -> str:
        file = resources.files("cuecard") / "guidelines" / f"{name}.{language}.md"
        return file.read_text(encoding="utf-8")

    return read


def _own(path: Path) -> str:
    title = _("The guidelines cannot be read")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise CuecardError(title, _("{file} is larger than 1 MB").format(file=path))
        return for_display(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CuecardError(title, _("{file} is not UTF-8 text").format(file=path)) from error
    except OSError as error:
        raise CuecardError(title, headed(path, system_words(error))) from error
