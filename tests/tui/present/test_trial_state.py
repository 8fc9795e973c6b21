"""The Trial screen's state: moments, panes, jumps and notes, without a screen."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

from cuecard.annotate.results.trial_record import OpenedTrial, TrialJudgements
from cuecard.core.engine.events import (
    AgentSpoke,
    Concluded,
    Event,
    EventBody,
    Limits,
    Marked,
    ModelReplied,
    RunState,
    Termination,
    ToolAnswered,
    TrialEnded,
    TrialStarted,
    UserSpoke,
)
from cuecard.core.engine.messages import (
    AgentReply,
    Compaction,
    Hit,
    ModelReply,
    PlayerRef,
    ToolAnswer,
    ToolCall,
    Usage,
    UserReply,
)
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.predictions import PredictedTriple, TriplesPrediction
from cuecard.core.records import RunRecord, TrialNote, TrialRecord
from cuecard.core.tasks.models import Cue, CueKind, Persona, Stage, Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, Verdict
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.transcript import entries_of
from cuecard.tui.present.trial_panes import bar
from cuecard.tui.present.trial_places import (
    MOST,
    JumpHistory,
    Spot,
    Stepping,
    margin,
    my_bookmark,
    next_marked,
)
from cuecard.tui.present.trial_view import PaneName, TrialState, finding_text

AT = datetime(2026, 11, 22, tzinfo=UTC)
AGENT, USER = PlayerRef(name="alpha", kind="react"), PlayerRef(name="sim", kind="persona")
WORLD = PlayerRef(name="closed", kind="closed", baseline=True)
STAGES = (
    Stage(title="Who", cue=Cue(kind=CueKind.START, text="the start"), line="Who?"),
    Stage(title="When", cue=Cue(kind=CueKind.MENTIONS, text="a name"), line="When?"),
)
TASK = Task(
    id="t",
    title="T",
    language="en",
    query="Who and when?",
    persona=Persona(identity="Ann", initial_query="Who?", stages=STAGES),
    gold=Graph(
        triples=(
            Triple(head="espresso", relation="patented by", tail="Moriondo", stage=1),
            Triple(head="espresso", relation="patented in", tail="1884", stage=2),
        )
    ),
)


def _tool(turn: int, step: int, query: str, *keys: str, text: str = "…") -> ToolAnswered:
    answer = ToolAnswer(
        text=text, hit=Hit(is_compound=False, hit=bool(keys), matched_fact_keys=keys)
    )
    call = ToolCall(name="search", arguments={"query": query})
    return ToolAnswered(part="agent", turn=turn, step=step, call=call, answer=answer)


def _model(turn: int, step: int, prompt: int) -> ModelReplied:
    reply = ModelReply(usage=Usage(prompt=prompt), model="m")
    return ModelReplied(part="agent", turn=turn, step=step, model="m", reply=reply)


BODIES: tuple[EventBody, ...] = (
    TrialStarted(task_id="t", revision=1, revision_hash="", agent=AGENT, user=USER, world=WORLD),
    UserSpoke(turn=0, reply=UserReply(text="Who?", stage=1, cue_met=True)),
    _model(0, 0, 100),
    _tool(0, 0, "who", "triple/0", text="Moriondo patented the espresso"),
    _tool(0, 1, "who else"),
    AgentSpoke(turn=0, reply=AgentReply(text="It was Moriondo.")),
    UserSpoke(turn=1, reply=UserReply(text="When?", stage=2, cue_met=True, reason="named him")),
    _model(1, 0, 200),
    Marked(
        part="agent", turn=1, step=0, mark=Compaction(strategy="summary", before=200, limit=150)
    ),
    _tool(1, 0, "when", text="in 1884"),
    AgentSpoke(turn=1, reply=AgentReply(text="In 1884, the espresso.")),
    Concluded(
        prediction=TriplesPrediction(
            triples=(PredictedTriple(head="espresso", relation="by", tail="Moriondo"),)
        )
    ),
    TrialEnded(termination=Termination.USER_DONE),
)
EVENTS = tuple(Event(seq=seq, at=AT, body=body) for seq, body in enumerate(BODIES))


def triple(index: int) -> Item:
    return Item(kind=ItemKind.TRIPLE, index=index)


def judged(name: str, *decisions: Decision) -> Judgement:
    return Judgement(
        judge=PlayerRef(name=name, kind="model"),
        verdicts=tuple(
            Verdict(item=triple(n), decision=decision, supporting=(0,) if n == 0 else ())
            for n, decision in enumerate(decisions)
        ),
    )


def state(
    *judgements: Judgement, notes: tuple[TrialNote, ...] = (), waiting: tuple[Item, ...] = ()
) -> TrialState:
    record = RunRecord(
        id=1, uid="r", name="run", kind="grid", created_by="Ana", created_at=AT, state=RunState.DONE,
        samples=1, limits=Limits(), trials=1, finished=1,
    )  # fmt: skip
    trial = TrialRecord(
        id=1, uid="t", run_id=1, task_id="t", title="T", family="graph", revision=1, agent=AGENT,
        user=USER, world=WORLD, sample=0, seed=0, termination=Termination.USER_DONE, detail="",
        created_at=AT, ended_at=AT, events=len(EVENTS),
    )  # fmt: skip
    opened = OpenedTrial(
        run=record,
        trial=trial,
        task=TASK,
        events=EVENTS,
        left_out=frozenset(),
        waiting=frozenset(waiting),
    )
    found = TrialState(opened, "Ana")
    found.take(TrialJudgements(judgements=judgements, notes=notes))
    return found


def note(place: str, person: str = "Ana", text: str = "") -> TrialNote:
    kind = "comment" if text else "bookmark"
    return TrialNote(
        uid=f"{person}/{place}/{text}",
        trial_id=1,
        person=person,
        kind=kind,
        place=place,
        text=text,
        at=AT,
    )


def lines_of(found: TrialState, pane: str) -> list[str]:
    return [_head(line.entry) for line in found.text(pane).lines]  # pyright: ignore[reportArgumentType]


def _head(entry: Entry) -> str:
    return "".join(piece.text for piece in entry.head)


def test_a_moment_shows_what_the_log_up_to_it_would_show():
    found = state()
    found.stepping = step = Stepping(EVENTS, TASK)
    for at in range(len(EVENTS)):
        step.go_to(at)
        assert list(found.shown_entries) == entries_of(EVENTS[: at + 1], TASK)
    step.go_to(3)
    assert (step.at, step.total, step.seq) == (3, 13, 3)
    steps = []
    for move in (1, 1, 1, -1, -1, -1):
        step.move_said(move)
        steps.append(step.at)
    assert steps == [5, 6, 10, 6, 5, 1]
    step.move(-9)
    assert step.at == 0
    step.move_said(-1)
    step.move(99)
    assert step.at == 12


def test_panes_show_what_there_was_by_the_moment():
    found = state(judged("strict", Decision.YES, Decision.NO))
    assert found.text("stages").note.startswith("2 of 2 stages disclosed")
    assert "turn 2" in lines_of(found, "stages")[1]
    assert found.text("stages").lines[1].seq == 6
    assert found.text("hits").note == "3 tool calls · 1 hit"
    assert "✂ summed up at 200" in "\n".join(lines_of(found, "context"))
    found.stepping = Stepping(EVENTS, TASK, 4)
    assert found.text("stages").note.startswith("1 of 2 stages disclosed")
    assert found.text("stages").lines[1].seq is None
    assert found.text("hits").note == "2 tool calls · 1 hit"
    assert [line.seq for line in found.text("context").lines] == [2, 2]
    assert all(found.text(pane) is not None for pane in get_args(PaneName))


def test_judges_take_turns_and_the_gold_follows_them():
    found = state(
        judged("strict", Decision.YES, Decision.NO), judged("mild", Decision.YES, Decision.YES)
    )
    assert "judge 1 of 2" in found.text("verdicts").note
    assert "✓ 1 covered · ✗ 1 missed" in found.text("gold").note
    assert lines_of(found, "gold")[0].startswith("stage 1 Who")
    found.next_grouping()
    assert lines_of(found, "gold")[0].startswith("patented by")
    found.next_judge()
    assert "judge 2 of 2" in found.text("verdicts").note
    assert "✓ 2 covered · ✗ 0 missed" in found.text("gold").note
    found.next_filter("gold")
    assert found.text("gold").lines == []
    first = found.judgement
    assert first
    assert found.sees(first)
    assert not found.sees(first)


def test_what_is_still_to_be_labelled_stays_covered_until_it_is_asked_for():
    found = state(judged("strict", Decision.YES, Decision.NO), waiting=(triple(1),))
    assert [pane for pane in get_args(PaneName) if found.covers(pane)] == [
        "gold",
        "verdicts",
        "measures",
    ]
    assert "still to label 1" in found.text("verdicts").note
    assert not found.text("verdicts").lines
    cue = Item(kind=ItemKind.CUE, index=1)
    blind = state(judged("strict", Decision.YES), waiting=(cue,))
    assert [pane for pane in get_args(PaneName) if blind.covers(pane)] == ["stages"]
    assert "cue met" not in str(blind.entries)
    assert "named him" not in str(blind.entries)
    blind.uncover()
    assert not any(blind.covers(pane) for pane in get_args(PaneName))
    assert "cue met" in str(blind.entries)


def test_what_others_noted_stays_covered_with_what_was_decided():
    notes = (note("turn/1", text="mine"), note("verdict/triple/1", "Ben", "surely covered"))
    found = state(judged("strict", Decision.YES), notes=notes, waiting=(triple(1),))
    assert found.notes == notes[:1]
    assert found.covers("notes")
    assert "surely" not in str(found.text("notes"))
    found.uncover()
    assert found.notes == notes
    assert "surely" in str(found.text("notes"))
    own = state(judged("strict", Decision.YES), notes=notes[:1], waiting=(triple(1),))
    assert not own.covers("notes")


def test_notes_stand_in_the_order_of_the_trial_and_in_its_margin():
    notes = (
        note("verdict/triple/1", text="gold is wrong"),
        note("turn/1", "Ben", "odd"),
        note("event/3"),
        note("turn/1"),
    )
    found = state(judged("strict", Decision.YES, Decision.NO), notes=notes)
    shown = lines_of(found, "notes")
    assert [line[0] for line in shown] == ["◆", "✎", "◆", "✎"]
    assert shown[0] == "◆ turn 1, call of search"
    assert shown[1] == "✎ turn 2 · Ben · odd"
    assert "espresso — patented in — 1884 · gold is wrong" in shown[3]
    marks = margin(notes, found.seq_of)
    assert marks == {6: "✎", 3: "◆"}
    assert [next_marked(list(marks), now, 1) for now in (-1, 3, 6)] == [3, 6, 3]
    assert [next_marked(list(marks), now, -1) for now in (0, 4, 6)] == [6, 3, 3]
    assert next_marked([], 0, 1) is None
    mine = my_bookmark(notes, "Ana", "turn/1")
    assert mine
    assert my_bookmark(notes, "Ben", "turn/1") is None
    assert found.place_of(found.entries[0]) == "turn/0"
    assert found.place_of(found.entries[1]) == "event/2"


def test_a_finding_begins_with_what_was_seen_and_what_the_judge_said():
    found = state(judged("strict", Decision.YES, Decision.NO))
    line = found.text("verdicts").lines[0]
    assert line.place == "verdict/triple/0"
    assert finding_text(found, line.place, line.entry).split("\n") == [
        "✓ 1. espresso — patented by — Moriondo · stage 1",
        "strict: no reason was given",
        "← espresso — by — Moriondo",
    ]


def test_jumps_come_back_the_way_they_went():
    jumps = JumpHistory()
    assert jumps.back() is None
    for at in range(MOST + 5):
        jumps.leave(Spot("hits", at, 0, 0))
        jumps.leave(Spot("hits", at, 0, 0))
    assert len(jumps) == MOST
    assert jumps.back() == Spot("hits", MOST + 4, 0, 0)
    assert len(jumps) == MOST - 1


def test_bars_are_as_long_as_their_share():
    assert bar(0, 4) == "    "
    assert bar(0.0001, 4) == "▏   "
    assert bar(0.5, 4) == "██  "
    assert bar(0.59375, 4) == "██▍ "
    assert bar(2, 4) == "████"
