"""One person's edit of one task: the data as it stands, its history for undo, and whether it is a valid task yet."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any, cast

from pydantic import ValidationError

from cuecard.annotate.authoring import task_data
from cuecard.annotate.authoring.task_data import MAX_STEPS, Path, Snapshot, Step, steps_of
from cuecard.annotate.lint.codes import RULES, Finding, error
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.tasks.base import Origin
from cuecard.core.tasks.models import Family, Task
from cuecard.core.tasks.yaml_io import task_dialect
from cuecard.core.validation import problems_of, validated


def as_task(data: Mapping[str, Any]) -> Task:
    """The data as a task. Raises `FileProblems` with everything that keeps it from being one."""
    try:
        return Task.model_validate(dict(data))
    except ValidationError as error:
        dialect = task_dialect()
        items = error.errors(include_url=False, include_context=False)
        if all(item["input"] is not None for item in items):
            raise FileProblems(dialect.title, problems_of(error, "", {}, dialect)) from error
    # Fields without a value count as left out, which takes data that may be changed.
    return validated(Task, copy.deepcopy(dict(data)), "", {}, dialect)


def invalid(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that keeps the data from being a task, as (place, reason)."""
    try:
        as_task(data)
    except FileProblems as error:
        return [(problem.place, problem.reason) for problem in error.problems]
    return []


def find_problems(data: Mapping[str, Any], today: date | None = None) -> list[Finding]:
    """Everything that validation and the linter find in the data, complete or not: errors first, silenced findings
    last. Of a place that validation refuses the linter's word is not told beside it.
    """
    from cuecard.annotate.lint.rules import lint, loosely

    refused: tuple[FileProblem, ...] = ()
    try:
        task = as_task(data)
    except FileProblems as error:
        refused = error.problems
        task = loosely(data)
    findings = lint(task, today, complete=not refused) if task is not None else ()
    told = {problem.place for problem in refused}
    found = [
        *map(_refusal, refused),
        *(finding for finding in findings if finding.place not in told),
    ]
    return sorted(found, key=lambda problem: (problem.silenced != "", problem.severity))


def _refusal(problem: FileProblem) -> Finding:
    from cuecard.annotate.lint.rules import code_of

    code = code_of(problem)
    return error(code, problem.place, problem.reason, _(RULES[code].mend))


class TaskEdit:
    """One person's edit of a task with undo. `data` has the shape of a task's `model_dump(mode="json")` but need not be
    valid.

    `base`: the revision it began from, 0 for a task that was never saved. `listener` is called with the path of every
    change, after it. Data is never changed in place, so it may be saved or checked on another thread.

        edit = TaskEdit.of(task, base=3)
        edit.set(("title",), "Espresso")
        edit.undo()
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        *,
        base: int = 0,
        saved: Mapping[str, Any] | None = None,
        origins: Sequence[Origin] = (),
    ) -> None:
        self._saved = copy.deepcopy(dict(saved)) if saved is not None else None
        # What did not change is shared with what is saved, so that comparing them is quick.
        same = self._saved is not None and _same(dict(data), self._saved)
        self._data: dict[str, Any] = (self._saved or {}) if same else copy.deepcopy(dict(data))
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._batch: Step | None = None
        self._origins = tuple(origins)
        self.base = base
        self.version = 0
        self.listener: Callable[[Path], None] | None = None

    @classmethod
    def of(cls, task: Task, base: int) -> TaskEdit:
        """An edit that begins at a saved revision."""
        data = task.model_dump(mode="json")
        return cls(data, base=base, saved=data)

    @property
    def data(self) -> dict[str, Any]:
        """The data as it stands; read it, never change it."""
        return self._data

    @property
    def origins(self) -> tuple[Origin, ...]:
        """The drafts of a model that the author accepted since revision `base`."""
        return self._origins

    @property
    def task_id(self) -> str:
        return str(self._data.get("id") or "")

    @property
    def family(self) -> Family:
        return cast(Family, self._data["gold"]["family"])

    @property
    def changed(self) -> bool:
        """Whether anything differs from the revision that the edit began from."""
        return self._saved is None or not _same(self._data, self._saved)

    @property
    def saved(self) -> dict[str, Any] | None:
        """The data of revision `base`; None for a task that was never saved."""
        return self._saved

    def get(self, path: Path, default: Any = None) -> Any:
        """The value at `path`, or `default` if there is none."""
        try:
            return task_data.get(self._data, path)
        except LookupError:
            return default

    def items(self, path: Path) -> list[Any]:
        """The list at `path`; an empty one where there is none."""
        value = self.get(path)
        return cast(list[Any], value) if isinstance(value, list) else []

    def set(self, path: Path, value: Any, *, typing: bool = False) -> None:
        """Put `value` at `path`. With `typing`, it joins a preceding `typing` step at the same path for undo, until
        `seal` is called. Raises `LookupError` if there is no such place.
        """
        missing = object()
        if not _same(self.get(path, missing), value):
            new = task_data.put(self._data, path, copy.deepcopy(value))
            self._advance(new, path, typing=typing)

    def insert(self, path: Path, index: int, value: Any) -> None:
        """Put `value` before `index` into the list at `path`. Raises `LookupError`."""
        new = task_data.insert(self._data, path, index, copy.deepcopy(value))
        self._advance(new, (*path, index))

    def delete(self, path: Path) -> None:
        """Remove the value at `path`. Raises `LookupError`."""
        self._advance(task_data.remove(self._data, path), path)

    def move(self, path: Path, index: int, to: int) -> None:
        """Move an item within the list at `path`. Raises `LookupError`."""
        if index != to:
            self._advance(task_data.move(self._data, path, index, to), (*path, to))

    def arrange(self, path: Path, items: Sequence[Any]) -> None:
        """Replace the list at `path` by `items`. Items that were in it are shared, not copied, so undo steps stay cheap
        in long lists. Raises `LookupError`.
        """
        here = {id(item) for item in self.items(path)}
        shared = [item if id(item) in here else copy.deepcopy(item) for item in items]
        if not _same(self.get(path), shared):
            self._advance(task_data.put(self._data, path, shared), path)

    @contextmanager
    def together(self, path: Path, *, typing: bool = False) -> Generator[None]:
        """A context in which all changes make one undo step and one call of the listener, with `path`. If it raises,
        the data is as before.
        """
        if self._batch is not None:
            yield
            return
        before, origins = self._data, self._origins
        self._batch = Step(before, origins, path, typing)
        try:
            yield
        except BaseException:
            self._data, self._origins = before, origins
            raise
        finally:
            self._batch = None
        if self._data is not before:
            new, self._data = self._data, before
            self._advance(new, path, typing=typing, before_origins=origins)
        else:
            self._origins = origins

    def note_origin(self, origin: Origin) -> None:
        """Record, inside `together`, that a model drafted its changes; undo removes that too."""
        self._origins = (*self._origins, origin)

    def seal(self) -> None:
        """End the current typing step: what is typed next is a new undo step."""
        if self._done:
            self._done[-1].open = False

    def give_up(self, before: Mapping[str, Any]) -> bool:
        """Return to `before`, the `data` object from before some typing, leaving no undo step. False, and nothing
        happens, if something else was changed since.
        """
        at = next((i for i, step in enumerate(self._done) if step.before is before), None)
        if self._data is before:
            return True
        if at is None or any(step.path != self._done[at].path for step in self._done[at:]):
            return False
        step = self._done[at]
        del self._done[at:]
        self._data, self._origins = step.before, step.origins
        self._tell(step.path)
        return True

    @property
    def can_undo(self) -> bool:
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        return bool(self._undone)

    def undo(self) -> Path | None:
        """Undo the last step; gives the path where it was, None when there is none."""
        return self._travel(self._done, self._undone)

    def redo(self) -> Path | None:
        """Redo the step that was undone last; gives its path, None when there is none."""
        return self._travel(self._undone, self._done)

    @property
    def snapshot(self) -> Snapshot:
        """What is kept as the draft, with what can be undone and done again from here."""
        done, undone = tuple(self._done), tuple(self._undone)
        return Snapshot(self.base, self._data, self._origins, self.changed, done, undone)

    def recall(
        self, kept: Mapping[str, Any], revision: Callable[[int], dict[str, Any] | None]
    ) -> None:
        """Take up a history as `Snapshot.history` gave it, of the data as it stands; one of other data is passed over.
        `revision` gives the data of a revision by its number.
        """
        with contextlib.suppress(LookupError, TypeError, ValueError):
            done, undone = (
                steps_of(kept[name], self._data, self._origins, revision)
                for name in ("done", "undone")
            )
            self._done, self._undone = done, undone

    def replace(self, data: Mapping[str, Any]) -> None:
        """Replace all data, as one undo step."""
        if not _same(self._data, data):
            self._advance(copy.deepcopy(dict(data)), ())

    def rebase(self, data: Mapping[str, Any], base: int, saved: Mapping[str, Any]) -> None:
        """Continue with `data` that was merged with a newer revision `base`, whose data is `saved`. Undo restores the
        earlier base too.
        """
        step = Step(self._data, self._origins, (), open=False, rebased=(self.base, self._saved))
        self.seal()
        self._done.append(step)
        self._undone.clear()
        self.base, self._saved = base, copy.deepcopy(dict(saved))
        self._data = copy.deepcopy(dict(data))
        self._tell(())

    def rename(self, task_id: str) -> None:
        """Change the id of a task that was never saved, in the undo history too."""
        for step in (*self._done, *self._undone):
            step.before = {**step.before, "id": task_id}
        self._data = {**self._data, "id": task_id}
        self._tell(("id",))

    def mark_saved(self, base: int, data: Mapping[str, Any]) -> None:
        """Record that `data` was saved as revision `base`; later changes are based on it."""
        self.base = base
        self._saved = self._data if _same(self._data, dict(data)) else copy.deepcopy(dict(data))
        self._origins = ()
        for step in (*self._done, *self._undone):
            step.origins, step.rebased = (), None
        self.seal()

    def task(self) -> Task:
        """The edited task. Raises `FileProblems` with everything that keeps it from being one."""
        return as_task(self._data)

    def problems(self) -> list[tuple[str, str]]:
        """Everything that keeps the data from being a task, as (place, reason)."""
        return invalid(self._data)

    def _advance(
        self,
        data: dict[str, Any],
        path: Path,
        *,
        typing: bool = False,
        before_origins: tuple[Origin, ...] | None = None,
    ) -> None:
        if self._batch is not None:
            self._data = data
            return
        top = self._done[-1] if self._done else None
        if not (typing and top and top.open and top.path == path and not self._undone):
            self.seal()
            origins = self._origins if before_origins is None else before_origins
            self._done.append(Step(self._data, origins, path, typing))
            del self._done[:-MAX_STEPS]
        self._undone.clear()
        self._data = data
        self._tell(path)

    def _travel(self, source: list[Step], target: list[Step]) -> Path | None:
        if not source:
            return None
        step = source.pop()
        back = Step(self._data, self._origins, step.path, open=False)
        if step.rebased is not None:
            back.rebased = self.base, self._saved
            self.base, self._saved = step.rebased
        target.append(back)
        self._data, self._origins = step.before, step.origins
        self._tell(step.path)
        return step.path

    def _tell(self, path: Path) -> None:
        self.version += 1
        if self.listener is not None:
            self.listener(path)


def _same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all through: 1, True and 1.0 are three different values."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        left, right = cast(dict[str, Any], one), cast(dict[str, Any], other)
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    if isinstance(one, list):
        ours, theirs = cast(list[Any], one), cast(list[Any], other)
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return one == other
