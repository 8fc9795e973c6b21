"""Endpoints that misbehave: each call ends with the reason that is its own (all modes: bench/hostile_endpoints.py)."""

from __future__ import annotations

import pytest

from cuecard.core.config_models import ModelConfig
from cuecard.core.errors import CuecardError, ModelCallError, ModelPaused
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from hostile_server import MODES, HostileServer

SILENT = r"no further word .* for 0\.2 seconds"
ENDLESS = r"did not come to an end within 0\.4 seconds"
BYTES = "longer than 8,000,000 bytes"
SLOW = {
    "delta_a_second": ENDLESS,
    "reasoning_a_second": ENDLESS,
    "arguments_a_second": ENDLESS,
    "empty_deltas": SILENT,
    "role_deltas": SILENT,
    "pings": SILENT,
    "silence": SILENT,
    "status_line_by_bytes": SILENT,
    "header_by_bytes": SILENT,
    "header_a_second": "Too many headers|for 0.2 seconds",
    "body_by_bytes": SILENT,
    "chunk_size_by_bytes": SILENT,
    "refusal_by_bytes": "answered 500: x|for 0.2",
    "continue_flood": SILENT,
    "comment_flood": SILENT,
}
CALLS = {
    # What comes in floods.
    "header_flood": "Too many headers",
    "endless_header": "8190",
    "refusal_of_300_mb": "answered 500: x",
    "bad_request_of_300_mb": "answered 400",
    "endless_document": BYTES,
    "endless_line": BYTES,
    "event_of_empty_lines": BYTES,
    "blank_flood": BYTES,
    "packed_document": BYTES,
    # What is too much.
    "many_choices": "500,000 values",
    "nested_document": "nested too deeply",
    "wide_document": "500,000 values",
    "call_flood_of_one_index": "500 tool calls",
    "long_name": "1000 characters",
    "number_of_5000_digits": "not valid JSON",
    # What is not what it should be.
    "reset_in_the_middle": "broke off|not valid JSON",
    "length_too_long": "broke off|payload",
    "no_http": "Bad|http|HTTP",
    "no_content": "holds no reply",
}
PAUSES = {
    "switching_protocols": "answered 101",
    "refused_key_by_bytes": "answered 401: x",
    "web_page": "web page",
    "redirect_to_itself": "points to",
    "redirect_elsewhere": "points to",
    "wait_an_hour": "1:00:00, until 20",
    "wait_until_tomorrow": "23:59|1 day",
    "wait_for_ever": "366 days",
}
REPLIES = (
    "no_end_after_the_end",
    "many_cookies",
    "huge_usage",
    "lone_surrogates",
    "nan_everywhere",
)


async def outcome(mode: str, patience: float = 60) -> object:
    """The reply, or the error. `patience`: seconds without a word; twice as many in all."""
    async with HostileServer(mode, pace=0.02) as server:
        config = ModelConfig(
            base_url=server.url,
            model="m",
            timeout=patience,
            total_timeout=2 * patience,
            retries=0,
            stream="always",
        )
        client = ChatClient(config)
        try:
            return await client.chat([wire.user("Hello")])
        except CuecardError as error:
            return error
        finally:
            await client.close()


@pytest.mark.parametrize("mode", SLOW)
async def test_a_call_that_would_not_end_is_ended(mode: str) -> None:
    with pytest.raises(ModelCallError, match=SLOW[mode]):
        raise_error(await outcome(mode, 0.2))


@pytest.mark.parametrize("mode", CALLS)
async def test_a_call_ends_with_its_reason(mode: str) -> None:
    with pytest.raises(ModelCallError, match=CALLS[mode]):
        raise_error(await outcome(mode))


@pytest.mark.parametrize("mode", PAUSES)
async def test_what_will_not_pass_pauses(mode: str) -> None:
    with pytest.raises(ModelPaused, match=PAUSES[mode]):
        raise_error(await outcome(mode))


@pytest.mark.parametrize("mode", REPLIES)
async def test_what_is_odd_but_whole_is_a_reply(mode: str) -> None:
    # The end mark of the first never comes.
    assert not isinstance(await outcome(mode, 0.5), Exception)


def raise_error(found: object) -> None:
    assert isinstance(found, Exception), found
    raise found


def test_the_modes_are_enough() -> None:
    assert len(MODES) >= 60
    assert {*SLOW, *CALLS, *PAUSES, *REPLIES} <= MODES.keys()
