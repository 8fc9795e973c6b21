from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from cuecard.core.engine.events import (
    Event,
    Limits,
    RunBegan,
    RunEvent,
    RunFinished,
    RunSummary,
    Termination,
    TrialBegan,
    TrialFinished,
    TrialLeftOpen,
    TurnPlayed,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    UserReply,
)
from cuecard.core.engine.run import Cell, run_grid
from cuecard.core.engine.run_control import RunControl
from cuecard.core.engine.step_context import StepContext
from cuecard.core.engine.trial import TrialResult, TrialSetup
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import ConfigError, ModelCallError
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.predictions import AnswerPrediction, Prediction
from cuecard.core.tasks.models import Task

TASK = Task(
    id="t",
    title="T",
    language="en",
    query="What is the answer?",
    gold=FactWorld(facts=(Fact(key="k", value="42"),), answer="42"),
)


AGENT, USER, WORLD = (PlayerRef(name="fake", kind=k) for k in ("offline", "scripted", "closed"))


@dataclass
class FakeAgent:
    """Replies `turns` times; `hook` runs before each reply and may wait or raise."""

    hook: Callable[[int], object] = lambda turn: None
    replies: int = 0
    ref: PlayerRef = AGENT

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        self.replies += 1
        waiting = self.hook(dialogue.turn)
        if asyncio.iscoroutine(waiting):
            await waiting
        return AgentReply(text=f"reply {dialogue.turn}")

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        return AnswerPrediction(answer="42")


@dataclass
class FakeUser:
    turns: int = 2
    ref: PlayerRef = USER

    async def open(self, context: StepContext) -> UserReply:
        return UserReply(text=TASK.query)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        return UserReply(text="more", done=dialogue.turn + 1 >= self.turns)


@dataclass
class FakeWorld:
    ref: PlayerRef = WORLD
    tools: tuple[ToolSpec, ...] = ()

    async def answer(self, call: ToolCall) -> ToolAnswer:
        return ToolAnswer(text="")


@dataclass
class Bench:
    """Cells over memory sinks, and everything they left behind."""

    sinks: dict[str, MemorySink] = field(default_factory=dict[str, MemorySink])
    agents: dict[str, FakeAgent] = field(default_factory=dict[str, FakeAgent])
    results: dict[str, TrialResult] = field(default_factory=dict[str, TrialResult])
    events: list[RunEvent] = field(default_factory=list[RunEvent])

    def cell(
        self,
        id_: str,
        hook: Callable[[int], object] = lambda turn: None,
        *,
        turns: int = 2,
        limits: Limits | None = None,
    ) -> Cell:
        async def begin() -> tuple[TrialSetup, TrialLog]:
            sink = self.sinks.setdefault(id_, MemorySink())
            agent = self.agents[id_] = FakeAgent(hook)
            setup = TrialSetup(TASK, agent, FakeUser(turns), FakeWorld(), limits=limits or Limits())
            return setup, TrialLog(sink, list(sink.events))

        async def after(result: TrialResult, events: tuple[Event, ...]) -> None:
            self.results[id_] = result

        return Cell(id_, begin, after)

    async def run(
        self, *cells: Cell, concurrency: int = 2, control: RunControl | None = None
    ) -> RunSummary:
        return await run_grid(
            cells, concurrency=concurrency, on_event=self.events.append, control=control
        )

    def finished(self) -> dict[str, Termination]:
        return {e.cell: e.termination for e in self.events if isinstance(e, TrialFinished)}


async def test_every_cell_is_played_and_told() -> None:
    bench = Bench()
    summary = await bench.run(*(bench.cell(str(i)) for i in range(5)))
    assert bench.finished() == {str(i): Termination.USER_DONE for i in range(5)}
    assert summary.finished == summary.cells == 5
    assert summary.terminations == {Termination.USER_DONE: 5}
    assert (summary.problems, summary.left_open, summary.not_begun) == (0, 0, 0)
    assert not summary.cancelled
    assert {r.prediction for r in bench.results.values()} == {AnswerPrediction(answer="42")}
    assert bench.events[0] == RunBegan(cells=5, concurrency=2)
    assert bench.events[-1] == RunFinished(summary)


async def test_the_order_of_events_of_one_trial() -> None:
    bench = Bench()
    await bench.run(bench.cell("a"))
    assert bench.events[1:-1] == [
        TrialBegan("a", resumed=False),
        TurnPlayed("a", 0),
        TurnPlayed("a", 1),
        TrialFinished("a", Termination.USER_DONE),
    ]


async def test_an_empty_grid() -> None:
    assert (await Bench().run()).cells == 0


async def test_at_most_so_many_at_a_time() -> None:
    now = most = 0

    async def busy() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1

    bench = Bench()
    await bench.run(*(bench.cell(str(i), lambda turn: busy()) for i in range(12)), concurrency=3)
    assert most == 3


async def test_concurrency_must_be_positive() -> None:
    with pytest.raises(ValueError, match="concurrency"):
        await Bench().run(concurrency=0)


async def test_failures_are_data() -> None:
    bench = Bench()

    def overflow(turn: int) -> None:
        raise ModelCallError("too long", context_overflow=True)

    def broken(turn: int) -> None:
        raise ZeroDivisionError("oops")

    async def no_players() -> tuple[TrialSetup, TrialLog]:
        raise ConfigError("Unknown agent", "nobody")

    async def no_judge(result: TrialResult, events: tuple[Event, ...]) -> None:
        raise RuntimeError("the judge fell over")

    fine = bench.cell("fine")
    summary = await bench.run(
        bench.cell("overflow", overflow),
        bench.cell("broken", broken),
        Cell("no players", no_players),
        Cell("no judge", bench.cell("no judge").begin, no_judge),
        bench.cell("limited", turns=99, limits=Limits(max_turns=1)),
        fine,
    )
    assert bench.finished() == {
        "overflow": Termination.CONTEXT_OVERFLOW,
        "broken": Termination.INTERNAL_ERROR,
        "no players": Termination.INTERNAL_ERROR,
        "no judge": Termination.USER_DONE,
        "limited": Termination.MAX_TURNS,
        "fine": Termination.USER_DONE,
    }
    problems = {e.cell: e.problem for e in bench.events if isinstance(e, TrialFinished)}
    assert "nobody" in problems["no players"]
    assert "the judge fell over" in problems["no judge"]
    assert [cell for cell, problem in problems.items() if problem] == ["no players", "no judge"]
    assert summary.problems == 2
    assert summary.finished == 6
    assert "broken" in bench.results
    details = {e.cell: e.detail for e in bench.events if isinstance(e, TrialFinished)}
    assert "oops" in details["broken"]


async def test_a_listener_that_fails_stops_nothing() -> None:
    bench = Bench()

    def listen(event: RunEvent) -> None:
        raise RuntimeError("the screen is gone")

    summary = await run_grid([bench.cell("a")], concurrency=1, on_event=listen)
    assert summary.terminations == {Termination.USER_DONE: 1}


def stuck_after(turns: int, reached: asyncio.Event) -> Callable[[int], object]:
    async def wait() -> None:
        reached.set()
        await asyncio.Event().wait()

    return lambda turn: wait() if turn == turns else None


async def test_cancelled_trials_stay_open_and_resume_where_they_stood() -> None:
    bench, control, reached = Bench(), RunControl(), asyncio.Event()
    cells = [bench.cell("quick"), bench.cell("stuck", stuck_after(1, reached)), bench.cell("late")]
    run = asyncio.create_task(bench.run(*cells, concurrency=1, control=control))
    await reached.wait()
    control.cancel()
    summary = await run
    assert summary.cancelled
    assert (summary.finished, summary.left_open, summary.not_begun) == (1, 1, 1)
    assert TrialLeftOpen("stuck") in bench.events
    assert "late" not in bench.sinks

    bench.events.clear()
    summary = await bench.run(bench.cell("quick"), bench.cell("stuck"), bench.cell("late"))
    assert summary.terminations == {Termination.USER_DONE: 3}
    assert TrialBegan("stuck", resumed=True) in bench.events
    # Turn 0 was in the log; the finished trial was not played at all.
    assert bench.agents["stuck"].replies == 1
    assert bench.agents["quick"].replies == 0
    assert bench.results["quick"].prediction == AnswerPrediction(answer="42")
    keys = [event.body.key for event in bench.sinks["stuck"].events]
    assert len(keys) == len(set(keys))


async def test_cancelled_trials_can_be_recorded_as_such() -> None:
    bench, control, reached = Bench(), RunControl(), asyncio.Event()
    run = asyncio.create_task(bench.run(bench.cell("a", stuck_after(0, reached)), control=control))
    await reached.wait()
    control.cancel(record=True)
    summary = await run
    assert summary.terminations == {Termination.CANCELLED: 1}
    assert bench.sinks["a"].events[-1].body.key == "end"
    assert "a" not in bench.results


async def test_cancelling_from_another_thread() -> None:
    bench, control, reached = Bench(), RunControl(), asyncio.Event()
    run = asyncio.create_task(bench.run(bench.cell("a", stuck_after(0, reached)), control=control))
    await reached.wait()
    thread = threading.Thread(target=control.cancel)
    thread.start()
    summary = await run
    thread.join()
    assert summary.left_open == 1
    control.cancel()


async def test_cancelling_before_the_start_begins_nothing() -> None:
    bench, control = Bench(), RunControl()
    control.cancel()
    summary = await bench.run(bench.cell("a"), control=control)
    assert summary.not_begun == 1
    assert bench.sinks == {}


async def test_cancelling_while_judging_keeps_the_trials_end() -> None:
    bench, control, reached = Bench(), RunControl(), asyncio.Event()

    async def judge(result: TrialResult, events: tuple[Event, ...]) -> None:
        reached.set()
        await asyncio.Event().wait()

    cell = Cell("a", bench.cell("a").begin, judge)
    run = asyncio.create_task(bench.run(cell, control=control))
    await reached.wait()
    control.cancel(record=True)
    summary = await run
    assert summary.terminations == {Termination.USER_DONE: 1}
    assert summary.problems == 1


async def test_cancelling_the_caller_leaves_trials_open() -> None:
    bench, reached = Bench(), asyncio.Event()
    run = asyncio.create_task(bench.run(bench.cell("a", stuck_after(1, reached))))
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert bench.sinks["a"].events[-1].body.key == "user/1"


async def test_a_player_that_cancels_itself_is_one_trials_failure() -> None:
    bench = Bench()

    def cancel(turn: int) -> None:
        raise asyncio.CancelledError

    summary = await bench.run(bench.cell("a", cancel), bench.cell("b"))
    assert summary.terminations == {Termination.INTERNAL_ERROR: 1, Termination.USER_DONE: 1}
