from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import openai_server as fake
from cuecard.core.config_models import ModelConfig, Price, RateLimits
from cuecard.core.config_schema import Config
from cuecard.core.engine.messages import ModelReply
from cuecard.core.errors import ModelCallError, ModelPaused, StoppedByPerson
from cuecard.core.llm import wire
from cuecard.core.llm.client import ChatClient
from cuecard.core.llm.hub import ModelHub
from openai_server import OpenAIServer, Reply, Request

HELLO = [wire.user("Hello")]


def hub_of(server: OpenAIServer, **settings: Any) -> ModelHub:
    model = ModelConfig(base_url=server.url, model="scripted", **settings)
    return ModelHub(Config(models={"m": model, "other": model}))


def quick(hub: ModelHub, name: str = "m") -> ChatClient:
    """The hub's client, with short waits between its attempts."""
    client = hub.client(name)
    client.backoff = 0.001
    return client


async def many(client: ChatClient, count: int) -> list[ModelReply | BaseException]:
    return await asyncio.gather(
        *(client.chat([wire.user(str(n))]) for n in range(count)), return_exceptions=True
    )


def slowly(reply: Reply, seconds: float = 0.01) -> Callable[[Request], Any]:
    async def script(request: Request) -> Reply:
        await asyncio.sleep(seconds)
        return reply

    return script


async def test_connections_are_kept_and_shared() -> None:
    async with OpenAIServer(lambda request: fake.text("Hi")) as server:
        hub = hub_of(server)
        for n in range(10):
            await quick(hub, "m" if n % 2 else "other").chat(HELLO, on_text=lambda text: None)
        assert len(server.requests) == 10
        assert server.connections == 1
        await hub.close()
        assert (await quick(hub).chat(HELLO)).text == "Hi"
        assert server.connections == 2
        await hub.close()


async def test_an_error_does_not_cost_the_connection() -> None:
    def script(request: Request) -> Reply:
        return fake.text("Hi") if request.number % 2 else fake.error(500)

    async with OpenAIServer(script) as server:
        hub = hub_of(server)
        for _ in range(3):
            await quick(hub).chat(HELLO)
        assert (len(server.requests), server.connections) == (6, 1)
        await hub.close()


@pytest.mark.filterwarnings("error")
def test_nothing_stays_open_where_nobody_closes() -> None:
    with fake.running(lambda request: fake.text("Hi")) as server:
        config = ModelConfig(base_url=server.url, model="m")

        async def twice() -> None:
            await ChatClient(config).chat(HELLO)
            gc.collect()
            hub = ModelHub(Config(models={"m": config}))
            await hub.client("m").chat(HELLO)

        asyncio.run(twice())
        # One client may serve several loops, one after another.
        client = ChatClient(config)
        for _ in range(2):
            asyncio.run(client.chat(HELLO))
        gc.collect()
        assert len(server.requests) == 4


async def test_never_more_than_the_limit_at_the_same_time() -> None:
    async with OpenAIServer(slowly(fake.text("Hi"))) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=3))
        replies = await many(quick(hub), 12)
        assert all(isinstance(reply, ModelReply) for reply in replies)
        assert server.peak == 3
        # In the order in which they were made.
        assert [int(request.last["content"]) for request in server.requests] == sorted(range(12))
        await hub.close()


async def test_models_do_not_wait_for_each_other() -> None:
    release = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.number == 0:
            await release.wait()
        return fake.text("Hi")

    async with OpenAIServer(script) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=1))
        held = asyncio.create_task(quick(hub).chat(HELLO))
        await server.arrived(1)
        assert (await quick(hub, "other").chat(HELLO)).text == "Hi"
        release.set()
        await held
        await hub.close()


async def test_a_call_that_waits_for_its_next_attempt_holds_up_nobody() -> None:
    def script(request: Request) -> Reply:
        first = request.last["content"] == "first" and request.number == 0
        return fake.error(500, retry_after="0.3") if first else fake.text("Hi")

    async with OpenAIServer(script) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=1))
        first = asyncio.create_task(quick(hub).chat([wire.user("first")]))
        await server.arrived(1)
        for _ in range(3):
            await quick(hub).chat(HELLO)
        assert not first.done()
        assert (await first).attempts == 2
        assert server.peak == 1
        await hub.close()


async def test_too_many_requests_lower_the_number_of_calls() -> None:
    """The server bears two at a time; the client finds out."""
    server: OpenAIServer
    allowed: set[int] = set()

    async def script(request: Request) -> Reply:
        allowed.add(client.limiter.allowed)
        if server.in_flight > 2:
            return fake.busy("0")
        await asyncio.sleep(0.005)
        return fake.text("Hi")

    async with OpenAIServer(script) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=8), retries=20)
        client = quick(hub)
        replies = await many(client, 30)
        assert all(isinstance(reply, ModelReply) for reply in replies)
        assert (min(allowed), max(allowed)) == (4, 8)
        await hub.close()


async def test_a_grid_of_faults_ends_in_replies_and_reasons() -> None:
    faults = (
        fake.error(500),
        fake.body_reply(b'{"choices": [', "application/json"),
        fake.text("Half", finish=None, usage=None, done=False),
        fake.text("Half", finish=None, usage=None, done=False, cut=True),
        fake.drop(),
        fake.error(429, retry_after="0"),
    )
    seen: Counter[str] = Counter()

    def script(request: Request) -> Reply:
        n = str(request.last["content"])
        seen[n] += 1
        if int(n) % 3 == 0 and seen[n] <= 2:
            return faults[(int(n) // 3 + seen[n]) % len(faults)]
        return fake.text(f"Answer {n}")

    async with OpenAIServer(script) as server:
        hub = hub_of(server)
        replies = await many(quick(hub), 60)
        assert [getattr(reply, "text", reply) for reply in replies] == [
            f"Answer {n}" for n in range(60)
        ]
        attempts = [getattr(reply, "attempts", 0) for reply in replies]
        # A connection that was kept, and is dropped before an answer, costs none.
        dropped = [n % 3 == 0 and n // 3 % 6 in (2, 3) for n in range(60)]
        assert all(
            made == (1 if n % 3 else 3) or (dropped[n] and made == 2)
            for n, made in enumerate(attempts)
        )
        # What was answered is not asked again.
        assert set(seen.values()) == {1, 3}
        await hub.close()


async def test_what_keeps_failing_is_called_no_more() -> None:
    async with OpenAIServer(lambda request: fake.error(500, "on fire")) as server:
        hub = hub_of(server, retries=1, give_up_after=3)
        client = quick(hub)
        for _ in range(2):
            with pytest.raises(ModelCallError, match="on fire"):
                await client.chat(HELLO)
        with pytest.raises(ModelPaused) as caught:
            await client.chat(HELLO)
        assert len(server.requests) == 6
        assert "m (scripted)" in caught.value.message
        assert "3 calls in a row" in caught.value.message
        assert "on fire" in caught.value.message
        with pytest.raises(ModelPaused, match="on fire"):
            await client.chat(HELLO)
        assert len(server.requests) == 6
        # Another model is another matter, and so is another hub.
        with pytest.raises(ModelCallError):
            await quick(hub, "other").chat(HELLO)
        await hub.close()
        with pytest.raises(ModelCallError):
            await quick(hub).chat(HELLO)
        await hub.close()


async def test_a_success_ends_the_row_of_failures() -> None:
    def script(request: Request) -> Reply:
        return fake.text("Hi") if request.number % 3 == 2 else fake.error(500)

    async with OpenAIServer(script) as server:
        hub = hub_of(server, retries=0, give_up_after=3)
        replies = [(await many(quick(hub), 1))[0] for _ in range(9)]
        kinds = ["reply" if isinstance(reply, ModelReply) else "error" for reply in replies]
        assert kinds == ["error", "error", "reply"] * 3
        assert not any(isinstance(reply, ModelPaused) for reply in replies)
        await hub.close()


async def test_a_late_success_opens_a_paused_model() -> None:
    release = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.number == 0:
            await release.wait()
            return fake.text("Late")
        return fake.error(500) if request.number == 1 else fake.text("Hi")

    async with OpenAIServer(script) as server:
        hub = hub_of(server, retries=0, give_up_after=1)
        client = quick(hub)
        late = asyncio.create_task(client.chat(HELLO))
        await server.arrived(1)
        for _ in range(2):
            with pytest.raises(ModelPaused):
                await client.chat(HELLO)
        release.set()
        assert (await late).text == "Late"
        assert (await client.chat(HELLO)).text == "Hi"
        await hub.close()


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_request_that_is_refused_pauses_nobody(status: int) -> None:
    async with OpenAIServer(lambda request: fake.error(status)) as server:
        hub = hub_of(server, give_up_after=1)
        for _ in range(3):
            with pytest.raises(ModelCallError):
                await quick(hub).chat(HELLO)
        assert len(server.requests) == 3
        await hub.close()


async def test_moderation_is_about_one_request() -> None:
    flagged = fake.error(403, "Your input was flagged by moderation")
    async with OpenAIServer(lambda request: flagged) as server:
        with pytest.raises(ModelCallError, match="flagged"):
            await quick(hub_of(server)).chat(HELLO)


async def test_what_others_wait_for_is_told_to_them_too() -> None:
    """A refused key ends all waiting, in the queue and between attempts."""

    async def script(request: Request) -> Reply:
        await asyncio.sleep(0.02)
        return fake.error(500, retry_after="60") if request.number == 0 else fake.error(401)

    async with OpenAIServer(script) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=1))
        replies = await many(quick(hub), 5)
        assert [type(reply) for reply in replies] == [ModelPaused] * 5
        assert len(server.requests) == 2
        await hub.close()


async def test_stopping_lets_calls_finish_and_ends_all_waiting() -> None:
    release = asyncio.Event()

    async def script(request: Request) -> Reply:
        if request.last["content"] == "0":
            return fake.error(500, retry_after="60")
        await release.wait()
        return fake.text("Finished") if request.last["content"] == "1" else fake.error(500)

    async with OpenAIServer(script) as server:
        hub = hub_of(server, limits=RateLimits(in_flight=3))
        calls = asyncio.create_task(many(quick(hub), 6))
        await server.arrived(4)
        hub.stop(StoppedByPerson("Enough"))
        release.set()
        replies = await calls
        # 0 waited for its next attempt, 1 was answered, 2 and 3 failed, 4 and 5 had no turn yet.
        assert [type(reply).__name__ for reply in replies] == [
            "StoppedByPerson",
            "ModelReply",
            *["StoppedByPerson"] * 4,
        ]
        assert len(server.requests) == 4
        with pytest.raises(StoppedByPerson, match="Enough"):
            await quick(hub, "other").chat(HELLO)
        await hub.close()


async def test_cost_and_counts() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    price = Price(prompt=2, completion=10, cached=0.5)
    async with OpenAIServer(lambda request: fake.text("Hi", usage=usage)) as server:
        hub = hub_of(server, price=price)
        reply = await quick(hub).chat(HELLO)
        assert (reply.usage.cached, reply.usage.reasoning) == (400, 30)
        assert reply.cost == pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6)
        assert reply.attempts == 1
        await hub.close()
    async with OpenAIServer(lambda request: fake.text("Hi", usage=None)) as server:
        assert (await quick(hub_of(server, price=price)).chat(HELLO)).cost is None
    async with OpenAIServer(lambda request: fake.text("Hi")) as server:
        assert (await quick(hub_of(server)).chat(HELLO)).cost is None


async def test_a_hub_opens_nothing_before_it_is_used() -> None:
    hub = ModelHub(Config(models={"m": ModelConfig(base_url="http://localhost:1", model="m")}))
    assert hub.client("m") is hub.client("m")
    hub.stop(StoppedByPerson("Never begun"))
    with pytest.raises(StoppedByPerson):
        await hub.client("m").chat(HELLO)
    await hub.close()
