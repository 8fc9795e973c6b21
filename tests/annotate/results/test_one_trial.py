"""One trial read closely: every answer here was counted by hand from the events above it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cuecard.annotate.results.trial_against_gold import (
    AnswerAgainst,
    GraphAgainst,
    TableAgainst,
    against_gold,
)
from cuecard.annotate.results.trial_disclosure import (
    EffectiveLog,
    parts_of,
    seq_of,
    stage_until,
    stages_seen,
    steps_seen,
)
from cuecard.annotate.results.trial_record import HitLog, context_size, hit_log
from cuecard.core.engine.events import (
    AgentSpoke,
    Event,
    EventBody,
    Marked,
    ModelReplied,
    ToolAnswered,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    CheckpointStatus,
    Compaction,
    Evidence,
    Hit,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.families.graph.gold import Graph, Node, Triple
from cuecard.core.families.table.gold import Column, Table
from cuecard.core.predictions import (
    AnswerPrediction,
    PredictedTriple,
    TablePrediction,
    TriplesPrediction,
    UnusablePrediction,
)
from cuecard.core.scoring.trial_score import Tally
from cuecard.core.tasks.models import Cue, CueKind, Stage, Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict

JUDGE = PlayerRef(name="strict", kind="model")
NO_HITS = HitLog(facts=None, entries=())


def log(*bodies: EventBody) -> tuple[Event, ...]:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    return tuple(Event(seq=seq, at=at, body=body) for seq, body in enumerate(bodies))


def task_of(gold: Graph | Table | CheckpointChain | FactWorld) -> Task:
    return Task(id="t", title="T", language="en", query="What?", gold=gold)


def user(turn: int, text: str = "Hm.", **reply: object) -> UserSpoke:
    return UserSpoke(turn=turn, reply=UserReply.model_validate({"text": text, **reply}))


def agent(turn: int, text: str) -> AgentSpoke:
    return AgentSpoke(turn=turn, reply=AgentReply(text=text))


def asked(
    turn: int, query: str, *keys: str, hit: bool | None = None, text: str = "…", part: str = "agent"
) -> ToolAnswered:
    found = bool(keys) if hit is None else hit
    record = Hit(is_compound=query.count(",") > 0, hit=found, matched_fact_keys=keys)
    call = ToolCall(name="search", arguments={"query": query})
    return ToolAnswered(
        part=part, turn=turn, step=0, call=call, answer=ToolAnswer(text=text, hit=record)
    )


def called(turn: int, prompt: int, part: str = "agent", scope: str = "") -> ModelReplied:
    reply = ModelReply(usage=Usage(prompt=prompt, completion=5), model="m")
    return ModelReplied(part=part, turn=turn, step=0, model="m", reply=reply, scope=scope)


def verdict(item: Item, decision: Decision, *supporting: int) -> Verdict:
    return Verdict(item=item, decision=decision, supporting=supporting, rationale="so")


WORLD = FactWorld(
    facts=(Fact(key="fare", value="130", unit="euros"), Fact(key="fee", value="9")), answer="139"
)


def test_the_hit_log_tells_new_facts_from_known_ones_and_divides_by_the_worlds():
    found = hit_log(
        task_of(WORLD),
        log(
            user(0),
            asked(0, "fare", "fare"),
            asked(0, "fare again", "fare"),
            asked(0, "fare, fee", hit=False),
            asked(0, "elsewhere", "no such fact"),
            asked(0, "not the agent's", "fee", part="user"),
            agent(0, "…"),
            asked(1, "fee", "fee"),
        ),
    )
    assert [entry.call for entry in found.entries] == [1, 2, 3, 4, 5]
    assert [entry.seq for entry in found.entries] == [1, 2, 3, 4, 7]
    assert [entry.fresh for entry in found.entries] == [1, 0, 0, 0, 1]
    assert [found.coverage(entry) for entry in found.entries] == [0.5, 0.5, 0.5, 0.5, 1.0]
    assert [entry.compound for entry in found.entries] == [False, False, True, False, False]
    assert not found.entries[3].matched[0].known
    assert (found.hits, found.found, found.facts) == (4, 2, 2)
    early = found.until(6)
    assert (early.hits, early.found, len(early.entries)) == (3, 1, 4)


STAGES = (
    Stage(title="Who", cue=Cue(kind=CueKind.START, text="the start"), line="Who?"),
    Stage(
        title="When",
        cue=Cue(kind=CueKind.MENTIONS, text="a name", terms=("Moriondo",)),
        line="When?",
    ),
    Stage(title="Where", cue=Cue(kind=CueKind.ASKS, text="asks"), line="Where?"),
    Stage(title="Why", cue=Cue(kind=CueKind.ASKS, text="asks"), line="Why?"),
)


def test_a_stage_tells_when_it_was_disclosed_by_which_words_and_after_which_pushes():
    evidence = Evidence(start=0, end=9, text="the place")
    events = log(
        user(0, "Who?", stage=1, cue_met=True),
        agent(0, "I am not sure. What else?"),
        user(1, cue_met=False, reason="no name yet"),
        agent(1, "Well. It was Angelo Moriondo. Fine?"),
        user(2, "When?", stage=2, cue_met=True, reason="named him"),
        agent(2, "the place I want to know"),
        user(3, "Where?", stage=3, cue_met=True, evidence=evidence),
    )
    who, when, where, why = stages_seen(STAGES, events)
    assert (who.turn, who.seq, who.met.how, who.pushes) == (0, 0, "", ())
    assert (when.turn, when.seq, when.reason) == (2, 4, "named him")
    assert (when.met.text, when.met.how, when.met.seq) == ("It was Angelo Moriondo.", "terms", 3)
    assert [(push.turn, push.seq, push.reason) for push in when.pushes] == [(1, 2, "no name yet")]
    assert (where.met.text, where.met.how) == ("the place", "evidence")
    assert (why.turn, why.seq, why.pushes) == (None, None, ())
    before = stage_until(when, 3)
    assert (before.turn, len(before.pushes), len(stage_until(when, 1).pushes)) == (None, 1, 0)


def test_a_checkpoint_tells_its_readings_its_clue_and_when_it_was_passed():
    ambiguity = Ambiguity(
        type=AmbiguityType.ENTITY, logic="two", candidates=("a", "b"), clue="the first"
    )
    chain = CheckpointChain(
        opening="Which?",
        steps=(
            Checkpoint(question="one", target="a", ambiguity=ambiguity),
            Checkpoint(question="two", target="c"),
        ),
        final_answer="c",
    )
    status = CheckpointStatus
    first, second = steps_seen(
        chain,
        log(
            user(0, "Which?"),
            asked(0, "x"),
            asked(0, "y"),
            agent(0, "a or b?"),
            user(1, "the first", checkpoint=0, status=status.AMBIGUITY_DETECTED),
            agent(1, "a"),
            user(2, checkpoint=0, status=status.CORRECT_ANSWER),
            agent(2, "c"),
            user(3, status=status.TASK_COMPLETED, done=True),
        ),
    )
    assert [(r.turn, r.seq, r.searches) for r in first.readings] == [(1, 4, 2), (2, 6, 0)]
    assert (first.clue_seq, first.advanced_seq) == (4, 6)
    assert first.readings[0].met.text == "a or b?"
    assert (second.clue_seq, second.advanced_seq, len(second.readings)) == (None, 8, 1)
    then = first.until(5)
    assert (then.clue_seq, then.advanced_seq, len(then.readings)) == (4, None, 1)


def test_context_counts_the_agents_calls_and_what_a_cut_left():
    cut = Marked(
        part="agent",
        turn=1,
        step=0,
        mark=Compaction(strategy="summary", before=900, limit=800, kept=4),
    )
    sizes = context_size(
        log(
            called(0, 400),
            called(0, 50, part="user"),
            called(0, 60, scope="tool/0/"),
            called(1, 900),
            cut,
            called(1, 70, scope="member/1/"),
            called(1, 300),
            called(0, 350, part="conclusion"),
        )
    )
    assert [(c.number, c.seq, c.prompt) for c in sizes.calls] == [
        (1, 0, 400),
        (2, 3, 900),
        (3, 5, 70),
        (4, 6, 300),
        (5, 7, 350),
    ]
    assert [(c.seq, c.before, c.after) for c in sizes.cuts] == [(4, 900, 300)]
    assert (sizes.largest, sizes.limit) == (900, 800)
    assert (len(sizes.until(3).calls), sizes.until(3).cuts) == (2, ())


GRAPH = Graph(
    nodes=(Node(id="am", name="Angelo Moriondo", aliases=("Moriondo",)),),
    triples=(
        Triple(head="espresso", relation="patented by", tail="am"),
        Triple(head="am", relation="born in", tail="1851"),
        Triple(head="am", relation="died in", tail="1914"),
    ),
)
HANDED_IN = TriplesPrediction(
    triples=(
        PredictedTriple(head="espresso", relation="invented by", tail="A. Moriondo"),
        PredictedTriple(head="Moriondo", relation="Born in", tail="1900"),
        PredictedTriple(head="Moriondo", relation="lived in", tail="Turin"),
    )
)


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def test_triples_are_covered_missed_and_extra_by_relation_and_stage():
    judgement = Judgement(
        judge=JUDGE,
        verdicts=(
            verdict(triple(0), Decision.YES, 0, 77),
            # What is named for a triple that is not covered supports nothing.
            verdict(triple(1), Decision.NO, 1),
        ),
    )
    found = against_gold(task_of(GRAPH), HANDED_IN, judgement, NO_HITS)
    assert isinstance(found, GraphAgainst)
    assert found.tally == Tally(yes=1, no=1, unjudged=1)
    assert [t.supporting for t in found.gold] == [(0,), (1,), ()]
    assert [t.index for t in found.extra] == [1, 2]
    by = [(g.key, len(g.gold), len(g.extra)) for g in found.grouped("relation")]
    assert by == [("born in", 1, 1), ("died in", 1, 0), ("patented by", 1, 0), ("lived in", 0, 1)]
    assert [(g.key, len(g.gold), len(g.extra)) for g in found.grouped("stage")] == [(None, 3, 2)]

    nobody = against_gold(task_of(GRAPH), HANDED_IN, None, NO_HITS)
    assert isinstance(nobody, GraphAgainst)
    assert (nobody.tally.unjudged, nobody.extra) == (3, ())
    broken = UnusablePrediction(reason="no JSON", raw="Here is")
    unusable = against_gold(task_of(GRAPH), broken, judgement, NO_HITS)
    assert isinstance(unusable, GraphAgainst)
    assert (unusable.predicted, unusable.reason, unusable.raw) == (None, "no JSON", "Here is")


def test_a_table_is_laid_row_by_row_and_cell_by_cell():
    table = Table(
        columns=(Column(name="State"), Column(name="Capital")),
        unique_columns=("State",),
        rows=(("Ohio", "Columbus"), ("Utah", "Salt Lake City"), ("ohio", "again")),
    )
    prediction = TablePrediction(
        columns=("capital", "state"),
        rows=(("Lansing", "Michigan"), ("Cleveland", "Ohio"), ("Columbus", "OHIO")),
    )
    cell = [Item(kind=ItemKind.CELL, index=0, column=name) for name in table.column_names]
    gone = [Item(kind=ItemKind.CELL, index=1, column=name) for name in table.column_names]
    judgement = Judgement(
        judge=JUDGE,
        verdicts=(
            verdict(cell[0], Decision.YES, 1),
            verdict(cell[1], Decision.NO, 1),
            *(verdict(item, Decision.NO) for item in gone),
        ),
        table=TableMatch(usable=True, predicted_rows=2, joined=((0, 1),)),
    )
    found = against_gold(task_of(table), prediction, judgement, NO_HITS)
    assert isinstance(found, TableAgainst)
    ohio, utah, again = found.rows
    assert [(c.gold, c.given, c.decision.value) for c in ohio.cells] == [
        ("Ohio", "Ohio", "yes"),
        ("Columbus", "Cleveland", "no"),
    ]
    assert (ohio.partner, utah.partner, again.repeats) == (1, None, True)
    assert [c.given for c in utah.cells] == [None, None]
    assert [(row.index, row.cells, row.repeats) for row in found.extra] == [
        (0, ("Michigan", "Lansing"), False),
        (2, ("OHIO", "Columbus"), True),
    ]
    assert (found.tally, found.missed, found.predicted) == (Tally(yes=1, no=3), 1, 3)


def test_an_answer_stands_beside_the_right_one_and_the_facts_that_were_found():
    events = log(user(0), asked(0, "fee", "fee"))
    task = task_of(WORLD)
    item = Item(kind=ItemKind.ANSWER)
    judgement = Judgement(judge=JUDGE, verdicts=(verdict(item, Decision.NO),))
    found = against_gold(task, AnswerPrediction(answer="130"), judgement, hit_log(task, events))
    assert isinstance(found, AnswerAgainst)
    assert (found.gold, found.given, found.decision) == ("139", "130", Decision.NO)
    assert [(f.key, f.value, f.call, f.seq) for f in found.facts] == [
        ("fare", "130 euros", None, None),
        ("fee", "9", 1, 1),
    ]


def test_an_item_is_found_where_all_of_it_was_first_named_else_where_its_end_was():
    events = log(
        user(0, "Moriondo was born in 1851?"),
        asked(0, "x", text="Moriondo had a hotel. Postcode 18510."),
        agent(0, "Espresso: patented by MORIONDO."),
        asked(1, "y", text="The year 1914 came."),
        agent(1, "In 1851 Angelo Moriondo was born."),
    )
    task, effective = task_of(GRAPH), EffectiveLog(events)

    def found(index: int) -> tuple[int, bool, bool]:
        place = effective.first(parts_of(task, triple(index), HANDED_IN))
        assert place
        return place.seq, place.said, place.whole

    assert [found(0), found(1), found(2)] == [(2, True, True), (4, True, True), (3, False, False)]
    alone = effective.first(parts_of(task, triple(1), HANDED_IN), until=3)
    assert alone
    assert (alone.seq, alone.terms, alone.whole) == (1, ("moriondo",), False)
    assert effective.first([("Fiat",)]) is None
    items = [(triple(n), parts_of(task, triple(n), HANDED_IN)) for n in range(3)]
    assert effective.items_in({1, 2}, items) == (triple(0),)
    assert effective.items_in({3, 4}, items) == (triple(1), triple(2))


@pytest.mark.parametrize(
    ("place", "seq"),
    [
        ("event/1", 1),
        ("event/9", None),
        ("turn/1", 2),
        ("stage/2", 2),
        ("stage/3", None),
        ("", None),
    ],
)
def test_a_place_is_at_an_event(place, seq):
    events = log(user(0, stage=1), agent(0, "Moriondo"), user(1, stage=2, cue_met=True))
    assert seq_of(place, events, stages_seen(STAGES, events)) == seq
