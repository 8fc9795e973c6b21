from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import pytest

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    Termination,
    TrialEnded,
    TrialStarted,
    UserSpoke,
    dialogue_of,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Dialogue,
    EmptyReply,
    ErrorLoop,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    ToolSpec,
    Usage,
    UserReply,
)
from cuecard.core.engine.step_context import StepContext, WorldContext
from cuecard.core.engine.trial import TrialSetup, play, prediction_of
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.errors import CuecardError, ModelCallError
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.predictions import AnswerPrediction, Prediction, UnusablePrediction
from cuecard.core.tasks.models import Task, content_hash

TASK = Task(
    id="t",
    title="T",
    language="en",
    query="q",
    gold=Graph(triples=(Triple(head="a", relation="r", tail="b"),)),
)

ECHO = PlayerRef(name="echo", kind="closed")
FAKE = PlayerRef(name="fake", kind="offline", baseline=True)
SCRIPT = PlayerRef(name="script", kind="scripted", baseline=True)
SEARCH = ToolSpec(name="search", description="d", parameters={})


@dataclass
class Counter:
    """What was really performed, by any of the players."""

    calls: list[str] = field(default_factory=list)

    def note(self, what: str) -> None:
        self.calls.append(what)


@dataclass
class EchoWorld:
    counter: Counter
    ref: PlayerRef = ECHO
    tools: tuple[ToolSpec, ...] = (SEARCH,)

    async def answer(self, call: ToolCall, context: WorldContext) -> ToolAnswer:
        self.counter.note(f"tool {call.arguments['q']}")
        await asyncio.sleep(0)
        return ToolAnswer(text=f"found {call.arguments['q']}")


@dataclass
class FakeAgent:
    """Two searches at once, a model call, a reply that depends on all of them; may fail at a turn."""

    counter: Counter
    fail_at: int = -1
    error: Exception | None = None
    text: str = "reply"
    ref: PlayerRef = FAKE

    async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
        turn = dialogue.turn
        found = await asyncio.gather(
            *(
                context.call_tool(ToolCall(name="search", arguments={"q": f"{turn}.{i}"}))
                for i in (0, 1)
            )
        )
        model = await context.call_model("m", self._perform(f"model {turn}"))
        if turn == self.fail_at and self.error:
            raise self.error
        context.stream("…")
        last = dialogue.last("user")
        said = last.text if last else ""
        return AgentReply(text=self.text and f"{said}: {[a.text for a in found]} {model.text}")

    async def conclude(self, dialogue: Dialogue, context: StepContext) -> Prediction:
        model = await context.call_model("m", self._perform("model end"))
        return AnswerPrediction(answer=f"{len(dialogue.messages)} {model.text} {len(context.log)}")

    def _perform(self, what: str) -> Callable[[], Awaitable[ModelReply]]:
        async def perform() -> ModelReply:
            self.counter.note(what)
            return ModelReply(text=what, usage=Usage(prompt=1, completion=2))

        return perform


@dataclass
class FakeUser:
    """Speaks `turns` times, asking a model each time but the first, then is done."""

    counter: Counter
    turns: int = 2
    answered: bool = False
    ref: PlayerRef = SCRIPT

    async def open(self, context: StepContext) -> UserReply:
        self.counter.note("open")
        return UserReply(text="hello", stage=1)

    async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
        async def perform() -> ModelReply:
            self.counter.note(f"user model {dialogue.turn}")
            return ModelReply(text="more")

        model = await context.call_model("u", perform)
        done = len(dialogue.of("user")) >= self.turns
        return UserReply(text=model.text, cue_met=True, done=done, answered=done and self.answered)


def setup_of(
    counter: Counter,
    agent: FakeAgent | None = None,
    user: FakeUser | None = None,
    max_turns: int = 9,
) -> TrialSetup:
    return TrialSetup(
        task=TASK,
        agent=agent or FakeAgent(counter),
        user=user or FakeUser(counter),
        world=EchoWorld(counter),
        limits=Limits(max_turns=max_turns),
        seed=7,
    )


async def played(setup: TrialSetup, past: tuple[Event, ...] = ()) -> tuple[list[Event], TrialLog]:
    sink = MemorySink()
    trial_log = TrialLog(sink, past)
    await play(setup, trial_log)
    return sink.events, trial_log


def bodies(events: tuple[Event, ...] | list[Event]) -> list[EventBody]:
    return [event.body for event in events]


async def test_a_trial_records_every_step_in_order() -> None:
    counter = Counter()
    events, trial_log = await played(setup_of(counter))
    assert [event.body.key for event in events] == [
        "start",
        "user/0",
        *("agent/0/tool/0", "agent/0/tool/1", "agent/0/model/0", "agent/0"),
        *("user/1/model/0", "user/1"),
        *("agent/1/tool/0", "agent/1/tool/1", "agent/1/model/0", "agent/1"),
        *("user/2/model/0", "user/2"),
        *("conclusion/2/model/0", "conclusion"),
        "end",
    ]
    assert [event.seq for event in events] == list(range(len(events)))
    assert list(trial_log.events) == events
    start = events[0].body
    assert isinstance(start, TrialStarted)
    assert start.revision_hash == content_hash(TASK)
    assert (start.seed, start.user.name, start.agent.baseline) == (7, "script", True)
    dialogue = dialogue_of(events)
    assert [m.role for m in dialogue.messages] == ["user", "agent", "user", "agent", "user"]
    assert dialogue.stages_disclosed == (1,)
    assert isinstance(prediction_of(events), AnswerPrediction)


async def test_resuming_after_any_event_gives_the_same_log_and_repeats_nothing() -> None:
    counter = Counter()
    whole, _trial_log = await played(setup_of(counter))
    all_calls = counter.calls
    for cut in range(len(whole) + 1):
        past = tuple(whole[:cut])
        counter = Counter()
        rest, trial_log = await played(setup_of(counter), past)
        assert bodies(trial_log.events) == bodies(whole), f"cut at {cut}"
        assert bodies(rest) == bodies(whole[cut:])
        done = {event.body.key for event in past}
        assert counter.calls == [call for call in all_calls if _key(call) not in done]
        if cut < len(whole):
            assert rest[0].seq == cut


def _key(call: str) -> str:
    """The key of the event that a performed call is recorded by."""
    what, _, where = call.rpartition(" ")
    match what:
        case "tool":
            turn, step = where.split(".")
            return f"agent/{turn}/tool/{step}"
        case "model":
            return "conclusion/2/model/0" if where == "end" else f"agent/{where}/model/0"
        case "user model":
            return f"user/{int(where) + 1}/model/0"
        case _:
            return "user/0"


@pytest.mark.parametrize(
    ("error", "termination"),
    [
        (ModelCallError("down", "503"), Termination.API_ERROR),
        (ModelCallError("too long", context_overflow=True), Termination.CONTEXT_OVERFLOW),
        (EmptyReply("nothing"), Termination.EMPTY_RESPONSE),
        (ErrorLoop("again and again"), Termination.ERROR_LOOP),
        (CuecardError("odd"), Termination.INTERNAL_ERROR),
        (RuntimeError("a bug"), Termination.INTERNAL_ERROR),
    ],
)
async def test_a_failure_is_data(error: Exception, termination: Termination) -> None:
    counter = Counter()
    setup = setup_of(counter, FakeAgent(counter, fail_at=1, error=error))
    trial_log = TrialLog(MemorySink())
    result = await play(setup, trial_log)
    assert result.termination is termination
    assert termination.is_failure
    assert isinstance(result.prediction, UnusablePrediction)
    assert str(error) in result.detail
    end = trial_log.events[-1].body
    assert isinstance(end, TrialEnded)
    assert end.detail == result.detail
    assert prediction_of(trial_log.events) == UnusablePrediction(reason=result.detail)


async def test_an_ended_trial_is_never_played_again() -> None:
    counter = Counter()
    failing = FakeAgent(counter, fail_at=0, error=ModelCallError("down"))
    events, _trial_log = await played(setup_of(counter, failing))
    counter = Counter()
    trial_log = TrialLog(MemorySink(), events)
    result = await play(setup_of(counter), trial_log)
    assert result.termination is Termination.API_ERROR
    assert result.detail == "down"
    assert counter.calls == []
    assert list(trial_log.events) == events


async def test_a_failure_without_its_end_is_tried_again() -> None:
    counter = Counter()
    failing = FakeAgent(counter, fail_at=1, error=ModelCallError("down"))
    events, _trial_log = await played(setup_of(counter, failing))
    counter = Counter()
    whole, _trial_log = await played(setup_of(Counter()))
    _rest, trial_log = await played(setup_of(counter), tuple(events[:-1]))
    assert bodies(trial_log.events) == bodies(whole)
    assert "model 0" not in counter.calls


async def test_a_blank_reply_ends_the_trial_as_empty() -> None:
    counter = Counter()
    result = await play(setup_of(counter, FakeAgent(counter, text="")), TrialLog(MemorySink()))
    assert result.termination is Termination.EMPTY_RESPONSE


@pytest.mark.parametrize(
    ("answered", "turns", "max_turns", "termination", "replies"),
    [
        (False, 2, 9, Termination.USER_DONE, 2),
        (True, 2, 9, Termination.ANSWERED, 2),
        (False, 9, 3, Termination.MAX_TURNS, 3),
        (False, 9, 0, Termination.MAX_TURNS, 0),
    ],
)
async def test_how_a_trial_ends(
    answered: bool, turns: int, max_turns: int, termination: Termination, replies: int
) -> None:
    counter = Counter()
    user = FakeUser(counter, turns=turns, answered=answered)
    trial_log = TrialLog(MemorySink())
    result = await play(setup_of(counter, user=user, max_turns=max_turns), trial_log)
    assert result.termination is termination
    assert not termination.is_failure
    assert isinstance(result.prediction, AnswerPrediction)
    assert sum(isinstance(e.body, AgentSpoke) for e in trial_log.events) == replies
    assert sum(isinstance(e.body, Concluded) for e in trial_log.events) == 1


async def test_cancelling_leaves_the_trial_open_and_resumable() -> None:
    waiting = asyncio.Event()

    class SlowUser(FakeUser):
        async def reply(self, dialogue: Dialogue, context: StepContext) -> UserReply:
            if dialogue.turn == 1:
                waiting.set()
                await asyncio.Event().wait()
            return await super().reply(dialogue, context)

    counter = Counter()
    sink = MemorySink()
    trial = asyncio.create_task(play(setup_of(counter, user=SlowUser(counter)), TrialLog(sink)))
    await waiting.wait()
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert not any(isinstance(event.body, TrialEnded) for event in sink.events)
    assert isinstance(sink.events[-1].body, AgentSpoke)
    assert prediction_of(sink.events) == UnusablePrediction(reason="the trial has not ended")

    whole, _trial_log = await played(setup_of(Counter()))
    _rest, trial_log = await played(setup_of(Counter()), tuple(sink.events))
    assert bodies(trial_log.events) == bodies(whole)


async def test_a_players_only_memory_is_the_log() -> None:
    seen: list[int] = []

    class Watcher(FakeAgent):
        async def reply(self, dialogue: Dialogue, context: StepContext) -> AgentReply:
            seen.append(len(context.log))
            assert dialogue_of(context.log) == dialogue
            assert context.tools[0].name == "search"
            return await super().reply(dialogue, context)

    counter = Counter()
    events, _trial_log = await played(setup_of(counter, Watcher(counter)))
    spoken = [e.seq + 1 for e in events if isinstance(e.body, UserSpoke)]
    assert seen == spoken[:2]
