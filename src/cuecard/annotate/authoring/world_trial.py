"""What the closed world of a draft would answer to a query, tried while its facts are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cuecard.annotate.authoring.validity import as_task
from cuecard.core.errors import FileProblems
from cuecard.core.parts import SearchEntry, ToolCall
from cuecard.core.tasks import Task
from cuecard.core.worlds.closed import SEARCH, ClosedWorld


@dataclass(frozen=True)
class WorldAnswer:
    """`reason` is as the hit log has it, marked for translation. `keys` name the statements that were
    given; `compound`: several things were asked at once. Where the query was refused, only `refusal`.
    """

    hit: bool
    compound: bool
    reason: str
    keys: tuple[str, ...]
    entries: tuple[SearchEntry, ...]
    refusal: str = ""


@dataclass(frozen=True)
class NoWorld:
    """The draft is no task yet; `missing` says why, as (place, reason)."""

    missing: tuple[tuple[str, str], ...]


class WorldTrial:
    """Asks the world of the draft that it is given; the world is built again only when the draft is
    another one. For use off the screen's thread, one call at a time.
    """

    def __init__(self) -> None:
        self._data: Mapping[str, Any] | None = None
        self._world: ClosedWorld | NoWorld | None = None

    async def ask(self, data: Mapping[str, Any], query: str) -> WorldAnswer | NoWorld:
        """The world's answer, hit or not, exactly as an agent would get it."""
        world = self._world_of(data)
        if isinstance(world, NoWorld):
            return world
        answer = await world.answer(ToolCall(name=SEARCH.name, arguments={"query": query}))
        if answer.hit is None:
            return WorldAnswer(False, False, "", (), (), refusal=answer.text)
        hit = answer.hit
        return WorldAnswer(
            hit.hit, hit.is_compound, hit.reason, hit.matched_fact_keys, answer.entries
        )

    def _world_of(self, data: Mapping[str, Any]) -> ClosedWorld | NoWorld:
        # Data that an edit handed out is never changed, so the same object is the same draft.
        if self._world is None or data is not self._data:
            self._world = _build(data)
            self._data = data
        return self._world


def _build(data: Mapping[str, Any]) -> ClosedWorld | NoWorld:
    try:
        task: Task = as_task(data)
    except FileProblems as error:
        return NoWorld(tuple((problem.place, problem.reason) for problem in error.problems))
    return ClosedWorld(task)
