"""A world whose tools are taken away: for settings that measure an agent without them."""

from __future__ import annotations

from cuecard.core.parts import Closable, PlayerRef, ToolAnswer, ToolCall, ToolSpec, World, WorldDesk
from cuecard.core.tasks import TaskLanguage

_REFUSAL: dict[TaskLanguage, str] = {
    "en": "There are no tools here.",
    "zh": "这里没有可用的工具。",
}


class NoTools:
    """Stands in for `world`, under its name, and offers nothing. Not a `baseline`: where that is all that
    is wanted of it.
    """

    def __init__(self, world: World, language: TaskLanguage, *, baseline: bool = True) -> None:
        self._world = world
        self._baseline = baseline
        self._language: TaskLanguage = language

    @property
    def ref(self) -> PlayerRef:
        ref = self._world.ref
        return ref.model_copy(
            update={
                "version": f"{ref.version}-no-tools",
                "baseline": ref.baseline and self._baseline,
            }
        )

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        return ()

    async def answer(self, call: ToolCall, desk: WorldDesk) -> ToolAnswer:
        return ToolAnswer(text=_REFUSAL[self._language], ok=False)

    async def close(self) -> None:
        if isinstance(self._world, Closable):
            await self._world.close()
