"""A running harness and the connection to it over the Agent Client Protocol: JSON lines on stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
from collections import deque
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from cuecard import __version__
from cuecard.core.agents.acp_access import login_hint
from cuecard.core.agents.acp_session import Session
from cuecard.core.agents.process_tree import ProcessTree, environment
from cuecard.core.config_players import AcpAgentConfig
from cuecard.core.errors import ModelCallError, system_words
from cuecard.core.i18n import _, headed, listed
from cuecard.core.llm.failures import Blame, Failure
from cuecard.core.secrets import scrub
from cuecard.core.text import for_display, one_line, storable

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection
    from acp.interfaces import Client
    from acp.schema import (
        HttpMcpServer,
        InitializeResponse,
        McpServerStdio,
        PermissionOption,
        PromptResponse,
        RequestPermissionResponse,
        ToolCallUpdate,
    )


LONGEST_LINE = 8 * 1024 * 1024
_TAIL_LINES, _TAIL_CHARS = 20, 500


class LastLines:
    """The last lines that a program wrote outside the protocol, without secrets, for error messages."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, line: bytes) -> None:
        if text := line[: 4 * _TAIL_CHARS].decode("utf-8", "replace").strip():
            self._lines.append(for_display(scrub(storable(text)))[:_TAIL_CHARS])

    def __str__(self) -> str:
        return "\n".join(self._lines)


class Pipe:
    """The transport of a connection (the protocol library's `Transport`). Lines that are no messages go to `stray`, so
    that a harness may print a banner.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, stray: LastLines
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._stray = stray

    async def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the program closed its output."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:
                self._stray.add(b"(a line that was too long)")
                continue
            except ConnectionError:
                return None
            if not line:
                return None
            found = _message(line)
            if found is not None:
                return found
            self._stray.add(line)

    async def close(self) -> None:
        self._writer.close()


def _message(line: bytes) -> dict[str, Any] | None:
    """The message in a line; None if it is none that the protocol library accepts, since the library would log the error
    to the terminal, where a screen may be.
    """
    from acp.schema import SessionNotification

    try:
        found = cast(object, json.loads(line))
        if not isinstance(found, dict):
            return None
        message = cast("dict[str, Any]", found)
        if message.get("method") == "session/update":
            SessionNotification.model_validate(message.get("params"))
    except (ValueError, RecursionError):
        return None
    return message


CANCEL_GRACE_S: Final = 2.0
_LAST_WORDS_S: Final = 1.0
_AUTH_REQUIRED: Final = -32000

Answer = TypeVar("Answer")


class HarnessFailed(ModelCallError):
    """A harness did not start, did not answer or died. The trial ends as `api_error`, or the run pauses if all other
    trials would fail too. `blame`: as for a model's failure.
    """

    def __init__(
        self, title: str, message: str = "", hint: str = "", *, blame: Blame = Blame.PASSING
    ) -> None:
        super().__init__(title, message, hint)
        self.blame = blame

    @property
    def failure(self) -> Failure:
        return Failure(self.title, self.message, self.hint, self.blame)


class _Client:
    """Answers the harness's requests for permission. Neither files nor terminals are offered to it."""

    def __init__(self, sessions: Mapping[str, Session]) -> None:
        self._sessions = sessions

    async def session_update(self, session_id: str, update: object, **_more: Any) -> None:
        if session := self._sessions.get(session_id):
            session.take(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **_more: Any,
    ) -> RequestPermissionResponse:
        session = self._sessions.get(session_id) or Session(cwd="")
        return session.permit(tool_call, options)


class Harness:
    """A running harness with one session or many. Every request raises `HarnessFailed` if it fails, for any reason."""

    def __init__(self, tree: ProcessTree, config: AcpAgentConfig) -> None:
        from acp.client.connection import ClientSideConnection

        process = tree.process
        assert process.stdin is not None
        assert process.stdout is not None
        self._tree = tree
        self._config = config
        self._tail = LastLines()
        self._sessions: dict[str, Session] = {}
        client = cast("Client", _Client(self._sessions))
        self._output = process.stdout
        pipe = Pipe(process.stdout, process.stdin, self._tail)
        self._connection: ClientSideConnection = ClientSideConnection(client, pipe)
        self._listener = asyncio.create_task(self._listen())
        self._greeting: InitializeResponse | None = None

    @classmethod
    async def start(cls, config: AcpAgentConfig, cwd: str) -> Harness:
        """Start the program in the folder `cwd`, initialise the protocol and, if the configuration says how, log in.

        Each takes at most `start_timeout` seconds.
        """
        # Imported in a thread: it takes half a second, during which other trials go on.
        await asyncio.to_thread(importlib.import_module, "acp")
        env = environment(config.pass_env)
        try:
            tree = await ProcessTree.start(config.command, cwd, env, LONGEST_LINE)
        except OSError as error:
            raise HarnessFailed(
                _("The harness cannot be started"),
                headed(config.command[0], system_words(error)),
                _("is it installed, and on the PATH?"),
                blame=Blame.LASTING,
            ) from error
        harness = cls(tree, config)
        try:
            await harness._initialize(config.start_timeout)
            if config.auth_method:
                await harness._log_in(config.auth_method, config.start_timeout)
        except BaseException:
            await harness.close()
            raise
        return harness

    @property
    def usable(self) -> bool:
        return self._tree.alive

    @property
    def title(self) -> str:
        """The name and version that it reports."""
        info = self._greeting.agent_info if self._greeting else None
        return one_line(scrub(f"{info.name} {info.version}"), 120) if info else ""

    @property
    def can_load(self) -> bool:
        capabilities = self._greeting.agent_capabilities if self._greeting else None
        return bool(capabilities and capabilities.load_session)

    @property
    def takes_http(self) -> bool:
        """Whether it can connect to MCP servers by web address (every harness can start them as programs)."""
        capabilities = self._greeting.agent_capabilities if self._greeting else None
        mcp = capabilities.mcp_capabilities if capabilities else None
        return bool(mcp and mcp.http)

    async def new_session(
        self, session: Session, servers: Sequence[HttpMcpServer | McpServerStdio], seconds: float
    ) -> None:
        """Begin a session; sets the id of `session`."""
        try:
            made = await self._request(
                self._connection.new_session(cwd=session.cwd, mcp_servers=list(servers)), seconds
            )
        except HarnessFailed as error:
            if not servers or error.hint:
                raise
            hint = _("if it takes no MCP servers for a session, set world_port or world: false")
            raise HarnessFailed(error.title, error.message, hint, blame=error.blame) from error
        session.id = made.session_id
        self._sessions[session.id] = session

    async def load_session(
        self, session: Session, servers: Sequence[HttpMcpServer | McpServerStdio], seconds: float
    ) -> None:
        """Resume the session with the id `session.id`."""
        self._sessions[session.id] = session
        await self._request(
            self._connection.load_session(
                cwd=session.cwd, session_id=session.id, mcp_servers=list(servers)
            ),
            seconds,
        )

    async def prompt(self, session: Session, text: str) -> PromptResponse:
        from acp import text_block

        session.stopping = False
        return await self._request(
            self._connection.prompt(session_id=session.id, prompt=[text_block(storable(text))]),
            None,
        )

    async def cancel(self, session: Session, prompt: asyncio.Task[PromptResponse]) -> bool:
        """Ask the harness to stop its prompt, and wait a moment; returns whether it did."""
        if not prompt.done():
            session.stopping = True
            with contextlib.suppress(Exception):  # The prompt is given up, whatever comes of it.
                async with asyncio.timeout(CANCEL_GRACE_S):
                    await self._connection.cancel(session_id=session.id)
                    await asyncio.wait({prompt})
        ended = prompt.done()
        prompt.cancel()
        await asyncio.gather(prompt, return_exceptions=True)
        return ended

    async def leave(self, session: Session) -> None:
        """Tell the harness that a session is over, if it supports that."""
        if self._sessions.pop(session.id, None) is None:
            return
        capabilities = self._greeting.agent_capabilities if self._greeting else None
        offered = capabilities.session_capabilities if capabilities else None
        if self.usable and offered and offered.close is not None:
            with contextlib.suppress(HarnessFailed):
                await self._request(
                    self._connection.close_session(session_id=session.id), CANCEL_GRACE_S
                )

    async def close(self) -> None:
        """End the program and everything it started."""
        self._sessions.clear()
        with contextlib.suppress(Exception):  # The program may be gone; it is ended all the same.
            await self._connection.close()
        try:
            await self._tree.end()
            # Its pipes are read to their ends, lest the event loop be closed before them.
            with contextlib.suppress(TimeoutError, RuntimeError):
                async with asyncio.timeout(_LAST_WORDS_S):
                    await self._listener
                    await self._output.read()
        finally:
            self._listener.cancel()

    async def _initialize(self, seconds: float) -> None:
        from acp import PROTOCOL_VERSION
        from acp.schema import AuthCapabilities, ClientCapabilities, Implementation

        # Some harnesses tell which command logs in only if a person at a terminal can run it.
        abilities = ClientCapabilities(auth=AuthCapabilities(terminal=True))
        self._greeting = await self._request(
            self._connection.initialize(
                protocol_version=PROTOCOL_VERSION,
                client_capabilities=abilities,
                client_info=Implementation(name="cuecard", version=__version__),
            ),
            seconds,
        )
        if self._greeting.protocol_version != PROTOCOL_VERSION:
            raise HarnessFailed(
                _("The harness speaks another version of the protocol"),
                _("{theirs} instead of {ours}").format(
                    theirs=self._greeting.protocol_version, ours=PROTOCOL_VERSION
                ),
                blame=Blame.LASTING,
            )

    async def _log_in(self, method: str, seconds: float) -> None:
        """Have the harness log in by one of the methods that it offers."""
        offered = self._greeting.auth_methods if self._greeting else None
        names = [one_line(found.id, 60) for found in offered or ()]
        title = _("The harness cannot log in so")
        if method not in names:
            told = _("it offers these values of auth_method: {names}")
            hint = told.format(names=scrub(listed(names)) or "-")
            raise HarnessFailed(title, method, hint, blame=Blame.LASTING)
        try:
            await self._request(self._connection.authenticate(method_id=method), seconds)
        except HarnessFailed as error:
            told = f"{method}: {error.message or error.title}"
            raise HarnessFailed(title, told, self._login, blame=Blame.LASTING) from error

    @property
    def _login(self) -> str:
        """What to do if it wants a login."""
        greeting = self._greeting
        methods = (greeting.auth_methods if greeting else None) or ()
        methods = sorted(methods, key=lambda method: method.id != self._config.auth_method)
        return login_hint(self._config.command, self.title, methods)

    async def _request(self, asked: Awaitable[Answer], seconds: float | None) -> Answer:
        from acp import RequestError

        try:
            async with asyncio.timeout(seconds):
                return await asked
        except TimeoutError as error:
            raise HarnessFailed(
                _("The harness did not answer in time"),
                self.with_tail(_("nothing came within {n} seconds").format(n=f"{seconds or 0:g}")),
            ) from error
        except RequestError as error:
            details = one_line(scrub(storable(f"{error} {error.data or ''}".strip())), 500)
            if error.code == _AUTH_REQUIRED:
                details = f"{self.title}: {one_line(scrub(storable(str(error))), 500)}"
                title = _("The harness wants a login")
                raise HarnessFailed(title, details, self._login, blame=Blame.LASTING) from error
            raise HarnessFailed(_("The harness answered with an error"), details) from error
        except ConnectionError as error:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS_S):
                    await self._tree.process.wait()
                    await asyncio.wait({self._listener})
            code = self._tree.process.returncode
            told = _("it closed its output") if code is None else _("exit code {n}").format(n=code)
            raise HarnessFailed(_("The harness ended"), self.with_tail(told)) from error
        except ValueError as error:
            raise HarnessFailed(
                _("The harness answered with something else"),
                one_line(scrub(storable(str(error))), 300),
            ) from error

    def with_tail(self, text: str) -> str:
        """`text`, and below it the last lines that the harness wrote outside the protocol."""
        tail = str(self._tail)
        return f"{text}\n{tail}" if tail else text

    async def _listen(self) -> None:
        """Keep the last lines that it writes to stderr."""
        stderr = self._tree.process.stderr
        assert stderr is not None
        while True:
            try:
                line = await stderr.readline()
            except ValueError:
                continue  # Longer than anybody would read.
            if not line:
                return
            self._tail.add(line)
