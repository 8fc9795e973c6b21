"""Builders for small tasks, logs and judgements."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    CheckpointStatus,
    Hit,
    ModelReply,
    PlayerRef,
    SearchEntry,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.families.graph.gold import Graph
from cuecard.core.predictions import AnswerPrediction, PredictedTriple, TriplesPrediction
from cuecard.core.tasks.gold import Gold
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

JUDGE = PlayerRef(name="test", kind="lexical", baseline=True)
AT = datetime(2026, 1, 1, tzinfo=UTC)


class Build:
    """Everything a scoring test builds, in one fixture."""

    @staticmethod
    def task(gold: Gold, **fields: object) -> Task:
        return Task.model_validate(
            {"id": "t", "title": "T", "language": "en", "query": "Q?", "gold": gold, **fields}
        )

    @staticmethod
    def graph(*triples: str) -> Graph:
        """`graph("a r b", "b r c")`."""
        keys = ("head", "relation", "tail")
        return Graph.model_validate(
            {"triples": [dict(zip(keys, text.split(), strict=True)) for text in triples]}
        )

    @staticmethod
    def triples(*triples: str) -> TriplesPrediction:
        parts = [text.split() for text in triples]
        return TriplesPrediction(
            triples=tuple(PredictedTriple(head=h, relation=r, tail=t) for h, r, t in parts)
        )

    @staticmethod
    def verdict(
        index: int, decision: str, supporting: tuple[int, ...] = (), column: str = ""
    ) -> Verdict:
        kind = ItemKind.CELL if column else ItemKind.TRIPLE
        item = Item(kind=kind, index=index, column=column)
        return Verdict(item=item, decision=Decision(decision), supporting=supporting)

    @staticmethod
    def judgement(*verdicts: Verdict, table: TableMatch | None = None) -> Judgement:
        return Judgement(judge=JUDGE, verdicts=verdicts, table=table)

    @staticmethod
    def answer(decision: str) -> Judgement:
        verdict = Verdict(item=Item(kind=ItemKind.ANSWER), decision=Decision(decision))
        return Judgement(judge=JUDGE, verdicts=(verdict,))

    @staticmethod
    def log(*bodies: EventBody) -> tuple[Event, ...]:
        return tuple(Event(seq=i, at=AT, body=body) for i, body in enumerate(bodies))

    @staticmethod
    def user(
        turn: int,
        checkpoint: int | None = None,
        status: str | None = None,
        stage: int | None = None,
    ) -> UserSpoke:
        reading = CheckpointStatus(status) if status else None
        reply = UserReply(text="…", checkpoint=checkpoint, status=reading, stage=stage)
        return UserSpoke(turn=turn, reply=reply)

    @staticmethod
    def agent(turn: int) -> AgentSpoke:
        return AgentSpoke(turn=turn, reply=AgentReply(text="…"))

    @staticmethod
    def search(
        turn: int,
        step: int = 0,
        keys: tuple[str, ...] | None = None,
        *,
        part: str = "agent",
        ok: bool = True,
    ) -> ToolAnswered:
        """A search; with `keys` one with a hit log, a hit if there are any."""
        hit = (
            None if keys is None else Hit(is_compound=False, hit=bool(keys), matched_fact_keys=keys)
        )
        entries = (SearchEntry(id="1", title="t", content="c"),) if ok else ()
        return ToolAnswered(
            part=part,
            turn=turn,
            step=step,
            call=ToolCall(name="search", arguments={"query": "q"}),
            answer=ToolAnswer(text="…", entries=entries, hit=hit, ok=ok),
        )

    @staticmethod
    def fetch(turn: int, step: int = 0) -> ToolAnswered:
        call = ToolCall(name="open_page", arguments={})
        return ToolAnswered(
            part="agent", turn=turn, step=step, call=call, answer=ToolAnswer(text="page")
        )

    @staticmethod
    def model(
        turn: int, step: int, prompt: int, completion: int, part: str = "agent"
    ) -> ModelReplied:
        usage = Usage(prompt=prompt, completion=completion)
        return ModelReplied(
            part=part, turn=turn, step=step, model="m", reply=ModelReply(usage=usage)
        )

    @staticmethod
    def concluded(answer: str) -> Concluded:
        return Concluded(prediction=AnswerPrediction(answer=answer))


@pytest.fixture
def build() -> type[Build]:
    return Build


@pytest.fixture
def values() -> Callable[..., dict[str, float | None]]:
    """Measures as {name: value}, names checked to be unique."""

    def of(measures) -> dict[str, float | None]:
        names = [measure.name for measure in measures]
        assert len(names) == len(set(names))
        return {measure.name: measure.value for measure in measures}

    return of
