"""Whether agents that are other programs are there, found out without a prompt: for `cuecard doctor`."""

from __future__ import annotations

import asyncio
import importlib
import time

from cuecard.core.agents.external import find_command, headers_of
from cuecard.core.config_agents import AcpAgentConfig, HttpAgentConfig
from cuecard.core.config_models import Config
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.llm.failures import CONNECT_SECONDS
from cuecard.core.llm.hub import ModelHub
from cuecard.core.scrubbing import scrub
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line

_MISSING = (404, 410)
_LOCKED = (401, 402, 403)


class AgentReport(Frozen):
    """What was found. `works`: as far as that shows without a prompt. `detail`: what it is, or why it does
    not work; `hint`: how to mend that. `ms`: until a session was open, or an answer was there.
    """

    works: bool
    detail: str
    hint: str = ""
    ms: int = 0
    loads: bool | None = None
    status: int | None = None


async def try_harness(name: str, agent: AcpAgentConfig) -> AgentReport:
    """Start the harness as a trial would, world included, and open a session. Nothing is asked of it.

    Never raises a `CuecardError`. Takes twice its `start_timeout` at most.
    """
    from cuecard.core.agents.acp_seat import Seat
    from cuecard.core.agents.mcp_world import Door
    from cuecard.core.worlds.closed import SEARCH

    began = time.monotonic()
    hub = ModelHub(Config())
    try:
        find_command(name, agent)
        seat = Seat(name, agent, hub, Door((SEARCH,), "en") if agent.world else None)
        try:
            await seat.start()
            await seat.open_session()
            return AgentReport(
                works=True,
                detail=seat.harness.title or agent.command[0],
                ms=round((time.monotonic() - began) * 1000),
                loads=seat.harness.can_load,
            )
        finally:
            await seat.leave()
    except CuecardError as error:
        return _failed(error)
    finally:
        await hub.close()


async def try_address(name: str, agent: HttpAgentConfig) -> AgentReport:
    """Ask the address whether anybody is there, without a turn (HEAD). Never raises a `CuecardError`."""
    try:
        headers = headers_of(name, agent)
    except CuecardError as error:
        return _failed(error)
    await asyncio.to_thread(importlib.import_module, "aiohttp")
    import aiohttp

    began = time.monotonic()
    limit = aiohttp.ClientTimeout(total=min(agent.timeout, CONNECT_SECONDS))
    try:
        async with (
            aiohttp.ClientSession(timeout=limit, cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.head(agent.url, headers=headers, allow_redirects=False) as response,
        ):
            status = response.status
    except TimeoutError:
        return AgentReport(
            works=False, detail=_("no answer within {n} seconds").format(n=f"{limit.total:g}")
        )
    except (aiohttp.ClientError, OSError, ValueError) as error:
        hint = _("is the server running, and the network there?")
        detail = one_line(scrub(str(error)) or type(error).__name__, 300)
        return AgentReport(works=False, detail=detail, hint=hint)
    hint = ""
    if status in _LOCKED:
        hint = _("are its headers right?")
    elif status in _MISSING or status // 100 == 3:
        hint = _("is there an agent at this address?")
    return AgentReport(
        works=status not in _LOCKED and status // 100 != 3,
        detail=_("answered {status} to HEAD").format(status=status),
        hint=hint,
        ms=round((time.monotonic() - began) * 1000),
        status=status,
    )


def _failed(error: CuecardError) -> AgentReport:
    said = f"{error.title}: {error.message}" if error.message else error.title
    return AgentReport(works=False, detail=said, hint=error.hint)
