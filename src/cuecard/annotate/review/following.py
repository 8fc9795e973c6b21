"""Where an element of one revision stands in a later one, so that comments stay with what they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, cast

from cuecard.annotate.authoring.anatomy import Items, Record, Shape
from cuecard.annotate.authoring.linking import Data, Versions
from cuecard.annotate.authoring.trees import Path, get, parse_place
from cuecard.core.tasks import Task
from cuecard.core.validation import format_place


def follow(old_task: Task, new_task: Task, place: str) -> str | None:
    """The place in `new_task` of what stands at `place` in `old_task`; None when it is gone. Elements
    of lists are known again by content, whatever their number; see `authoring.matching`.
    """
    return Following.of(old_task, new_task).follow(place)


class Following:
    """`follow` for many places of the same two versions: each list is matched once."""

    def __init__(self, old: Data, new: Data) -> None:
        """`old` and `new`: the data of two versions, the new one valid as a task or not yet."""
        self._same = old == new
        self._old, self._new = old, new
        self._versions = Versions(old, new)
        self._now: dict[Path, dict[int, int]] = {}

    @classmethod
    def of(cls, old_task: Task, new_task: Task) -> Following:
        """Between two tasks."""
        return cls(old_task.model_dump(mode="json"), new_task.model_dump(mode="json"))

    def follow(self, place: str) -> str | None:
        """As the function `follow`."""
        path = parse_place(place)
        try:
            get(self._old, path)
            if self._same:
                return place
            there = self._walk(path)
            get(self._new, there)
        except LookupError:
            return None
        return format_place(there)

    def _walk(self, path: Path) -> Path:
        """Raises `LookupError` where an item of a list is gone."""
        if path[:2] == ("gold", "rows") and self._versions.family == "table" and len(path) == 4:
            return (*self._walk(path[:3]), self._column(cast(int, path[3])))
        shape: Shape | None = self._versions.shape
        old, new = self._versions.trees
        there: Path = ()
        for depth, part in enumerate(path):
            if isinstance(shape, Items) and isinstance(part, int):
                olds, news = get(old, path[:depth]), get(new, there)
                there = (*there, self._items(shape, path[:depth], there, olds, news)[part])
                shape = shape.item
            else:
                there = (*there, part)
                inside = shape.fields if isinstance(shape, Record) else dict[str, Shape]()
                shape = inside.get(part) if isinstance(part, str) else None
        return there

    def _items(self, shape: Items, here: Path, there: Path, olds: Any, news: Any) -> dict[int, int]:
        """By index of the old list at `here`, the index of the same item in the new one at `there`."""
        if here not in self._now:
            if not isinstance(olds, list) or not isinstance(news, list):
                raise KeyError(here)
            lists = cast(Sequence[Sequence[Any]], [olds, news])
            ids = self._versions.ids(there, shape, lists)
            at = {known: index for index, known in enumerate(ids[1])}
            self._now[here] = {
                index: at[known] for index, known in enumerate(ids[0]) if known in at
            }
        return self._now[here]

    def _column(self, index: int) -> int:
        before, now = self._versions.column_ids
        if before[index] not in now:
            raise KeyError(index)
        return now.index(before[index])


class FollowingThrough:
    """The same with the revisions that lie between to fall back on, the oldest first: what was rewritten
    little by little is known again through them. They are fetched only when they are needed.
    """

    def __init__(
        self, old_task: Task, new_task: Task, between: Callable[[], Sequence[Task]]
    ) -> None:
        self._ends = old_task, new_task
        self._direct = Following.of(old_task, new_task)
        self._between = between
        self._steps: list[Following] | None = None

    def follow(self, place: str) -> str | None:
        """As the function `follow`."""
        if (found := self._direct.follow(place)) is not None:
            return found
        if self._steps is None:
            old_task, new_task = self._ends
            tasks = self._between()
            steps = pairwise([old_task, *tasks, new_task]) if tasks else ()
            self._steps = [Following.of(old, new) for old, new in steps]
        here: str | None = place if self._steps else None
        for step in self._steps:
            here = step.follow(here) if here is not None else None
        return here
