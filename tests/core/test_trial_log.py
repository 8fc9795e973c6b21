from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import (
    EVENT_BODY,
    AgentSpoke,
    Event,
    Marked,
    Termination,
    ToolAnswered,
    TrialEnded,
    UserSpoke,
    effective_log,
)
from cuecard.core.engine.messages import AgentReply, Remark, ToolCall, UserReply
from cuecard.core.engine.step_context import TrialStepContext
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.worlds.closed import ClosedWorld
from react_bench import FACTS

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def spoke(turn: int, text: str = "hi") -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply(text=text))


class SlowSink(MemorySink):
    """Keeps an event only when told to, as a disk would."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def append(self, event: Event) -> None:
        await self.gate.wait()
        await super().append(event)


async def test_a_step_is_performed_once() -> None:
    sink = MemorySink()
    trial_log = TrialLog(sink, now=lambda: NOON)
    performed: list[int] = []

    async def perform() -> UserSpoke:
        performed.append(1)
        return spoke(0)

    first = await trial_log.step("user/0", perform)
    second = await trial_log.step("user/0", perform)
    assert first == second == spoke(0)
    assert performed == [1]
    assert sink.events == [Event(seq=0, at=NOON, body=spoke(0))]
    assert trial_log.recorded("user/0")
    assert not trial_log.recorded("user/1")


async def test_what_is_past_is_handed_back_and_not_recorded_again() -> None:
    sink = MemorySink()
    past = [Event(seq=0, at=NOON, body=spoke(0, "old"))]
    trial_log = TrialLog(sink, past, now=lambda: NOON)
    assert await trial_log.record(spoke(0, "new")) == spoke(0, "old")
    await trial_log.record(spoke(1))
    assert [event.seq for event in sink.events] == [1]
    assert [event.seq for event in trial_log.events] == [0, 1]


async def test_a_step_returns_only_when_its_event_is_safe() -> None:
    sink = SlowSink()
    step = asyncio.create_task(TrialLog(sink).record(spoke(0)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not step.done()
    sink.gate.set()
    assert await step == spoke(0)


async def test_parallel_steps_get_distinct_numbers() -> None:
    sink = MemorySink()
    trial_log = TrialLog(sink)
    await asyncio.gather(*(trial_log.record(spoke(turn)) for turn in range(20)))
    assert [event.seq for event in sink.events] == list(range(20))
    assert len({event.body.key for event in sink.events}) == 20


async def test_a_cancelled_step_is_in_memory_and_on_disk_alike() -> None:
    class Disk(SlowSink):
        """Sees to an event also when it is told to stop."""

        async def append(self, event: Event) -> None:
            keeping = asyncio.create_task(super().append(event))
            try:
                await asyncio.shield(keeping)
            except asyncio.CancelledError:
                await keeping
                raise

    sink, seen = Disk(), list[Event]()
    trial_log = TrialLog(sink)
    trial_log.attach(lambda: None, seen.append)
    for work in (trial_log.record(spoke(0)), trial_log.retry(keep=True, back_to=0)):
        sink.gate.clear()
        step = asyncio.create_task(work)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        step.cancel()
        await asyncio.sleep(0)
        assert not step.done()
        sink.gate.set()
        with pytest.raises(asyncio.CancelledError):
            await step
        assert seen == sink.events
        assert tuple(trial_log.events) == effective_log(sink.events)
    assert [event.take for event in sink.events] == [0, 1]
    assert not trial_log.recorded("user/0")


async def test_notes_outlive_what_is_taken_back() -> None:
    sink = MemorySink()
    trial_log = TrialLog(sink)
    remark = Remark(about="agent", text="slow", by="ann")
    note = Marked(part="user", turn=0, step=0, mark=remark)
    for body in (spoke(0), AgentSpoke(turn=0, reply=AgentReply(text="x")), note):
        await trial_log.record(body)
    await trial_log.retry(keep=True, back_to=1)
    assert [event.body for event in trial_log.events] == [spoke(0), note]
    await trial_log.retry(keep=True, back_to=0)
    assert [event.body for event in trial_log.events] == [note]
    await trial_log.retry(keep=False)
    assert list(trial_log.events) == []
    assert trial_log.rewound == 2  # Starting over tells nobody that words were taken back.
    assert TrialLog(sink, sink.events).rewound == 2


async def test_a_desk_for_those_who_cannot_repeat_counts_on() -> None:
    trial_log = TrialLog(MemorySink())
    world = ClosedWorld(FACTS)
    first = TrialStepContext(world, trial_log, "agent", 0)
    await first.call_tool(ToolCall(name="search", arguments={"query": "a"}))
    again = TrialStepContext(world, trial_log, "agent", 0).onward()
    await again.call_tool(ToolCall(name="search", arguments={"query": "b"}))
    await again.call_tool(ToolCall(name="search", arguments={"query": "c"}))
    told = [e.body for e in trial_log.events if isinstance(e.body, ToolAnswered)]
    assert [(body.step, body.call.arguments["query"]) for body in told] == [
        *((0, "a"), (1, "b"), (2, "c"))
    ]


async def test_a_step_must_keep_its_key() -> None:
    async def perform() -> UserSpoke:
        return spoke(5)

    with pytest.raises(ValueError, match="user/0"):
        await TrialLog(MemorySink()).step("user/0", perform)


async def test_a_failed_step_records_nothing() -> None:
    async def perform() -> UserSpoke:
        raise OSError("no")

    trial_log = TrialLog(MemorySink())
    with pytest.raises(OSError, match="no"):
        await trial_log.step("user/0", perform)
    assert list(trial_log.events) == []


def test_bodies_survive_json() -> None:
    for body in (
        spoke(3),
        AgentSpoke(turn=1, reply=AgentReply(text="x")),
        TrialEnded(termination=Termination.CANCELLED, detail="d"),
    ):
        assert EVENT_BODY.validate_json(EVENT_BODY.dump_json(body)) == body
