"""Model calls outside a trial's journal (judges, probes): the same rule, nothing is paid for twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping

from cuecard.core.parts import ModelReply
from cuecard.core.tasks.base import Frozen

Perform = Callable[[], Awaitable[ModelReply]]


class RecordedCall(Frozen):
    """`key` follows from the call's place; `prompt` is the hash of its prompt's template."""

    key: str
    model: str
    reply: ModelReply
    prompt: str = ""


class FreshCalls:
    """A `CallDesk` that records nothing: for notebooks and for judging files without a workspace."""

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        del model, prompt
        return await perform()

    def scope(self, name: str) -> FreshCalls:
        del name
        return self


class HeardCalls(FreshCalls):
    """Hears what the models answer to whoever is asked beside a trial."""

    def __init__(self) -> None:
        self.heard: list[ModelReply] = []

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        reply = await super().call_model(model, perform, prompt=prompt)
        self.heard.append(reply)
        return reply

    def scope(self, name: str) -> HeardCalls:
        del name
        return self


class KeyedCalls:
    """A `CallDesk` over recorded calls by key. `record` returns when a new one is safe."""

    def __init__(
        self,
        recorded: Mapping[str, ModelReply],
        record: Callable[[RecordedCall], Awaitable[None]],
        scope: str = "",
    ) -> None:
        self._recorded = recorded
        self._record = record
        self._scope = scope
        self._steps: Counter[str] = Counter()

    async def call_model(self, model: str, perform: Perform, *, prompt: str = "") -> ModelReply:
        key = f"{self._scope}model/{self._steps['model']}"
        self._steps["model"] += 1
        past = self._recorded.get(key)
        if past is not None:
            return past
        reply = await perform()
        await self._record(RecordedCall(key=key, model=model, reply=reply, prompt=prompt))
        return reply

    def scope(self, name: str) -> KeyedCalls:
        return KeyedCalls(self._recorded, self._record, f"{self._scope}{name}/")
