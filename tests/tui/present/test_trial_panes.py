"""Lines of the panes beside a transcript, of every family."""

from __future__ import annotations

from cuecard.annotate.results.trial_against_gold import (
    AnswerAgainst,
    CellAgainst,
    ExtraRow,
    FactResult,
    RowAgainst,
    TableAgainst,
)
from cuecard.annotate.results.trial_disclosure import (
    CueEvidence,
    Reading,
    StageSeen,
    StepSeen,
    UnmetTurn,
)
from cuecard.annotate.results.trial_record import HitEntry, HitLog, Matched
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef
from cuecard.core.families.checkpoints.gold import (
    Ambiguity,
    AmbiguityType,
    Checkpoint,
    CheckpointChain,
)
from cuecard.core.families.facts.gold import Fact, FactWorld
from cuecard.core.scoring.trial_score import Tally
from cuecard.core.tasks.models import Cue, CueKind, Stage, Task
from cuecard.core.verdicts import Decision
from cuecard.tui.present.trial_gold import answer_text, table_view, tally_words
from cuecard.tui.present.trial_panes import PaneText, hits_text, stages_text, steps_text

USER = PlayerRef(name="sim", kind="persona", model="m-7b")


def heads(text: PaneText) -> list[str]:
    return ["".join(piece.text for piece in line.entry.head) for line in text.lines]


def bodies(text: PaneText) -> list[str]:
    return [paragraph.text for line in text.lines for paragraph in line.entry.body]


def test_stages_tell_who_decided_on_which_words_after_which_pushes():
    stages = [
        Stage(title=name, cue=Cue(kind=CueKind.ASKS, text="asks"), line="Say it.", not_met="Push.")
        for name in ("Who", "When")
    ]
    seen = [
        StageSeen(
            number=1,
            turn=2,
            seq=9,
            cue_met=True,
            edited=True,
            reason="named",
            met=CueEvidence(text="It was he.", how="evidence", seq=8),
            pushes=(UnmetTurn(turn=1, seq=5, reason="not yet"),),
        ),
        StageSeen(number=2),
    ]
    text = stages_text(stages, seen, USER)
    assert text.note == "1 of 2 stages disclosed · decided by sim (m-7b)"
    assert heads(text) == [
        "✓ 1 Who · turn 3 · line edited · 1 push before",
        "    ✗ pushed · turn 2: not yet",
        "· 2 When",
    ]
    assert bodies(text) == ["pointed at: “It was he.”", "reason: named"]
    assert [(line.seq, line.place) for line in text.lines] == [
        (9, "stage/1"),
        (5, "stage/1"),
        (None, "stage/2"),
    ]
    assert "user asks once" in stages_text((), (), USER).note


def test_the_ladder_tells_readings_and_where_the_clue_was_released():
    ambiguity = Ambiguity(
        type=AmbiguityType.VERSION, logic="two", candidates=("a", "b"), clue="the first"
    )
    chain = CheckpointChain(
        opening="Which?",
        steps=(
            Checkpoint(question="one", target="a", ambiguity=ambiguity),
            Checkpoint(question="two", target="c"),
        ),
        final_answer="c",
    )
    right, wrong = CheckpointStatus.AMBIGUITY_DETECTED, CheckpointStatus.WRONG_ANSWER
    met = CueEvidence(text="a or b?", how="reply", seq=3)
    seen = [
        StepSeen(
            index=0,
            readings=(
                Reading(turn=1, seq=4, status=right, reason="", met=met, searches=2),
                Reading(
                    turn=2, seq=6, status=wrong, reason="it is a", met=CueEvidence(), searches=0
                ),
            ),
            clue_seq=4,
        ),
        StepSeen(index=1),
    ]
    text = steps_text(chain, seen, None)
    assert text.note == "0 of 2 checkpoints passed"
    assert heads(text) == [
        "✗ 1 one · ambiguous: which version",
        "    ✓ asked rightly · turn 2 · 2 searches · clue released",
        "    ✗ wrong answer · turn 3",
        "· 2 two",
    ]
    assert bodies(text) == ["after: “a or b?”", "reason: it is a"]


def test_hits_tell_new_facts_from_known_ones_and_what_was_found_by_then():
    world = FactWorld(facts=(Fact(key="fare", value="130"), Fact(key="fee", value="9")), answer="1")
    task = Task(id="t", title="T", language="en", query="?", gold=world)

    def entry(call: int, turn: int, matched: tuple[Matched, ...], found: int) -> HitEntry:
        return HitEntry(
            call=call, seq=call, turn=turn, tool="search", query=f"q{call}", ok=True,
            hit=bool(matched), compound=call == 3, matched=matched, reason="", found=found,
        )  # fmt: skip

    fare = Matched(key="fare", first=True, known=True)
    again = Matched(key="fare", first=False, known=True)
    log = HitLog(
        facts=2, entries=(entry(1, 0, (fare,), 1), entry(2, 1, (again,), 1), entry(3, 1, (), 1))
    )
    text = hits_text(task, log)
    assert text.note == "3 tool calls · 2 hits · 1 of 2 facts found (FCR 0.50)"
    assert heads(text) == [
        "turn 1 · 1 tool call · 1 hit",
        "✓ 1. q1 · + fare · 1/2 = 0.50",
        "turn 2 · 2 tool calls · 1 hit",
        "✓ 2. q2 · fare again",
        "✗ 3. q3 · compound",
    ]
    assert hits_text(task, HitLog(facts=2, entries=())).note == "The agent called no tool."
    logged = ("triple/0", "cell/3/Year", "checkpoint/1", "checkpoint/1/readings", "checkpoint/x")
    found = tuple(Matched(key=key, first=True, known=True) for key in logged)
    assert heads(hits_text(task, HitLog(facts=2, entries=(entry(1, 0, found, 1),))))[-1].startswith(
        "✓ 1. q1 · + triple 1 · + row 4, Year · + step 2 · + step 2, its readings · + checkpoint/x"
    )


def test_an_answer_stands_below_the_right_one_and_above_the_facts():
    facts = (
        FactResult(key="fare", value="130", rule=False, call=None, seq=None),
        FactResult(key="law", value="half", rule=True, call=4, seq=11),
    )
    against = AnswerAgainst(
        gold="139",
        also=("139 euros",),
        given="130",
        decision=Decision.NO,
        rationale="another",
        facts=facts,
    )
    text = answer_text(against)
    assert text.note == "1 of 2 facts found"
    assert heads(text) == [
        "GOLD   139",
        "GIVEN  ✗ 130",
        "✗ fare: 130 · never found",
        "✓ law: half · rule · found by call 4",
    ]
    nothing = against.model_copy(update={"given": None, "reason": "no JSON", "raw": "Here is"})
    assert heads(answer_text(nothing))[1:3] == [
        "GIVEN  ✗ no answer was handed in",
        "✗ nothing usable: no JSON",
    ]


def test_a_table_shows_each_cell_missing_rows_and_extra_ones():
    yes, no = Decision.YES, Decision.NO
    against = TableAgainst(
        columns=("State", "Capital"),
        keys=(0,),
        rows=(
            RowAgainst(
                index=0,
                key="Ohio",
                partner=1,
                cells=(
                    CellAgainst(gold="Ohio", given="ohio", decision=yes),
                    CellAgainst(gold="Columbus", given="Cleveland", decision=no, rationale="other"),
                ),
            ),
            RowAgainst(
                index=1,
                key="Utah",
                partner=None,
                cells=(
                    CellAgainst(gold="Utah", given=None, decision=no),
                    CellAgainst(gold="Salt Lake City", given=None, decision=no),
                ),
            ),
        ),
        extra=(ExtraRow(index=0, cells=("Iowa", "Des Moines")),),
        predicted=2,
        usable=True,
    )
    view = table_view(against, "all")
    assert [[cell.text for cell in row] for row in view.rows] == [
        ["✓ Ohio", "✗ Cleveland"],
        ["✗ Utah", "✗ –"],
        ["+ Iowa", "+ Des Moines"],
    ]
    assert view.note == (
        "2 rows handed in, 2 in the gold · 1 row missed · 1 row extra\ncells: ✓ 1 covered · ✗ 3 missed"
    )
    wrong = ["".join(piece.text for piece in line) for line in view.rows[0][1].detail]
    assert wrong == ["Ohio · Capital  ✗", "GOLD   Columbus", "GIVEN  Cleveland", "other"]
    assert [len(table_view(against, shown).rows) for shown in ("no", "yes", "extra")] == [2, 0, 1]
    item = view.rows[0][1].item
    assert item
    assert item.key == "cell/0/Capital"
    assert tally_words(Tally(yes=1, no=2, unjudged=3), 4) == (
        "✓ 1 covered · ✗ 2 missed · + 4 extra · ? 3 not judged"
    )
