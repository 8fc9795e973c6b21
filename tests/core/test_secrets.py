from __future__ import annotations

import base64
import html
import json
import re
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard.core.config import EMBEDDED, parse_config
from cuecard.core.config_schema import secrets_of
from cuecard.core.engine.messages import ToolAnswer, ToolCall
from cuecard.core.errors import CuecardError, error_text
from cuecard.core.llm.replies import Assembler
from cuecard.core.secrets import (
    LEAST,
    ScrubbedStream,
    Scrubber,
    guard,
    is_covered,
    scrub,
    scrub_data,
    scrub_model,
)

KEY = "sk-Q8/x+7=y'Z\"é&9"
PLAIN = "sk-plain-0123456789abcdef"


@pytest.mark.parametrize(
    "written",
    [
        KEY,
        json.dumps(KEY)[1:-1],
        json.dumps(KEY, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(KEY))[3:-3],
        json.dumps(KEY)[1:-1].replace("/", "\\/"),
        repr(KEY)[1:-1],
        quote(KEY),
        quote(KEY, safe=""),
        re.sub(r"%..", lambda match: match[0].lower(), quote(KEY, safe="")),
        quote_plus(KEY),
        html.escape(KEY),
        html.escape(KEY, quote=False),
        KEY.encode().hex(),
        KEY.encode().hex().upper(),
    ],
)
def test_a_secret_is_found_however_it_is_written(written: str) -> None:
    assert Scrubber([("K", KEY)]).text(f"it is {written}, is it?") == "it is <K>, is it?"


@given(st.binary(max_size=9), st.binary(max_size=9), st.sampled_from([KEY, PLAIN]))
def test_a_secret_is_found_in_base64_of_anything_around_it(
    before: bytes, after: bytes, key: str
) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + key.encode() + after).decode()
        clean = Scrubber([("K", key)]).text(text)
        assert "<K>" in clean
        assert len(text) - len(clean) >= len(key.encode()) * 4 // 3 - 5


@given(st.text(alphabet="sk-plain0123456789abcdef XY", max_size=60), st.data())
def test_a_stream_shows_what_the_whole_text_would(noise: str, data: st.DataObject) -> None:
    """However the text is cut, and whatever looks like the beginning of a secret and is none."""
    at = data.draw(st.integers(0, len(noise)))
    text = noise[:at] + data.draw(st.sampled_from(["", PLAIN, PLAIN * 2])) + noise[at:]
    secrets = [("K", PLAIN), ("L", "0123456789abcdefXYXY")]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    shown: list[str] = []
    with_secrets = Scrubber(secrets)
    stream = ScrubbedStream(shown.append, with_secrets)
    for piece in pieces:
        stream(piece)
    stream.flush()
    assert "".join(shown) == with_secrets.text(text)
    assert PLAIN not in "".join(shown)


@pytest.mark.parametrize(
    ("value", "covered"),
    [
        ("", False),
        ("abc-123", False),
        ("abc-1234", True),
        ("production", False),
        ("Production", False),
        ("20261122", False),
        ("1234567890123456", True),
        ("correcthorsebattery", True),
        ("aBcDeFgH", True),
        ("浓缩咖啡浓缩咖啡", False),
    ],
)
def test_what_could_be_ordinary_text_is_left_alone(value: str, covered: bool) -> None:
    assert is_covered(value) is covered
    text = f"in {value} mode"
    assert (Scrubber([("K", value)]).text(text) == text) is not covered
    assert LEAST == 8


def test_parts_of_a_header_are_secrets_too() -> None:
    basic = base64.b64encode(b"ana:pass-word-1").decode()
    scrubber = Scrubber(
        [("A", "Bearer tok-en-77"), ("B", f"Basic {basic}"), ("C", "sid=0123456789abcdef; path=/")]
    )
    assert scrubber.text("it was tok-en-77") == "it was <A>"
    assert scrubber.text("you are ana with pass-word-1") == "you are ana with <B>"
    assert scrubber.text("sid is 0123456789abcdef") == "sid is <C>"
    assert scrubber.text("the Bearer of path=/") == "the Bearer of path=/"


def test_the_configuration_tells_what_is_secret() -> None:
    config = parse_config(
        """
models:
  m: {base_url: "http://x/v1", model: m, api_key_env: M_KEY, extra: {user_token: tok-12345678, depth: 3}}
agents:
  far: {kind: http, url: "http://x", headers: {X-Auth: FAR_AUTH}}
  acp: {kind: acp, command: [prog, --api-key, cmd-12345678, --token=cmd-87654321, -v], pass_env: [ACP_KEY, ACP_HOME, ACP_URL]}
worlds:
  web: {kind: web, engine: tavily, api_key_env: WEB_KEY}
""",
        Path("cuecard.yaml"),
    )
    environ = {
        "M_KEY": "m-1",
        "FAR_AUTH": "f-1",
        "ACP_KEY": "a-1",
        "ACP_HOME": "/home/ana",
        "ACP_URL": "https://u:p-1@x/y",
        "WEB_KEY": "w-1",
        "HTTPS_PROXY": "http://me:pr-1@proxy:3128",
        "OTHER": "o-1",
    }
    assert secrets_of(config, environ) == {
        "M_KEY": ("m-1",),
        "m extra": ("tok-12345678",),
        "WEB_KEY": ("w-1",),
        "FAR_AUTH": ("f-1",),
        "ACP_KEY": ("a-1",),
        "ACP_URL": ("p-1",),
        "acp command": ("cmd-12345678", "cmd-87654321"),
        "HTTPS_PROXY": ("pr-1",),
    }
    assert secrets_of(EMBEDDED, {}) == {}


def test_models_data_and_errors_are_scrubbed_wherever_the_secret_stands() -> None:
    guard("THE_KEY", PLAIN)
    guard("THE_KEY", "", " ")
    call = ToolCall(name="f", arguments={"a": [{PLAIN: "x"}, 3, None]}, broken=f"-{PLAIN}")
    clean = ToolCall(name="f", arguments={"a": [{"<THE_KEY>": "x"}, 3, None]}, broken="-<THE_KEY>")
    assert scrub_model(call) == clean
    untouched = ToolAnswer(text="nothing", ok=False)
    assert scrub_model(untouched) is untouched
    assert scrub_data({"a": (1, PLAIN)}) == {"a": (1, "<THE_KEY>")}
    assert PLAIN not in str(CuecardError(PLAIN, f"b {PLAIN}", PLAIN))
    assert error_text(KeyError(PLAIN)) == "KeyError: '<THE_KEY>'"
    assert scrub("no secret") == "no secret"


def test_a_reply_in_pieces_holds_no_secret_and_loses_nothing_else() -> None:
    guard("THE_KEY", PLAIN)
    shown: list[str] = []
    assembler = Assembler(shown.append)
    text = f"You sent {PLAIN} and {PLAIN[:10]} sk"
    for at in range(0, len(text), 3):
        assembler.add({"choices": [{"delta": {"content": text[at : at + 3]}}]})
    for piece in ('{"q": "', PLAIN[:7], PLAIN[7:], '"}'):
        call = {"index": 0, "id": "1", "function": {"name": "search", "arguments": piece}}
        assembler.add({"choices": [{"delta": {"tool_calls": [call], "reasoning": piece}}]})
    assembler.add({"choices": [{"finish_reason": "stop", "delta": {}}], "model": PLAIN})
    reply = assembler.reply()
    assert reply.text == "".join(shown) == f"You sent <THE_KEY> and {PLAIN[:10]} sk"
    assert reply.tool_calls[0].arguments == {"q": "<THE_KEY>"}
    assert PLAIN not in reply.model_dump_json()
