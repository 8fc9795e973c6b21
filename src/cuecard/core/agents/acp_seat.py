"""A trial's place at a harness: its session, its folder and its way into the world."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.agents.acp_harness import Harness
from cuecard.core.agents.acp_log import earlier_session
from cuecard.core.agents.acp_session import Session
from cuecard.core.agents.harness_pool import keep
from cuecard.core.agents.mcp_protocol import SERVER_NAME
from cuecard.core.agents.mcp_stdio import URL_VARIABLE
from cuecard.core.agents.mcp_world import Door, OpenTurn, WorldServer
from cuecard.core.config_agents import AcpAgentConfig
from cuecard.core.errors import ModelCallError
from cuecard.core.i18n import _
from cuecard.core.marks import HarnessSession
from cuecard.core.parts import Desk, StartOver

if TYPE_CHECKING:
    from acp.schema import HttpMcpServer, McpServerStdio

    from cuecard.core.llm.hub import ModelHub

_SHORTEST_SECRET = 6


class Seat:
    """Taken once a trial, with `sit`. `door` is None where the harness is offered no world."""

    def __init__(self, name: str, config: AcpAgentConfig, hub: ModelHub, door: Door | None) -> None:
        self._name = name
        self._config = config
        self._hub = hub
        self._door = door
        self._server: WorldServer | None = None
        self._harness: Harness | None = None
        self.session = Session(cwd="", closed=door is not None)

    @property
    def harness(self) -> Harness:
        assert self._harness is not None
        return self._harness

    @property
    def secrets(self) -> Mapping[str, str]:
        """What was handed on from the environment and must not be recorded."""
        given = {name: os.environ.get(name, "") for name in self._config.pass_env}
        return {name: value for name, value in given.items() if len(value) >= _SHORTEST_SECRET}

    async def sit(self, desk: Desk, words: str) -> None:
        """Begin a session, or take up the one that the log tells of, before `words` are said.

        Raises `StartOver`, `HarnessFailed`, and `CuecardError` if the world cannot be offered.
        """
        earlier = earlier_session(desk.log)
        self.session.cwd = await asyncio.to_thread(_folder, earlier.cwd if earlier else "")
        self._harness = await self._start()
        servers = await self._servers()
        timeout = self._config.start_timeout
        if earlier is None:
            await self._harness.new_session(self.session, servers, timeout)
        else:
            await self._load(earlier, words, servers)
        await desk.mark(
            HarnessSession(
                session=self.session.id,
                harness=self._harness.title or self._name,
                restored=earlier is not None,
                cwd=self.session.cwd,
            )
        )

    @asynccontextmanager
    async def world(self, desk: Desk) -> AsyncGenerator[OpenTurn | None]:
        """Let the harness into the world for one turn."""
        if self._door is None:
            yield None
        elif self._server is not None and self._config.world_port:
            async with self._server.at_fixed_path(self._door), self._door.open(desk) as turn:
                yield turn
        else:
            async with self._door.open(desk) as turn:
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
        # It outlives this trial's folder.
        nowhere = tempfile.gettempdir()
        return await keep(self._hub, ("harness", self._name), lambda: self._start_in(nowhere))

    async def _start_in(self, cwd: str) -> Harness:
        config = self._config
        return await Harness.start(
            config.command, cwd, config.pass_env, self.secrets, config.start_timeout
        )

    async def _servers(self) -> Sequence[HttpMcpServer | McpServerStdio]:
        """The trial's world as the harness takes it. None at a fixed port: there the harness's own
        configuration names the address.
        """
        from acp.schema import EnvVariable, HttpMcpServer, McpServerStdio

        if self._door is None:
            return ()
        port = self._config.world_port or 0
        self._server = await keep(self._hub, ("world", port), lambda: WorldServer.start(port))
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

    async def _load(
        self,
        earlier: HarnessSession,
        words: str,
        servers: Sequence[HttpMcpServer | McpServerStdio],
    ) -> None:
        if not self.harness.can_load:
            raise StartOver(_("The harness cannot take up an earlier session"))
        self.session.id = earlier.session
        try:
            await self.harness.load_session(self.session, servers, self._config.start_timeout)
        except ModelCallError as error:
            raise StartOver(
                _("The harness did not take up its earlier session"), error.title
            ) from error
        # It tells the session again: were these words in it, their answer would be lost.
        if "".join(self.session.replayed).rstrip().endswith(words.strip()):
            raise StartOver(_("The harness was interrupted in the middle of a turn"))


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
