"""One prompt to a harness, from the words to what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cuecard.core.agents.acp_harness import HarnessFailed
from cuecard.core.agents.acp_log import usage_of
from cuecard.core.agents.acp_seat import Seat
from cuecard.core.agents.acp_session import Telling
from cuecard.core.agents.mcp_world import OpenTurn
from cuecard.core.i18n import _
from cuecard.core.llm.failures import Blame
from cuecard.core.parts import Desk, ErrorLoop, ModelReply

if TYPE_CHECKING:
    from acp.schema import PromptResponse


async def prompt_harness(
    seat: Seat,
    words: str,
    desk: Desk,
    turn: OpenTurn | None,
    *,
    seconds: float,
    model: str,
    show: bool,
) -> ModelReply:
    """The harness's answer to `words`: its text, and the call of a turn tool that ended the turn.

    Its own tool calls are recorded as they end. Raises `HarnessFailed`, `ErrorLoop`, and what failed
    meanwhile in the world or in recording; the harness is then told to stop.
    """
    began = time.monotonic()
    on_text: Callable[[str], None] = desk.stream if show else _nowhere
    telling = Telling(lambda: turn.called if turn else (), on_text)
    seat.session.telling = telling
    prompt = asyncio.create_task(seat.harness.prompt(seat.session, words))
    recorder = asyncio.create_task(_record(telling, desk))
    try:
        async with asyncio.timeout(seconds):
            await _first(prompt, recorder, telling.flood, *([turn.trouble] if turn else []))
    except TimeoutError as error:
        if turn is None or turn.closing is None:
            raise HarnessFailed(
                _("The harness did not end its turn in time"),
                seat.harness.with_tail(_("it had {n} seconds").format(n=f"{seconds:g}")),
            ) from error
    finally:
        seat.lost = not await seat.harness.cancel(seat.session, prompt)
        telling.finish()
        seat.session.telling = None
        if not telling.flood.done():
            telling.flood.cancel()
        await asyncio.gather(recorder, return_exceptions=True)
    recorder.result()
    response = None if prompt.cancelled() else prompt.result()
    closing = (turn.closing,) if turn and turn.closing else ()
    stop = response.stop_reason if response else "cancelled"
    if not telling.text and not closing:
        _complain(stop)
    return ModelReply(
        text=telling.text,
        tool_calls=closing,
        finish_reason=stop,
        usage=usage_of(response.usage if response else None, desk.log, seat.session.id),
        model=model,
        latency_ms=round((time.monotonic() - began) * 1000),
    )


def _complain(stop: str) -> None:
    match stop:
        case "refusal":
            raise HarnessFailed(_("The harness refused to answer"), blame=Blame.REQUEST)
        case "cancelled":
            raise HarnessFailed(_("The harness cancelled its own turn"), blame=Blame.REQUEST)
        case "max_tokens":
            told = _("The harness used up its tokens without a word to the user")
            raise HarnessFailed(told, blame=Blame.REQUEST)
        case "max_turn_requests":
            raise ErrorLoop(_("The harness used up its model calls without a word to the user"))
        case _:
            pass


async def _first(prompt: asyncio.Task[PromptResponse], *troubles: asyncio.Future[None]) -> None:
    """Wait for the prompt's end or for what fails meanwhile, and raise the latter."""
    await asyncio.wait({prompt, *troubles}, return_when=asyncio.FIRST_COMPLETED)
    for trouble in troubles:
        if trouble.done():
            trouble.result()


async def _record(telling: Telling, desk: Desk) -> None:
    while (mark := await telling.tools.get()) is not None:
        await desk.mark(mark)


def _nowhere(_text: str) -> None:
    pass
