"""Players that are classes of somebody's own (`kind: python`), each object in a thread of its own, so that what it raises,
prints or waits for harms one trial only. docs/plugins.md tells how they are written.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter

from cuecard.core.agents.briefing import PublicTask, approach_to, public_task
from cuecard.core.config import find_prompt
from cuecard.core.config_players import ClassAgentConfig, ClassConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    ModelReply,
    PlayerRef,
    Printed,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    UserReply,
)
from cuecard.core.engine.step_context import CallContext, StepContext, WorldContext
from cuecard.core.errors import CuecardError, Halt, ModelCallError
from cuecard.core.families.common import parse_prediction
from cuecard.core.families.registry import family_of
from cuecard.core.formats.base import clean
from cuecard.core.i18n import _
from cuecard.core.players import PYTHON, Part, own_class, properties
from cuecard.core.plugins import captured_output, reason_of
from cuecard.core.predictions import Prediction
from cuecard.core.secrets import scrub_data
from cuecard.core.tasks.models import Family, Task, content_hash
from cuecard.core.verdicts import Judgement, Verdict

T = TypeVar("T")
Shape = Callable[[Any], T]

_CLOSING = 5.0
"""Most seconds for a player to close, and for the object of a world to say which tools it has."""
# Errors that say how a trial ends; all others are told as errors of the class.
_MEANT = (ModelCallError, EmptyReply, ErrorLoop)


class PlayerFailed(CuecardError):
    """The code of a player raised something, gave something else than it must, or took too long."""


class AgentTask(PublicTask):
    """What an agent's class may know of a task. `instructions`: its part, by the configured setting, as an agent on a model
    has it as its system prompt; `conclusion`: what asks it to hand in.
    """

    instructions: str
    conclusion: str


def _shaped(kind: Any, found: Any) -> Any:
    """What code gave as a `kind`: validated anew, with texts that can be stored and without secrets. A text stands for what
    has no more than that.
    """
    data: object = found.model_dump(mode="json") if isinstance(found, BaseModel) else found
    data = {"text": data} if isinstance(data, str) else data
    return TypeAdapter(kind).validate_python(clean(scrub_data(data)))


def _predicted(family: Family, found: Any) -> Prediction:
    if isinstance(found, str):
        return parse_prediction(family, scrub_data(found))
    return _shaped(Prediction, found)


def _judged(ref: PlayerRef, task: Task, found: Any) -> Judgement:
    if not isinstance(found, Judgement):
        found = Judgement(judge=ref, verdicts=tuple(cast(Iterable[Verdict], found)))
    stamped = {"judge": ref, "revision_hash": content_hash(task)}
    return cast(Judgement, _shaped(Judgement, found)).model_copy(update=stamped)


class _Step:
    """One call of a method: what it has printed, what it is asking of its context, and the `Halt` that this met."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.printed: list[str] = []
        self.halt: Halt | None = None
        self._loop = loop
        self._asking: list[Future[Any]] = []
        self._over = False

    def ask(self, make: Callable[[], Awaitable[object]]) -> Future[Any]:
        """Await what `make` gives on the trial's loop; cancelled once the step is over."""

        async def answered() -> object:
            try:
                return await make()
            except Halt as halt:
                self.halt = halt
                raise

        future = asyncio.run_coroutine_threadsafe(answered(), self._loop)
        self._asking.append(future)
        if self._over:
            future.cancel()
        return future

    def end(self) -> None:
        self._over = True
        for future in self._asking:
            future.cancel()


@dataclass(frozen=True)
class _OwnContext:
    """The context of a step, for the thread of the class. Methods that are no coroutines wait for what they ask of it
    (`waits`); coroutines await it.
    """

    _inner: Any
    _step: _Step
    _waits: bool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def call_tool(self, call: ToolCall, perform: Callable[[], Any] | None = None) -> Any:
        done = None if perform is None else self._performed(ToolAnswer, perform)
        return self._ask(partial(self._inner.call_tool, call, done))

    def call_model(self, model: str, perform: Callable[[], Any], *, prompt: str = "") -> Any:
        done = self._performed(ModelReply, perform)
        return self._ask(partial(self._inner.call_model, model, done, prompt=prompt))

    def mark(self, mark: object) -> Any:
        return self._ask(partial(self._inner.mark, mark))

    def stream(self, text: str) -> None:
        async def shown() -> None:
            self._inner.stream(text)

        self._step.ask(shown)

    def scope(self, name: str) -> _OwnContext:
        return replace(self, _inner=self._inner.scope(name))

    def onward(self) -> _OwnContext:
        return replace(self, _inner=self._inner.onward())

    def _ask(self, make: Callable[[], Awaitable[object]]) -> Any:
        future = self._step.ask(make)
        return future.result() if self._waits else asyncio.wrap_future(future)

    def _performed(self, kind: Any, perform: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
        """`perform` on the loop of the class; if that waits for the answer, in another thread."""
        own = None if self._waits else asyncio.get_running_loop()

        async def finished() -> Any:
            with captured_output(self._step.printed):
                found = perform()
                return _shaped(kind, await found if inspect.isawaitable(found) else found)

        async def done() -> Any:
            loop = own or _new_loop()
            try:
                return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(finished(), loop))
            finally:
                if own is None:
                    loop.call_soon_threadsafe(loop.stop)

        return done


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that runs in a thread of its own until it is stopped."""
    loop = asyncio.new_event_loop()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.get_loop().run_forever()

    # Not of a pool, whose threads code that hangs would use up; and none that keeps the program from ending.
    threading.Thread(target=run, name="own player", daemon=True).start()
    return loop


class _Own:
    """A player that is an object of a class, made when it is first used, and the thread in which everything of it runs."""

    def __init__(
        self, part: Part, name: str, settings: ClassConfig, *given: object, stamp: str = ""
    ) -> None:
        self._kind = kind = own_class(part, settings)
        self._settings = settings
        self._given = given
        self._object: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        told = json.dumps([settings.code, settings.options, stamp], sort_keys=True)
        self.ref = PlayerRef(
            name=name,
            kind=PYTHON,
            model=str(getattr(kind, "model", "")),
            baseline=properties(part, settings).baseline,
            version=f"{getattr(kind, 'version', 1)}-{hashlib.sha256(told.encode()).hexdigest()[:8]}",
        )

    async def call(
        self, method: str, shape: Shape[T], *given: object, context: Any = None, limit: float = 0
    ) -> T:
        """What `method` gives, as `shape` reads it. Raises `PlayerFailed`, one of `_MEANT`, and the `Halt` that a call of
        `context` met.
        """
        step = _Step(asyncio.get_running_loop())
        limit = limit or self._settings.timeout

        async def perform() -> T:
            with captured_output(step.printed):
                try:
                    called = getattr(self._made(), method)
                    waits = not inspect.iscoroutinefunction(called)
                    more = () if context is None else (_OwnContext(context, step, waits),)
                    found = called(*given, *more)
                    found = shape(await found if inspect.isawaitable(found) else found)
                except GeneratorExit:
                    raise
                except BaseException as error:
                    task = asyncio.current_task()
                    cut = isinstance(error, asyncio.CancelledError) and task and task.cancelling()
                    if step.halt is None and (cut or isinstance(error, _MEANT)):
                        raise
                    raise step.halt or self._failed(method, error) from error
                if step.halt is not None:
                    raise step.halt
                return found

        running = asyncio.run_coroutine_threadsafe(perform(), self._started())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(running), limit)
        except TimeoutError as error:
            reason = _("no answer within {n} seconds").format(n=f"{limit:g}")
            raise self._failed(method, TimeoutError(reason)) from error
        finally:
            step.end()
            # A judge has no log for what is printed.
            printed = str(clean(scrub_data("".join(step.printed))))
            if printed.strip() and hasattr(context, "mark"):
                await context.mark(Printed(text=printed))

    def now(self, name: str) -> Any:
        """An attribute of the object, for which the caller's thread waits a few seconds. Raises `PlayerFailed`."""

        async def found() -> Any:
            with captured_output([]):
                return getattr(self._made(), name)

        try:
            return asyncio.run_coroutine_threadsafe(found(), self._started()).result(_CLOSING)
        except Exception as error:
            raise self._failed(name, error) from error

    async def close(self) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            if self._object is not None and callable(getattr(self._kind, "close", None)):
                await self.call("close", lambda found: found, limit=_CLOSING)
        finally:
            self._loop = None
            loop.call_soon_threadsafe(loop.stop)

    def _made(self) -> Any:
        if self._object is None:
            self._object = self._kind(*self._given, **self._settings.options)
        return self._object

    def _started(self) -> asyncio.AbstractEventLoop:
        self._loop = self._loop or _new_loop()
        return self._loop

    def _failed(self, method: str, error: BaseException) -> PlayerFailed:
        file = getattr(sys.modules.get(self._kind.__module__), "__file__", None)
        return PlayerFailed(
            _("A player's own code failed"),
            f"{self._settings.code}.{method}: {reason_of(error, file or '')}",
        )


class OwnAgent(_Own):
    """An agent, for one trial of `task`, of which its class is told the public part. Raises `ConfigError`."""

    def __init__(
        self,
        name: str,
        settings: ClassAgentConfig,
        config: Config,
        _hub: object,
        task: Task,
        *_: Any,
    ) -> None:
        approach = approach_to(task, settings.settings)
        role = find_prompt(approach.prompt, task.language, config, {})
        conclusion = find_prompt(family_of(task).conclusion, task.language, config, {})
        told = AgentTask(
            **public_task(task).model_dump(),
            instructions=role.render(**approach.values),
            conclusion=conclusion.render(),
        )
        super().__init__("agent", name, settings, told, stamp=role.hash + conclusion.hash)
        self._family = task.family

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        return await self.call("reply", partial(_shaped, AgentReply), dialogue, context=context)

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        shape = partial(_predicted, self._family)
        return await self.call("conclude", shape, dialogue, context=context)


class OwnUser(_Own):
    """A user, for one trial of `task`, of which its class knows everything. `once`: its object is gone after each reply.
    Raises `ConfigError`.
    """

    def __init__(
        self,
        name: str,
        settings: ClassConfig,
        _config: Config,
        _hub: object,
        task: Task,
        once: bool,
    ) -> None:
        super().__init__("user", name, settings, task)
        self._once = once

    async def open(self, context: StepContext) -> UserReply:
        return await self.call("open", partial(_shaped, UserReply), context=context)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        try:
            return await self.call("reply", partial(_shaped, UserReply), dialogue, context=context)
        finally:
            if self._once:
                await self.close()


class OwnWorld(_Own):
    """A world, for one trial of `task`, of which its class knows everything. Raises `ConfigError`."""

    def __init__(
        self, name: str, settings: ClassConfig, _config: Config, _hub: object, task: Task, *_: Any
    ) -> None:
        super().__init__("world", name, settings, task)

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        found = getattr(self._kind, "tools", ())
        found = self.now("tools") if isinstance(found, property) else found
        return tuple(_shaped(ToolSpec, tool) for tool in found)

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        return await self.call("answer", partial(_shaped, ToolAnswer), call, context=context)


class OwnJudge:
    """A judge, whose class is given its options only; each judgement has an object. Raises `ConfigError`."""

    def __init__(self, name: str, settings: ClassConfig, *_: Any) -> None:
        self._new = partial(_Own, "judge", name, settings)
        self.ref = self._new().ref

    async def judge(self, task: Task, prediction: Prediction, context: CallContext) -> Judgement:
        own = self._new()
        try:
            shape = partial(_judged, self.ref, task)
            return await own.call("judge", shape, task, prediction, context=context)
        finally:
            await own.close()
