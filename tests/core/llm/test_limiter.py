from __future__ import annotations

import asyncio

import pytest

from cuecard.core.config_models import RateLimits
from cuecard.core.engine.messages import Usage
from cuecard.core.errors import ModelPaused, StoppedByPerson
from cuecard.core.llm.limiter import Forecast, RateLimiter, Slot, Window


def limiter_of(minute: float = 60.0, **limits: int) -> RateLimiter:
    return RateLimiter(RateLimits(**limits), minute=minute)


class Callers:
    """Calls that hold their slot until they are told to leave; `entered` in the order of their turns."""

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.entered: list[str] = []
        self.slots: dict[str, Slot] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def add(self, name: str, tokens: int = 0, ticket: int | None = None) -> None:
        ticket = self.limiter.ticket() if ticket is None else ticket
        self.tasks[name] = asyncio.create_task(self._enter(name, ticket, tokens))
        await self.settle()

    async def _enter(self, name: str, ticket: int, tokens: int) -> None:
        self.slots[name] = await self.limiter.enter(ticket, tokens)
        self.entered.append(name)

    async def leave(self, *names: str) -> None:
        for name in names:
            self.slots.pop(name).leave()
        await self.settle()

    async def end(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)

    @staticmethod
    async def settle() -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def test_no_more_than_the_limit_and_first_come_first_served() -> None:
    callers = Callers(limiter_of(in_flight=2))
    for name in "abcde":
        await callers.add(name)
    assert callers.entered == ["a", "b"]
    await callers.leave("b")
    assert callers.entered == ["a", "b", "c"]
    await callers.leave("a", "c")
    assert callers.entered == ["a", "b", "c", "d", "e"]
    assert callers.limiter.active == 2
    await callers.leave("d", "e")
    assert callers.limiter.active == 0


async def test_a_further_attempt_keeps_its_place() -> None:
    limiter = limiter_of(in_flight=1)
    callers = Callers(limiter)
    old = limiter.ticket()
    for name in "abc":
        await callers.add(name)
    await callers.add("back again", ticket=old)
    await callers.leave("a")
    assert callers.entered == ["a", "back again"]
    await callers.end()


async def test_who_gives_up_waiting_leaves_no_gap_and_keeps_no_slot() -> None:
    callers = Callers(limiter_of(in_flight=1))
    for name in "abcd":
        await callers.add(name)
    callers.tasks["b"].cancel()
    await callers.settle()
    # The turn of `c` comes in the very moment in which it is cancelled.
    callers.slots["a"].leave()
    callers.tasks["c"].cancel()
    await callers.settle()
    assert callers.entered == ["a", "d"]
    await callers.leave("d")
    assert callers.limiter.active == 0


async def test_a_busy_server_halves_the_calls_and_successes_raise_them_again() -> None:
    limiter = limiter_of(in_flight=16)
    limiter.busy(None)
    assert limiter.allowed == 8
    limiter.busy(None)
    assert limiter.allowed == 8  # Once a second: a burst is one message.
    for _ in range(8):
        limiter.succeeded()
    assert limiter.allowed in (8, 9)
    for _ in range(500):
        limiter.succeeded()
    assert limiter.allowed == 16


async def test_one_call_is_always_allowed() -> None:
    limiter = limiter_of(in_flight=1)
    limiter.busy(None)
    assert limiter.allowed == 1


async def test_fewer_are_let_in_while_the_server_is_busy() -> None:
    callers = Callers(limiter_of(in_flight=4))
    for name in "abcdef":
        await callers.add(name)
    assert callers.entered == list("abcd")
    callers.limiter.busy(None)
    await callers.leave("a", "b")
    assert callers.entered == list("abcd")
    await callers.leave("c")
    assert callers.entered == list("abcde")
    await callers.end()


async def test_retry_after_holds_everybody_back() -> None:
    limiter = limiter_of(in_flight=4)
    loop = asyncio.get_running_loop()
    began = loop.time()
    limiter.busy(0.1)
    await limiter.enter(limiter.ticket())
    assert loop.time() - began >= 0.09


async def test_calls_per_minute() -> None:
    limiter = limiter_of(minute=0.15, in_flight=9, calls_per_minute=3)
    loop = asyncio.get_running_loop()
    times: list[float] = []
    for _ in range(7):
        slot = await limiter.enter(limiter.ticket())
        times.append(loop.time())
        slot.leave()
    for earlier, later in zip(times, times[3:], strict=False):
        assert later - earlier >= 0.14


async def test_tokens_per_minute_are_expected_then_counted() -> None:
    callers = Callers(limiter_of(tokens_per_minute=100))
    await callers.add("a", 60)
    await callers.add("b", 60)
    await callers.add("c", 10)
    assert callers.entered == ["a"]  # Nobody overtakes, be it ever so small.
    callers.slots["a"].used(30)
    await callers.leave("a")
    assert callers.entered == ["a", "b", "c"]
    await callers.end()


async def test_a_request_larger_than_the_limit_goes_alone() -> None:
    callers = Callers(limiter_of(tokens_per_minute=100))
    await callers.add("huge", 500)
    await callers.add("small", 1)
    assert callers.entered == ["huge"]
    await callers.end()


async def test_stopping_wakes_all_that_wait() -> None:
    limiter = limiter_of(in_flight=1)
    callers = Callers(limiter)
    await callers.add("under way")
    await callers.add("waits")
    sleeper = asyncio.create_task(limiter.sleep(60))
    await callers.settle()
    limiter.stop(StoppedByPerson("Stopped"))
    for task in (callers.tasks["waits"], sleeper):
        with pytest.raises(StoppedByPerson, match="Stopped"):
            await task
    with pytest.raises(StoppedByPerson):
        await limiter.enter(limiter.ticket())
    await callers.leave("under way")
    assert limiter.active == 0
    limiter.reset()
    (await limiter.enter(limiter.ticket())).leave()


async def test_a_pause_ends_with_a_success_a_stop_does_not() -> None:
    limiter = limiter_of()
    limiter.pause(ModelPaused("Down"))
    with pytest.raises(ModelPaused) as first:
        limiter.check()
    with pytest.raises(ModelPaused) as second:
        limiter.check()
    # Each its own: one exception for all would gather the frames of all.
    assert first.value is not second.value
    limiter.succeeded()
    limiter.check()
    limiter.stop(StoppedByPerson("Stopped"))
    limiter.succeeded()
    with pytest.raises(StoppedByPerson):
        limiter.check()


def test_a_window_forgets_and_tells_how_long_to_wait() -> None:
    window = Window(10, span=60)
    first = window.take(0, 6)
    window.take(10, 4)
    assert window.delay(20, 1) == 40
    assert window.delay(20, 7) == 50
    assert window.delay(60, 6) == 0
    window.correct(first, 1000)
    assert window.delay(60, 6) == 0
    window.take(60, 6)
    assert window.delay(65, 4) == 5
    assert window.delay(65, 99) == 55
    assert Window(None, 60).take(0, 5) is None


def test_the_forecast_learns() -> None:
    forecast = Forecast(500)
    assert forecast.tokens(300) == 600
    for _ in range(50):
        forecast.learn(1000, Usage(prompt=250, completion=40))
    assert 280 <= forecast.tokens(1000) <= 300
