"""Tasks, and a played trial fed into the state of the Play screen as the trial loop would feed it."""

from __future__ import annotations

from datetime import UTC, datetime

from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Termination,
    TrialEnded,
    TrialRetried,
    UserSpoke,
)
from cuecard.core.engine.messages import Act, AgentReply, UserReply
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task
from cuecard.tui.present.play import PlayState
from cuecard.tui.present.play_decisions import Decision, Insertion

FIRST = "Who built the first machine, and in which year was it shown to the public?"
SECOND = "And where was that person born, and into which family?"


def persona_task() -> Task:
    stages = (
        Stage(title="First", cue=Cue(kind=CueKind.START, text="The start"), line=FIRST),
        Stage(
            title="Second",
            cue=Cue(kind=CueKind.MENTIONS, text="names Moriondo", terms=("Moriondo",)),
            line=SECOND,
            not_met="I need a name.",
        ),
    )
    return Task(
        id="t",
        title="T",
        language="en",
        query="Everything about it",
        persona=Persona(identity="A curator", initial_query="Hello, help me!", stages=stages),
        gold=Graph(triples=(Triple(head="a", relation="b", tail="c"),)),
    )


def chain_task() -> Task:
    ambiguity = Ambiguity(
        type=AmbiguityType.VERSION,
        logic="three editions",
        candidates=("1908", "1948"),
        clue="The first one after the war.",
    )
    return Task(
        id="c",
        title="C",
        language="en",
        query="full",
        gold=CheckpointChain(
            opening="Who won there?",
            steps=(
                Checkpoint(question="Which Games?", target="1948 Games", ambiguity=ambiguity),
                Checkpoint(question="Who won?", target="Cabrera"),
            ),
            final_answer="Cabrera",
            forbidden=("1948", "Cabrera"),
        ),
    )


def facts_task() -> Task:
    return Task(
        id="f",
        title="F",
        language="zh",
        query="几点到？",
        gold=FactWorld(facts=(Fact(key="k", value="v"),), answer="八点"),
    )


class Play:
    """A state with a log of its own."""

    def __init__(self, task: Task) -> None:
        self.state = PlayState(task)
        self.turn = 0
        self._seq = 0

    def _add(self, body: EventBody) -> None:
        self.state.follow(Event(seq=self._seq, at=datetime.now(UTC), body=body))
        self._seq += 1

    def say(self, text: str, *, done: bool = False, decision: Decision | None = None) -> UserReply:
        reply = self.state.reply(text, done=done, decision=decision)
        self._add(UserSpoke(turn=self.turn, reply=reply))
        return reply

    def answer(self, text: str, act: Act = Act.REPLY, *, interrupted: bool = False) -> None:
        reply = AgentReply(text=text, act=act, interrupted=interrupted)
        self._add(AgentSpoke(turn=self.turn, reply=reply))
        self.turn += 1

    def take_back(self, events: int) -> None:
        """Go on from before the last so many events."""
        back_to = self.state.effective[-events].seq
        self._add(TrialRetried(keep=True, reason="undo", back_to=back_to))
        self.turn = self.state.dialogue.turn

    def end(self) -> None:
        self._add(TrialEnded(termination=Termination.USER_DONE))


def at_second_stage() -> Play:
    play = Play(persona_task())
    play.say(play.state.insert(Insertion.LINE))
    play.answer("It was Moriondo.")
    return play


def at_first_step() -> Play:
    play = Play(chain_task())
    play.say("Who won there?")
    play.answer("Which Games do you mean?", Act.ASK)
    return play
