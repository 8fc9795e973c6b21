"""Small tasks, and whole trials of a model agent over a scripted server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cuecard.core.config_models import ModelConfig
from cuecard.core.config_players import ReactAgentConfig
from cuecard.core.config_schema import Config
from cuecard.core.engine.events import Event, Limits
from cuecard.core.engine.players import build_agent
from cuecard.core.engine.step_context import Agent, User, World
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.llm.hub import ModelHub
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld
from openai_server import OpenAIServer, Reply, Request, calls, text

GRAPH = Task(
    id="g",
    title="Espresso",
    language="en",
    query="Who built the first espresso machine, and where?",
    persona=Persona(
        identity="A barista.",
        initial_query="I want to know about the first espresso machine.",
        stages=(
            Stage(
                title="Start",
                cue=Cue(kind=CueKind.START, text="The conversation starts"),
                line="I want to know about the first espresso machine.",
            ),
            Stage(
                title="City",
                cue=Cue(kind=CueKind.MENTIONS, text="It names Moriondo", terms=("Moriondo",)),
                line="Where was he from?",
            ),
        ),
    ),
    gold=Graph(
        triples=(
            Triple(head="espresso machine", relation="inventor", tail="Angelo Moriondo", stage=1),
            Triple(head="Angelo Moriondo", relation="city", tail="Turin", stage=2),
        )
    ),
)
FACTS = Task(
    id="f",
    title="Train",
    language="zh",
    query="夜车几点到达？",
    gold=FactWorld(facts=(Fact(key="到达时间", value="06:12"),), answer="06:12"),
)
TABLE = Task(
    id="w",
    title="Moons",
    language="en",
    query="List the moons of Mars with their diameter, as a table with the columns Moon and Diameter.",
    gold=Table(
        columns=(Column(name="Moon"), Column(name="Diameter")),
        unique_columns=("Moon",),
        rows=(("Phobos", "22 km"), ("Deimos", "13 km")),
    ),
)
CHAIN = Task(
    id="c",
    title="Mercury",
    language="en",
    query="Who discovered the moons of the planet Mars?",
    gold=CheckpointChain(
        opening="How large is Mercury?",
        steps=(
            Checkpoint(
                question="Which Mercury?",
                target="4879 km",
                ambiguity=Ambiguity(
                    type=AmbiguityType.ENTITY,
                    logic="Planet or element",
                    candidates=("planet", "element"),
                    clue="I mean the planet.",
                ),
            ),
        ),
        final_answer="4879 km",
    ),
)

TRIPLES = '```json\n[{"head": "Angelo Moriondo", "relation": "city", "tail": "Turin"}]\n```'


def concluding(request: Request) -> bool:
    """Whether the agent is asked to hand in."""
    content = str(request.last.get("content"))
    return "conversation is over" in content or "对话到此结束" in content or "Hand it in" in content


def searcher(handed_in: str, said: str = "It was Angelo Moriondo.") -> Callable[[Request], Reply]:
    """A model that searches twice at once in each turn, says something, and hands in a text."""

    def script(request: Request) -> Reply:
        if concluding(request):
            return text(handed_in)
        if request.last["role"] == "tool":
            return text(said)
        one, two = {"query": "espresso machine inventor"}, {"query": "Angelo Moriondo city"}
        return calls(("search", one), ("search", two), content="Let me see.")

    return script


def script_of(*replies: Reply, otherwise: str = "Done.") -> Callable[[Request], Reply]:
    """Replies in turn, then a plain text."""
    return lambda r: replies[r.number] if r.number < len(replies) else text(otherwise)


def config_for(url: str, **settings: Any) -> Config:
    """One agent and its model; `cutting` is the agent's `context`, all else what it is called."""
    own = ("max_steps", "prompts", "calls", "memory", "settings")
    agent = {k: settings.pop(k) for k in own if k in settings}
    if "cutting" in settings:
        agent["context"] = settings.pop("cutting")
    model = ModelConfig(base_url=url, model="scripted", retries=0, **settings)
    return Config(
        models={"m": model}, agents={"live": ReactAgentConfig(kind="react", model="m", **agent)}
    )


def ticking() -> Callable[[], datetime]:
    """A clock that gives equal times in equal runs."""
    start, count = datetime(2026, 1, 1, tzinfo=UTC), 0

    def now() -> datetime:
        nonlocal count
        count += 1
        return start + timedelta(seconds=count)

    return now


class StreamingSink(MemorySink):
    """Also keeps what was streamed."""

    def __init__(self) -> None:
        super().__init__()
        self.streamed: list[tuple[int, str]] = []

    def stream(self, turn: int, text: str) -> None:
        self.streamed.append((turn, text))


class Trial:
    """What a trial left behind."""

    def __init__(self, result: TrialResult, sink: StreamingSink, server: OpenAIServer) -> None:
        self.result = result
        self.sink = sink
        self.events = sink.events
        self.requests = server.requests

    def bodies(self, kind: str) -> list[Any]:
        return [event.body for event in self.events if event.body.type == kind]


async def play_trial(
    script: Callable[[Request], Reply | Awaitable[Reply]],
    task: Task = GRAPH,
    *,
    past: Sequence[Event] = (),
    world: World | None = None,
    limits: Limits | None = None,
    notes: tuple[str, ...] = (),
    user: User | None = None,
    **settings: Any,
) -> Trial:
    """A trial of `task` by the model agent, with the embedded user and world unless others are given."""
    sink = StreamingSink()
    sink.events.extend(past)
    async with OpenAIServer(script) as server:
        config = config_for(server.url, **settings)
        hub = ModelHub(config)
        setup = TrialSetup(
            task=task,
            agent=build_agent("live", config, task, hub, notes),
            user=user or scripted_user_for(task),
            world=world or ClosedWorld(task),
            limits=limits or Limits(max_turns=6),
        )
        try:
            result = await play(setup, TrialLog(sink, list(past), ticking()))
        finally:
            await hub.close()
    return Trial(result, sink, server)


def make_agent(name: str, config: Config, task: Task) -> Agent:
    return build_agent(name, config, task, ModelHub(config))
