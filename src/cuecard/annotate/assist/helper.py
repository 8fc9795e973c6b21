"""How every kind of draft asks its model: in parts, counted, stoppable, with nothing lost that was had."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import TypeVar

from pydantic import BaseModel

from cuecard.annotate.assist.proposal import Proposal, ProposedItem, Spent
from cuecard.core.agents.measuring import estimate
from cuecard.core.calls import FreshCalls
from cuecard.core.config_models import Config
from cuecard.core.errors import Halt, ModelCallError
from cuecard.core.i18n import _, ngettext
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.structured import ask_structured
from cuecard.core.parts import CallDesk, ModelReply, Usage
from cuecard.core.prompts import Prompt, find_prompt
from cuecard.core.tasks import OriginKind, TaskLanguage
from cuecard.core.users.complaints import once_more

Shape = TypeVar("Shape", bound=BaseModel)
Part = TypeVar("Part")
Told = Callable[[int, int], None]
_AT_ONCE = 4
_MAX_RAW, _MAX_SHOWN = 20, 20_000


@dataclass
class _Meter:
    """A `CallDesk` that counts what goes over it, in all its scopes together."""

    desk: CallDesk
    replies: list[ModelReply]

    async def call_model(
        self, model: str, perform: Callable[[], Awaitable[ModelReply]], *, prompt: str = ""
    ) -> ModelReply:
        reply = await self.desk.call_model(model, perform, prompt=prompt)
        self.replies.append(reply)
        return reply

    def scope(self, name: str) -> _Meter:
        return _Meter(self.desk.scope(name), self.replies)


@dataclass
class Helper:
    """One draft's way to its model. `model`: the name in `config`. `told`: hears how many parts are
    done, of how many. Belongs to one event loop and makes one proposal.
    """

    client: ChatClient
    model: str
    config: Config
    today: date
    desk: CallDesk = field(default_factory=FreshCalls)
    told: Told = lambda _done, _all: None
    notes: list[str] = field(default_factory=list[str])
    raw: list[str] = field(default_factory=list[str])
    """Replies that nothing could be read from."""
    _replies: list[ModelReply] = field(default_factory=list[ModelReply])
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def stop(self) -> None:
        """End the draft; what its finished parts brought is kept."""
        self._stopped.set()

    def prompt(self, name: str, language: TaskLanguage) -> Prompt:
        """Raises `ConfigError`."""
        return find_prompt(name, language, self.config, {})

    def room(self, share: float) -> int:
        """A share of what the model can read, in tokens."""
        return max(100, int(self.client.config.context * share))

    def fitting(self, lines: Sequence[str], share: float) -> int:
        """How many of the `lines`, from the first, fit into a share of what the model can read."""
        left = self.room(share)
        for count, line in enumerate(lines):
            left -= estimate(line) + 8
            if left < 0:
                return count
        return len(lines)

    async def ask(
        self,
        text: str,
        shape: type[Shape],
        prompt: Prompt,
        language: TaskLanguage,
        *,
        scope: str = "",
        examine: Callable[[Shape], Sequence[str]] = lambda _value: (),
    ) -> Shape | None:
        """The model's answer to `text`, None where none was usable; what it said then is in `raw`.

        An answer that `examine` complains of (to the model, in `language`) is asked for again once,
        and the better one is returned. Raises `ModelCallError` and `Halt`.
        """
        messages = [wire.user(text)]
        desk = _Meter(self.desk, self._replies).scope(scope or "whole")
        first = await ask_structured(
            self.client, messages, shape, desk, prompt=prompt, language=language
        )
        if first.value is None:
            if first.raw.strip():
                self.raw.append(first.raw[:_MAX_SHOWN])
            return None
        complaints = examine(first.value)
        if not complaints:
            return first.value
        messages += [
            wire.assistant(first.raw[:_MAX_SHOWN]),
            wire.user(once_more(language, complaints)),
        ]
        try:
            again = await ask_structured(
                self.client, messages, shape, desk, prompt=prompt, language=language, attempts=1
            )
        except (ModelCallError, Halt):
            return first.value
        if again.value is None or len(examine(again.value)) > len(complaints):
            return first.value
        return again.value

    async def each(
        self, parts: Sequence[Callable[[], Awaitable[Part]]], *, before: int = 0, after: int = 0
    ) -> list[Part | None]:
        """What each part brings, a few at a time; None for those that failed or were stopped, of which
        the notes tell. `before` and `after`: how many other parts the draft has. Raises
        `ModelCallError` or `Halt` where all failed.
        """
        if self._stopped.is_set():
            return [None] * len(parts)
        total = before + len(parts) + after
        gate = asyncio.Semaphore(_AT_ONCE)
        done = 0

        async def run(part: Callable[[], Awaitable[Part]]) -> Part:
            nonlocal done
            async with gate:
                result = await part()
            done += 1
            self.told(before + done, total)
            return result

        self.told(before, total)
        tasks = [asyncio.ensure_future(run(part)) for part in parts]
        try:
            await self._finish(tasks)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        return self._sorted_out(results)

    def proposal(
        self, kind: OriginKind, prompt: Prompt, items: Sequence[ProposedItem], **more: TaskLanguage
    ) -> Proposal:
        """The proposal of what was had, with what it cost."""
        if items and self.raw:
            text = ngettext(
                "{n} answer of the model could not be read.",
                "{n} answers of the model could not be read.",
                len(self.raw),
            )
            self.notes.append(text.format(n=len(self.raw)))
        # Without a single item all that was said is worth a look.
        raw = self.raw if items else [r.text[:_MAX_SHOWN] for r in self._replies if r.text.strip()]
        usage, costs = Usage(), [reply.cost for reply in self._replies]
        for reply in self._replies:
            usage = usage.plus(reply.usage)
        known = [cost for cost in costs if cost is not None]
        return Proposal(
            kind=kind,
            model=self.model,
            prompt_hash=prompt.hash,
            items=tuple(items),
            notes=tuple(dict.fromkeys(self.notes)),
            raw=tuple(raw[-_MAX_RAW:]),
            spent=Spent(calls=len(self._replies), usage=usage, cost=sum(known) if known else None),
            at=datetime.now(UTC),
            **more,
        )

    async def _finish(self, tasks: Sequence[asyncio.Future[Part]]) -> None:
        stop = asyncio.ensure_future(self._stopped.wait())
        try:
            left: set[asyncio.Future[Part]] = set(tasks)
            while left and not stop.done():
                finished, _waiting = await asyncio.wait(
                    {*left, stop}, return_when=asyncio.FIRST_COMPLETED
                )
                left -= finished
        finally:
            stop.cancel()

    def _sorted_out(self, results: Sequence[Part | BaseException]) -> list[Part | None]:
        failed = [r for r in results if isinstance(r, ModelCallError | Halt)]
        for error in results:
            stopped = isinstance(error, asyncio.CancelledError)
            if isinstance(error, BaseException) and not stopped and error not in failed:
                raise error
        if failed and len(failed) == len(results):
            raise failed[0]
        had = sum(not isinstance(result, BaseException) for result in results)
        if failed:
            text = ngettext(
                "{n} part of {all} failed: {reason}",
                "{n} parts of {all} failed: {reason}",
                len(failed),
            )
            self.notes.append(text.format(n=len(failed), all=len(results), reason=failed[0]))
        if had + len(failed) < len(results):
            text = _("Stopped: {n} of {all} parts were done.")
            self.notes.append(text.format(n=had, all=len(results)))
        return [None if isinstance(result, BaseException) else result for result in results]
