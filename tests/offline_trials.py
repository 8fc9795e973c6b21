"""Small tasks of every family and the playing of them offline, shared by tests."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

import cuecard
import strategies as any_
from cuecard.core.agents.briefing import public_task
from cuecard.core.agents.offline import OfflineAgent
from cuecard.core.engine.events import Event, Termination
from cuecard.core.engine.messages import Act, Dialogue, Message, ToolAnswer, ToolCall, UserReply
from cuecard.core.engine.trial import TrialResult, TrialSetup, play
from cuecard.core.engine.trial_log import MemorySink, TrialLog
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task
from cuecard.core.tasks.yaml_io import load_task
from cuecard.core.users.scripted import scripted_user_for
from cuecard.core.worlds.closed import ClosedWorld

SAMPLES = sorted((Path(cuecard.__file__).parent / "sample_tasks").glob("*.yaml"))


@functools.cache
def sample_tasks() -> tuple[Task, ...]:
    return tuple(load_task(path) for path in SAMPLES)


def stage(kind: CueKind, line: str, *terms: str, text: str = "a cue", not_met: str = "") -> Stage:
    return Stage(
        title="stage", cue=Cue(kind=kind, text=text, terms=terms), line=line, not_met=not_met
    )


GRAPH = Task(
    id="lighthouse",
    title="A lighthouse",
    language="en",
    query="Tell about Brackness Light: its keeper, its lens and the maker of the lens.",
    persona=Persona(
        identity="A painter.",
        initial_query="I want to paint Brackness Light. What should I know?",
        stages=(
            stage(CueKind.START, "Who was the keeper of Brackness Light?"),
            stage(
                CueKind.MENTIONS,
                "And which lens does Brackness Light have?",
                "Morag Sill",
                not_met="I asked who kept it.",
            ),
            stage(CueKind.ASKS, "Yes, who made the Vesta lens?", "Vesta lens", "lens"),
        ),
    ),
    gold=Graph(
        nodes=(Node(id="Vesta lens", aliases=("Vesta optic",)),),
        triples=(
            Triple(head="Brackness Light", relation="keeper", tail="Morag Sill", stage=1),
            Triple(head="Brackness Light", relation="lens", tail="Vesta lens", stage=2),
            Triple(head="Vesta lens", relation="made by", tail="Orlin and Daughters", stage=3),
            Triple(head="Vesta lens", relation="colour", tail="amber", stage=3),
            Triple(head="Vesta lens", relation="colour", tail="violet", stage=3),
        ),
    ),
)

TABLE = Task(
    id="ferries",
    title="渡轮",
    language="zh",
    query="请列出三艘渡轮：船名、船长和下水年份。",
    gold=Table(
        columns=(Column(name="船名"), Column(name="船长"), Column(name="下水年份")),
        unique_columns=("船名",),
        rows=(
            ("海鸥号", "陈启明", "1931年"),
            ("白鹭号", "周望", "1944年"),
            ("银鱼号", "许岚", "1950年"),
        ),
    ),
)

WIDE_TABLE = Task(
    id="seasons",
    title="Seasons of two drivers",
    language="en",
    query="For every Driver and Season give the Points.",
    gold=Table(
        columns=(Column(name="Driver"), Column(name="Season"), Column(name="Points")),
        unique_columns=("Driver", "Season"),
        rows=(
            ("Ada Quill", "spring", "311"),
            ("Ada Quill", "autumn", "287"),
            ("Bo Farrow", "spring", "199"),
            ("Bo Farrow", "autumn", "305"),
        ),
    ),
)

FACTS = Task(
    id="bakery",
    title="A bakery",
    language="en",
    query="How many more loaves does Dunmore Bakery bake a day than Hill Bakery?"
    " Look up the daily loaves of Dunmore Bakery and the daily loaves of Hill Bakery.",
    gold=FactWorld(
        facts=(
            Fact(key="dunmore", value="340", entity="Dunmore Bakery", attribute="daily loaves"),
            Fact(key="hill", value="210", entity="Hill Bakery", attribute="daily loaves"),
            Fact(
                key="hill oven",
                value="the oven of 130 bricks",
                entity="Hill Bakery",
                attribute="oven",
            ),
            Fact(key="yearly bread fair", value="June"),
        ),
        answer="130",
    ),
)

CHAIN = Task(
    id="film",
    title="A film",
    language="en",
    query="Where was the director of the later film of The Grey Ferry buried?",
    gold=CheckpointChain(
        opening="Who directed The Grey Ferry, and in which town is that person buried?",
        steps=(
            Checkpoint(
                question="Who directed The Grey Ferry?",
                target="Ines Holt",
                aliases=("Holt",),
                ambiguity=Ambiguity(
                    type=AmbiguityType.VERSION,
                    logic="There are two films.",
                    candidates=("the silent film", "the colour remake"),
                    clue="I mean the remake, the one with colour and sound.",
                    terms=("which version", "which film"),
                ),
            ),
            Checkpoint(question="In which town is that director buried?", target="Marlowe Bay"),
        ),
        final_answer="Marlowe Bay",
        forbidden=("Ines Holt", "Marlowe Bay"),
    ),
)

TASKS = (GRAPH, TABLE, WIDE_TABLE, FACTS, CHAIN)


class QuietContext:
    """A step context for players that use none."""

    tools = ()
    log = ()


def ask(world: ClosedWorld, query: str) -> ToolAnswer:
    call = ToolCall(name="search", arguments={"query": query})
    return asyncio.run(world.answer(call))


def shown(answer: ToolAnswer) -> str:
    return "\n".join(f"{e.title}\n{e.content}\n{e.date}" for e in answer.entries)


async def play_offline(task: Task, past: Sequence[Event] = ()) -> tuple[TrialResult, list[Event]]:
    """Play a task with the embedded players, over a log that may already hold part of it."""
    sink = MemorySink()
    sink.events.extend(past)
    trial_log = TrialLog(sink, past, now=lambda: datetime(2030, 1, 1, tzinfo=UTC))
    setup = TrialSetup(
        task, OfflineAgent(public_task(task)), scripted_user_for(task), ClosedWorld(task)
    )
    return await play(setup, trial_log), sink.events


def ended_well(result: TrialResult) -> bool:
    return result.termination in (Termination.USER_DONE, Termination.ANSWERED)


def told(dialogue: Dialogue, text: str, act: Act = Act.REPLY) -> Dialogue:
    """The dialogue with one more turn of the agent."""
    return dialogue.plus(Message(role="agent", turn=dialogue.turn, text=text, act=act))


def heard(dialogue: Dialogue, reply: UserReply) -> Dialogue:
    """The dialogue with one more turn of the user."""
    turn = dialogue.turn + 1 if dialogue.messages else 0
    return dialogue.plus(
        Message(
            role="user",
            turn=turn,
            text=reply.text,
            stage=reply.stage,
            cue_met=reply.cue_met,
            checkpoint=reply.checkpoint,
            status=reply.status,
        )
    )


@st.composite
def odd_tasks(draw: st.DrawFn) -> Task:
    """Tasks of any family, full of what text may hold, with and without a persona."""
    persona = draw(st.none() | any_.personas())
    stages = len(persona.stages) if persona else 0
    golds = (any_.graphs(stages), any_.tables(), any_.chains(), any_.fact_worlds())
    return Task(
        id="odd",
        title="odd",
        language=draw(st.sampled_from(["en", "zh"])),
        query=draw(any_.texts()),
        persona=persona,
        gold=draw(st.one_of(*golds)),
    )
