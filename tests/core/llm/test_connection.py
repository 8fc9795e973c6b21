"""How a model's server is reached: keys, headers, addresses, certificates, proxies; over real sockets."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig
from cuecard.core.errors import ConfigError, ModelCallError, ModelPaused, install_hint
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from openai_server import OpenAIServer

HELLO = [wire.user("Hello")]


def hi(_request: fake.Request) -> fake.Reply:
    return fake.text("Hi")


async def sent(**settings: Any) -> fake.Request:
    """The request that a model with these settings makes."""
    async with OpenAIServer(hi) as server:
        path = settings.pop("path", "")
        base = server.url + path if path else server.url
        client = ChatClient(ModelConfig(**{"base_url": base, "model": "m", **settings}))
        assert (await client.chat(HELLO)).text == "Hi"
        await client.close()
        return server.requests[0]


async def test_nothing_of_an_account_goes_to_a_server_that_did_not_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ambient-0000")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ambient")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ambient")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: yes\nAuthorization: Bearer ambient")
    headers = (await sent()).headers
    told = {"authorization", "openai-organization", "openai-project", "x-ambient", "api-key"}
    assert not told & set(headers)
    headers = (
        await sent(
            api_key_env="OPENAI_API_KEY", organization="$OPENAI_ORG_ID", project="proj-literal"
        )
    ).headers
    assert headers["authorization"] == "Bearer sk-ambient-0000"
    assert headers["openai-organization"] == "org-ambient"
    assert headers["openai-project"] == "proj-literal"
    assert "x-ambient" not in headers


async def test_an_entry_without_a_server_means_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    config = ModelConfig.model_validate({"model": "m"})
    assert (config.base_url, config.api_key_env) == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one-and-only")
    async with OpenAIServer(hi) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        await ChatClient(ModelConfig.model_validate({"model": "m"})).chat(HELLO)
        assert server.requests[0].headers["authorization"] == "Bearer sk-one-and-only"


@pytest.mark.parametrize("path", ["/chat/completions", "/responses/"])
async def test_the_address_of_a_call_is_shortened_to_the_servers(path: str) -> None:
    request = await sent(path=path)
    assert request.path == "/v1/chat/completions"
    config = ModelConfig(base_url=f"http://h/v1{path}", model="m")
    assert config.base_url == "http://h/v1"
    assert path.rstrip("/") in config.notes[0]


async def test_own_headers_and_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "tok-1234567890")
    request = await sent(
        default_headers={"X-Title": "cuecard", "X-Team": "$TEAM_TOKEN", "X-Dollar": "$$5"},
        default_query={"tier": "batch", "t": "$TEAM_TOKEN"},
    )
    assert request.path == "/v1/chat/completions?tier=batch&t=tok-1234567890"
    assert request.headers["x-title"] == "cuecard"
    assert (request.headers["x-team"], request.headers["x-dollar"]) == ("tok-1234567890", "$5")
    with pytest.raises(ConfigError, match="NOWHERE"):
        await sent(default_headers={"X-Team": "$NOWHERE"})
    with pytest.raises(ValueError, match="environment variable"):
        ModelConfig(base_url="http://h", model="m", default_headers={"X": "$not a name"})


async def test_a_key_from_a_file_and_in_another_header(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-a-file\n")
    headers = (await sent(api_key_file=str(file), api_key_header="X-Api-Key")).headers
    assert headers["x-api-key"] == "sk-from-a-file"
    assert "authorization" not in headers
    with pytest.raises(ConfigError, match="cannot be read"):
        await sent(api_key_file=str(tmp_path / "none"))
    with pytest.raises(ValueError, match="name one of"):
        ModelConfig(base_url="http://h", model="m", api_key_file="k", api_key_env="K")


async def test_a_key_from_a_command_is_made_anew_when_it_is_refused(tmp_path: Path) -> None:
    count = tmp_path / "count"
    script = (
        "import pathlib, sys; p = pathlib.Path(sys.argv[1]); p.write_text(p.read_text() + 'x');"
        "print('sk-made-' + str(len(p.read_text())))"
    )
    count.write_text("")
    command = (sys.executable, "-c", script, str(count))

    def strict(request: fake.Request) -> fake.Reply:
        old = request.number > 1 and request.headers["authorization"] == "Bearer sk-made-1"
        return fake.error(401, f"bad {request.headers['authorization']}") if old else hi(request)

    async with OpenAIServer(strict) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", api_key_command=command))
        await client.chat(HELLO)
        await client.chat(HELLO)
        assert [r.headers["authorization"] for r in server.requests] == ["Bearer sk-made-1"] * 2
        assert (await client.chat(HELLO)).text == "Hi"
        assert server.requests[-1].headers["authorization"] == "Bearer sk-made-2"
        await client.close()
    failing = (sys.executable, "-c", "import sys; sys.exit('please log in')")
    with pytest.raises(ConfigError, match="please log in"):
        await sent(api_key_command=failing)
    with pytest.raises(ConfigError, match="No such file"):
        await sent(api_key_command=("/nowhere/at/all",))
    with pytest.raises(ConfigError, match="blanks or unusual"):
        await sent(api_key_command=(sys.executable, "-c", "print('two words')"))


async def test_azure_with_a_key_and_with_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "ambient")
    monkeypatch.setenv("AZ_KEY", "az-key-12345")
    async with OpenAIServer(hi) as server:
        endpoint = server.url.removesuffix("/v1")
        azure = {"base_url": endpoint, "model": "my-gpt", "azure_api_version": "2025-04-01"}
        await ChatClient(ModelConfig(**azure, api_key_env="AZ_KEY")).chat(HELLO)
        token = (sys.executable, "-c", "print('entra-token')")
        config = ModelConfig(**azure, api_key_command=token, api_key_header="Authorization")
        await ChatClient(config).chat(HELLO)
        keyed, tokened = server.requests
    path = "/openai/deployments/my-gpt/chat/completions?api-version=2025-04-01"
    assert (keyed.path, tokened.path) == (path, path)
    assert (keyed.headers["api-key"], "authorization" in keyed.headers) == ("az-key-12345", False)
    assert tokened.headers["authorization"] == "Bearer entra-token"
    assert "api-key" not in tokened.headers


async def test_fields_that_have_names_of_their_own() -> None:
    fields = {"top_p": 0.5, "seed": 7, "reasoning_effort": "low", "service_tier": "flex"}
    body = (await sent(**fields, max_completion_tokens=100, extra={"user": "u"})).body
    assert {name: body[name] for name in fields} == fields
    assert (body["max_completion_tokens"], body["user"]) == (100, "u")
    assert "max_tokens" not in body
    config = ModelConfig(base_url="http://h", model="m", extra={"seed": 1})
    assert "seed" in config.notes[0]


@pytest.mark.parametrize(
    ("settings", "refusal", "field"),
    [
        (
            {"max_tokens": 5},
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        (
            {"max_completion_tokens": 5},
            "unknown field max_completion_tokens",
            "max_completion_tokens",
        ),
        (
            {"temperature": 0.2},
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
            "temperature",
        ),
        ({"seed": 1}, "Unrecognized request argument supplied: seed", "seed"),
    ],
)
async def test_a_field_that_a_server_refuses_is_learned(
    settings: Mapping[str, Any], refusal: str, field: str
) -> None:
    def script(request: fake.Request) -> fake.Reply:
        return fake.error(400, refusal) if field in request.body else fake.text("Hi")

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", **settings))
        for _call in range(2):
            assert (await client.chat(HELLO)).text == "Hi"
        bodies = [request.body for request in server.requests]
        assert [field in body for body in bodies] == [True, False, False]
        if field.startswith("max"):
            other = {"max_tokens", "max_completion_tokens"} - {field}
            assert bodies[-1][other.pop()] == 5


async def test_a_refused_field_that_no_message_names_stays() -> None:
    async with OpenAIServer(lambda _request: fake.error(400, "no")) as server:
        client = ChatClient(
            ModelConfig(base_url=server.url, model="m", temperature=0.1, stream="never")
        )
        with pytest.raises(ModelCallError):
            await client.chat(HELLO)
        assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["x-request-id", "x-litellm-call-id"])
async def test_the_servers_name_of_a_request_is_recorded_and_told(header: str) -> None:
    def script(request: fake.Request) -> fake.Reply:
        if request.number:
            return fake.error(400, "no", **{header: "req_2"})
        return fake.json_reply(
            {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
            **{header: "req_1"},
        )

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", stream="never"))
        assert (await client.chat(HELLO)).request_id == "req_1"
        with pytest.raises(ModelCallError, match=r"\(request req_2\)"):
            await client.chat(HELLO)


async def test_what_a_server_had_read_and_thought_about_is_not_sent_twice() -> None:
    async def script(request: fake.Request) -> fake.Reply:
        if request.number == 0:
            return fake.text("Hi")
        await asyncio.sleep(0.7)
        return fake.drop()

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", retries=0))
        await client.chat(HELLO)
        with pytest.raises(ModelCallError, match="failed or broke off"):
            await client.chat(HELLO)
        await client.close()
        assert [request.connection for request in server.requests] == [0, 0]


async def test_a_kept_connection_that_was_closed_meanwhile_costs_no_attempt() -> None:
    """As llama.cpp's, which closes one after each stream without a word in its headers."""

    def script(request: fake.Request) -> fake.Reply:
        later = any(each.connection == request.connection for each in server.requests[:-1])
        return fake.drop() if later else fake.text("Hi")

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m", stream="always", retries=0))
        replies = [await client.chat(HELLO) for _ in range(3)]
        assert [reply.attempts for reply in replies] == [1, 1, 1]
        assert (len(server.requests), server.connections) == (5, 3)
        server.script = lambda _request: fake.drop()
        with pytest.raises(ModelCallError, match="broke off"):
            await client.chat(HELLO)
        # Once on the kept connection, once on a new one.
        assert len(server.requests) == 7


@pytest.mark.parametrize(
    ("words", "kind", "title"),
    [
        ("No connected db.", "no_db_connection", "refused the key"),
        ("API key not valid. Please pass a valid API key.", "", "refused the key"),
        (
            "/chat/completions: Invalid model name passed in model=m. Call `/v1/models` to view available models.",
            "invalid_request_error",
            "was not found",
        ),
    ],
)
async def test_a_400_that_no_other_request_will_change_stops_the_model(
    words: str, kind: str, title: str
) -> None:
    refusal = fake.json_reply({"error": {"message": words, "type": kind, "code": "400"}}, 400)
    async with OpenAIServer(lambda _request: refusal) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m"))
        with pytest.raises(ModelPaused, match=title):
            await client.chat(HELLO, schema={"type": "object"})
        assert len(server.requests) == 1


async def test_no_cookie_goes_from_call_to_call() -> None:
    def script(_request: fake.Request) -> fake.Reply:
        return fake.json_reply(
            {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]},
            **{"set-cookie": "trial=1; Path=/"},
        )

    async with OpenAIServer(script) as server:
        client = ChatClient(ModelConfig(base_url=server.url, model="m"))
        for _call in range(2):
            await client.chat(HELLO)
        assert "cookie" not in server.requests[1].headers


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """`ca.pem`, and `localhost.pem` and `me.pem` signed by it, each with its key in `*.key`."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes")
    usage = ("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign")
    openssl(
        *new,
        "-x509",
        "-days",
        "2",
        "-subj",
        "/CN=ca",
        *usage,
        "-keyout",
        "ca.key",
        "-out",
        "ca.pem",
    )
    (tmp_path / "ext").write_text("subjectAltName=IP:127.0.0.1\n")
    for name in ("localhost", "me"):
        openssl(*new, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        sign = (
            "x509",
            "-req",
            "-days",
            "2",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-CAcreateserial",
        )
        openssl(*sign, "-extfile", "ext", "-in", f"{name}.csr", "-out", f"{name}.pem")
    return tmp_path


async def test_a_private_authority_and_a_certificate_of_ones_own(certificates: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates / "ca.pem")
    context.load_cert_chain(certificates / "localhost.pem", certificates / "localhost.key")
    context.verify_mode = ssl.CERT_REQUIRED
    async with OpenAIServer(hi) as plain, tls_in_front(plain, context) as url:
        ca = {"base_url": url, "model": "m", "retries": 0, "ca_file": str(certificates / "ca.pem")}
        mine = {
            "client_cert": str(certificates / "me.pem"),
            "client_key": str(certificates / "me.key"),
        }
        client = ChatClient(ModelConfig(**ca, **mine))
        assert (await client.chat(HELLO)).text == "Hi"
        await client.close()
        with pytest.raises(ModelCallError):  # The server wants to know who calls.
            await ChatClient(ModelConfig(**ca)).chat(HELLO)
        with pytest.raises(ModelPaused, match="cannot be trusted"):
            await ChatClient(ModelConfig(base_url=url, model="m", retries=0)).chat(HELLO)
        broken = {**ca, "ca_file": str(certificates / "ext")}
        with pytest.raises(ConfigError, match="certificate cannot be read"):
            await ChatClient(ModelConfig(**broken)).chat(HELLO)


@asynccontextmanager
async def tls_in_front(server: OpenAIServer, context: ssl.SSLContext) -> AsyncGenerator[str]:
    """A server that speaks TLS and hands all on to `server`."""
    port = int(server.url.rsplit(":", 1)[1].removesuffix("/v1"))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _joined(reader, writer, "127.0.0.1", port)

    front = await asyncio.start_server(serve, "127.0.0.1", ssl=context)
    async with front:
        yield f"https://127.0.0.1:{front.sockets[0].getsockname()[1]}/v1"


async def _joined(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int
) -> None:
    there, back = await asyncio.open_connection(host, port)

    async def pump(one: asyncio.StreamReader, other: asyncio.StreamWriter) -> None:
        try:
            while piece := await one.read(65536):
                other.write(piece)
                await other.drain()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            other.close()

    await asyncio.gather(pump(reader, back), pump(there, writer))


async def test_a_proxy_with_a_password_by_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    async with OpenAIServer(hi) as proxy:
        where = proxy.url.removeprefix("http://").removesuffix("/v1")
        monkeypatch.setenv("OUR_PROXY", f"http://me:pass%20word@{where}")
        config = ModelConfig(base_url="http://model.invalid/v1", model="m", proxy="$OUR_PROXY")
        assert (await ChatClient(config).chat(HELLO)).text == "Hi"
        (request,) = proxy.requests
        assert request.path == "http://model.invalid/v1/chat/completions"
        assert request.headers["proxy-authorization"].startswith("Basic ")


async def test_a_socks_proxy_with_a_password() -> None:
    seen: list[tuple[bytes, bytes, bytes]] = []

    async def socks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """RFC 1928 and 1929, as far as a client of HTTP needs them."""
        _version, count = await reader.readexactly(2)
        assert 2 in await reader.readexactly(count)
        writer.write(b"\x05\x02")
        name = await reader.readexactly((await reader.readexactly(2))[1])
        word = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x01\x00" if word == b"word" else b"\x01\x01")
        if word != b"word":
            writer.close()
            return
        head = await reader.readexactly(4)
        assert head[3] == 3, "the name is looked up by the proxy"
        host = await reader.readexactly((await reader.readexactly(1))[0])
        await reader.readexactly(2)
        seen.append((name, word, host))
        writer.write(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        await _joined(reader, writer, "127.0.0.1", port)

    async with OpenAIServer(hi) as server:
        port = int(server.url.rsplit(":", 1)[1].removesuffix("/v1"))
        front = await asyncio.start_server(socks, "127.0.0.1")
        async with front:
            where = f"127.0.0.1:{front.sockets[0].getsockname()[1]}"
            settings = {"base_url": "http://model.invalid/v1", "model": "m", "retries": 0}
            client = ChatClient(ModelConfig(**settings, proxy=f"socks5h://me:word@{where}"))
            assert (await client.chat(HELLO)).text == "Hi"
            await client.close()
            assert seen == [(b"me", b"word", b"model.invalid")]
            wrong = ChatClient(ModelConfig(**settings, proxy=f"socks5://me:wrong@{where}"))
            with pytest.raises(ModelCallError, match="connection to the model failed") as caught:
                await wrong.chat(HELLO)
            assert "wrong" not in str(caught.value)
            await wrong.close()
    assert "socks" in install_hint("socks")


async def test_a_refusal_is_read_in_parts_however_long_or_packed_it_is(tmp_path: Path) -> None:
    """300 MB in a 500, and 300 MB packed into 300 kB in a 400: the program's memory grows by a fraction of that."""
    script = tmp_path / "call.py"
    script.write_text(
        "import asyncio, json, resource, sys\n"
        "from cuecard.core.config_models import ModelConfig\n"
        "from cuecard.core.errors import CuecardError\n"
        "from cuecard.core.llm import wire\n"
        "from cuecard.core.llm.client import ChatClient\n"
        "async def main():\n"
        "    said = []\n"
        "    for path in ('ok', 'long', 'bomb'):\n"
        "        url = sys.argv[1] + '/' + path\n"
        "        client = ChatClient(ModelConfig(base_url=url, model='m', retries=0))\n"
        "        try:\n"
        "            said.append((await client.chat([wire.user('Hi')])).text)\n"
        "        except CuecardError as error:\n"
        "            said.append(str(error)[:2000])\n"
        "        said.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        "        await client.close()\n"
        "    print(json.dumps(said))\n"
        "asyncio.run(main())\n"
    )

    def reply(request: fake.Request) -> fake.Reply:
        if "long" in request.path:
            return fake.Reply(
                status=500,
                headers={"content-type": "text/plain", "transfer-encoding": "chunked"},
                chunks=[b"x" * 1_000_000] * 300,
            )
        if "bomb" in request.path:
            packed = _bomb()
            return fake.body_reply(packed, "application/json", 400, content_encoding="gzip")
        return fake.text("Hi")

    async with OpenAIServer(reply) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, script, server.url.removesuffix("/v1"), stdout=asyncio.subprocess.PIPE
        )
        out, _err = await process.communicate()
    ok, before, long, after_long, bomb, after_bomb = json.loads(out)
    assert ok == "Hi"
    assert "500" in long
    assert "400" in bomb
    # In kilobytes.
    assert max(after_long, after_bomb) - before < 30_000


def _bomb() -> bytes:
    import gzip
    import io

    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        for _megabyte in range(300):
            file.write(b"\0" * 1_000_000)
    return packed.getvalue()
