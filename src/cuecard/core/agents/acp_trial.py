"""What a trial needs of a harness: its session, its folder, its access to the world, and harnesses shared by trials."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from cuecard.core.agents.acp_harness import Harness, HarnessFailed
from cuecard.core.agents.acp_session import Session, earlier_session
from cuecard.core.agents.mcp_stdio import URL_VARIABLE
from cuecard.core.agents.mcp_world import SERVER_NAME, Door, OpenTurn, WorldServer
from cuecard.core.config_players import AcpAgentConfig
from cuecard.core.engine.messages import HarnessSession, StartOver
from cuecard.core.engine.step_context import StepContext
from cuecard.core.errors import CuecardError, ModelCallError
from cuecard.core.i18n import _
from cuecard.core.llm.failures import Blame

if TYPE_CHECKING:
    from acp.schema import HttpMcpServer, McpServerStdio

    from cuecard.core.llm.hub import ModelHub


class Reusable(Protocol):
    @property
    def usable(self) -> bool: ...

    async def close(self) -> None: ...


Kept = TypeVar("Kept", bound=Reusable)


class _Pool:
    def __init__(self) -> None:
        self._kept: dict[object, Reusable] = {}
        self._locks: dict[object, asyncio.Lock] = {}

    async def get(self, key: object, make: Callable[[], Awaitable[Reusable]]) -> Reusable:
        async with self._locks.setdefault(key, asyncio.Lock()):
            found = self._kept.get(key)
            if found is not None and found.usable:
                return found
            if found is not None:
                del self._kept[key]
                await found.close()
            made = self._kept[key] = await make()
            return made

    async def close(self) -> None:
        while self._kept:
            await self._kept.popitem()[1].close()
        self._locks.clear()


_POOLS: WeakKeyDictionary[ModelHub, _Pool] = WeakKeyDictionary()


async def keep(hub: ModelHub, key: object, make: Callable[[], Awaitable[Kept]]) -> Kept:
    """The object stored under `key`, made on first use and when it is no longer usable; closed with the hub. A `key`
    must be used for objects of one type only.
    """
    pool = _POOLS.get(hub)
    if pool is None:
        pool = _POOLS[hub] = _Pool()
        hub.on_close(pool.close)
    return cast(Kept, await pool.get(key, make))


class Player:
    """A trial's use of a harness. Call `sit` once; in a person's session `start` and then `load` or `begin`. `door`: the
    access to the trial's world, None if the harness is not offered it. `lost`: the harness did not end a prompt that
    was given up.
    """

    def __init__(self, name: str, config: AcpAgentConfig, hub: ModelHub, door: Door | None) -> None:
        self._name = name
        self._config = config
        self._hub = hub
        self._door = door
        self._server: WorldServer | None = None
        self._harness: Harness | None = None
        self._offered: Sequence[HttpMcpServer | McpServerStdio] = ()
        self._rewound = 0
        tools = tuple(tool.name for tool in door.tools) if door else ()
        self.session = Session(cwd="", tools=tools, policy=config.permissions)
        self.lost = False

    @property
    def harness(self) -> Harness:
        assert self._harness is not None
        return self._harness

    async def sit(self, context: StepContext, words: str) -> None:
        """Begin a session, or resume the one that the log names, before `words` are said.

        Raises `StartOver` and `HarnessFailed`.
        """
        earlier = earlier_session(context.log)
        await self.start(earlier.cwd if earlier else "")
        if earlier is None:
            await self.begin(context)
            return
        heard = await self.load(earlier)
        # One that tells nothing of a session may know nothing of it.
        if not heard.strip():
            raise StartOver(_("The harness's session is not known"))
        # The loaded session already holds these words, so their answer is lost.
        if heard.rstrip().endswith(words.strip()):
            raise StartOver(_("The harness was interrupted in the middle of a turn"))
        await self.mark(context, restored=True)

    @property
    def started(self) -> bool:
        return self._harness is not None

    def stands(self, rewound: int) -> bool:
        """Whether the session is still valid after words were last taken back in the attempt `rewound`."""
        alive = self._harness is not None and self._harness.usable
        return alive and not self.lost and self._rewound == rewound

    async def start(self, cwd: str = "") -> None:
        """Start the harness, in the folder of an earlier session or a new one.

        Raises `StartOver` if the folder cannot be used, and `HarnessFailed`, also if the world cannot be offered.
        """
        self.session.cwd = await asyncio.to_thread(_folder, cwd)
        self._harness = await self._start()
        self._offered = await self._servers()

    async def begin(self, context: StepContext, *, retold: bool = False) -> None:
        """Begin a session and record it. Raises `HarnessFailed`."""
        await self.open_session()
        await self.mark(context, retold=retold)

    async def open_session(self) -> None:
        """Begin a session. Raises `HarnessFailed`."""
        self.session = replace(self.session, id="", telling=None, replayed=[])
        timeout = self._config.start_timeout
        await self.harness.new_session(self.session, self._offered, timeout)

    async def mark(
        self, context: StepContext, *, restored: bool = False, retold: bool = False
    ) -> None:
        """Record the session that was begun or resumed."""
        self._rewound = context.rewound
        await context.mark(
            HarnessSession(
                session=self.session.id,
                harness=self.harness.title or self._name,
                restored=restored,
                retold=retold,
                cwd=self.session.cwd,
            )
        )

    @asynccontextmanager
    async def world(self, context: StepContext) -> AsyncGenerator[OpenTurn | None]:
        """Give the harness access to the world for one turn."""
        if self._door is None:
            yield None
        elif self._server is not None and self._config.world_port:
            async with self._server.at_fixed_path(self._door), self._door.open(context) as turn:
                yield turn
        else:
            async with self._door.open(context) as turn:
                yield turn

    async def leave(self) -> None:
        """End the session and, unless others share it, the harness; remove the folder."""
        if self._server is not None and self._door is not None:
            self._server.remove(self._door)
        harness, self._harness = self._harness, None
        try:
            if harness is not None and self._config.shared:
                await harness.leave(self.session)
            elif harness is not None:
                await harness.close()
        finally:
            if self.session.cwd:
                await asyncio.to_thread(shutil.rmtree, self.session.cwd, ignore_errors=True)

    async def _start(self) -> Harness:
        if not self._config.shared:
            return await self._start_in(self.session.cwd)
        # A shared harness outlives this trial's folder.
        nowhere = tempfile.gettempdir()
        return await keep(self._hub, ("harness", self._name), lambda: self._start_in(nowhere))

    async def _start_in(self, cwd: str) -> Harness:
        return await Harness.start(self._config, cwd)

    async def _servers(self) -> Sequence[HttpMcpServer | McpServerStdio]:
        """The trial's world as an MCP server in the form the harness supports; none with a fixed port, whose address is
        in the harness's own configuration.
        """
        from acp.schema import EnvVariable, HttpMcpServer, McpServerStdio

        if self._door is None:
            return ()
        port = self._config.world_port or 0
        try:
            self._server = await keep(self._hub, ("world", port), lambda: WorldServer.start(port))
        except CuecardError as error:
            hint, blame = error.hint, Blame.LASTING
            raise HarnessFailed(error.title, error.message, hint, blame=blame) from error
        if port:
            self._server.show(self._door)
            return ()
        url = self._server.add(self._door)
        if self.harness.takes_http:
            return (HttpMcpServer(type="http", name=SERVER_NAME, url=url, headers=[]),)
        return (
            McpServerStdio(
                name=SERVER_NAME,
                command=sys.executable,
                args=["-m", "cuecard.core.agents.mcp_stdio"],
                env=[EnvVariable(name=URL_VARIABLE, value=url)],
            ),
        )

    async def load(self, earlier: HarnessSession) -> str:
        """Resume an earlier session; returns the user's words in it. Raises `StartOver` if that fails."""
        if not self.harness.can_load:
            raise StartOver(_("The harness cannot take up an earlier session"))
        self.session.id = earlier.session
        try:
            await self.harness.load_session(self.session, self._offered, self._config.start_timeout)
        except ModelCallError as error:
            raise StartOver(
                _("The harness did not take up its earlier session"), error.title
            ) from error
        return "".join(self.session.replayed)


def _folder(earlier: str) -> str:
    """An empty folder for a session; for an earlier one, the folder that it knows."""
    if not earlier:
        return tempfile.mkdtemp(prefix="cuecard-")
    path = Path(earlier)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        ours = path.stat().st_uid == os.getuid() if hasattr(os, "getuid") else True
    except OSError:
        ours = False
    if not ours or path.is_symlink():
        raise StartOver(_("The harness's folder cannot be made again"))
    return earlier
