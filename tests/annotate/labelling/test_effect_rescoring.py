"""People's decisions in place of the judge's: what follows for one trial."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.labelling.effect_rescoring import (
    Rescored,
    SettledLabel,
    overruled,
    reread,
    rescore,
)
from cuecard.core.engine.events import Concluded, Event, TrialEnded, UserSpoke
from cuecard.core.engine.messages import CheckpointStatus, PlayerRef, UserReply
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.score import score_table
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.models import Task
from cuecard.core.verdicts import Decision, Item, ItemKind, Judgement, TableMatch, Verdict
from effect_runs import JUDGE, gold, judgement
from judged_trials import PLAYER, ending, graph_task, triples

AT = datetime(2026, 1, 1, tzinfo=UTC)
YES, NO = Decision.YES, Decision.NO
STATES = st.text(alphabet="yn", min_size=1, max_size=8)


def trial_of(states: str, said: dict[str, SettledLabel]) -> Rescored:
    count = len(states)
    record = TrialRecord(
        id=1,
        run_id=1,
        task_id="t",
        revision=1,
        title="T",
        family="graph",
        agent=PlayerRef(name="a", kind="offline"),
        user=PLAYER,
        world=PLAYER,
        sample=0,
        seed=0,
        termination=None,
        detail="",
        created_at=AT,
        ended_at=None,
        events=3,
    )
    events = [
        Event(seq=n, at=AT, body=body) for n, body in enumerate(ending(triples(*gold(count))))
    ]
    task = graph_task(gold=gold(count))
    found = rescore(record, task, events, judgement(states), said)
    # Where the judge's measures are known, what was handed in is enough.
    end = [event for event in events if isinstance(event.body, Concluded | TrialEnded)]
    assert rescore(record, task, end, judgement(states), said, found.judge) == found
    return found


def values(measures) -> dict[str, float | None]:
    return {measure.name: measure.value for measure in measures}


@settings(max_examples=examples(30))
@given(STATES, st.data())
def test_labels_like_the_judges_change_nothing(states: str, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(states) - 1)))
    said = {f"triple/{n}": SettledLabel(value=YES if states[n] == "y" else NO) for n in chosen}
    said |= {f"predicted/{n}": SettledLabel(value=YES if states[n] == "y" else NO) for n in chosen}
    found = trial_of(states, said)
    assert found.people == found.judge
    assert len(found.settled) == 2 * len(chosen)
    assert not any(item.changed for item in found.settled)


@settings(max_examples=examples(30))
@given(STATES)
def test_all_labels_against_the_judge_turn_recall_round(states: str) -> None:
    said = {
        f"triple/{n}": SettledLabel(value=NO if s == "y" else YES) for n, s in enumerate(states)
    }
    found = trial_of(states, said)
    judge, people = values(found.judge), values(found.people)
    assert people["triplet_recall"] == pytest.approx(1 - (judge["triplet_recall"] or 0))
    # Nothing is known to support what only people hold for covered.
    assert people["triplet_precision"] == 0
    assert sum(item.no_support for item in found.settled) == states.count("n")


def test_labels_that_fit_no_item_are_left_out() -> None:
    strange = {
        "triple/9": SettledLabel(value=NO),
        "cell/0/Year": SettledLabel(value=NO),
        "cue/1": SettledLabel(value=NO),
        "triple/0": SettledLabel(value=CheckpointStatus.SEARCH_ONLY),
        "triple/1": SettledLabel(value=None),
    }
    found = trial_of("yy", strange)
    assert found.people == found.judge
    assert not found.settled
    assert [item.key for item in found.open] == ["triple/1"]


TABLE = Table.model_validate(
    {
        "columns": [{"name": "key"}, {"name": "x"}, {"name": "y"}],
        "unique_columns": ["key"],
        "rows": [["a", "1", "2"], ["b", "3", "4"], ["c", "5", "6"]],
    }
)
TASK = Task(id="t", title="T", language="en", query="Q?", gold=TABLE)


def laid(predicted: int = 3) -> Judgement:
    """Row a right, row b half right, row c without a partner."""
    states = {0: (YES, YES, YES), 1: (YES, YES, NO), 2: (NO, NO, NO)}
    return Judgement(
        judge=JUDGE,
        verdicts=tuple(
            Verdict(item=Item(kind=ItemKind.CELL, index=row, column=name), decision=decision)
            for row, found in states.items()
            for name, decision in zip(TABLE.column_names, found, strict=True)
        ),
        table=TableMatch(usable=True, predicted_rows=predicted, joined=((0, 0), (1, 1))),
    )


def scored(said: dict[str, Decision], predicted: int = 3) -> dict[str, float | None]:
    return values(score_table(TABLE, overruled(TASK, laid(predicted), said)))


def test_cells_move_items_and_rows() -> None:
    before = scored({})
    assert (before["item_recall"], before["row_recall"]) == (5 / 9, 1 / 3)
    after = scored({"cell/1/y": YES, "cell/0/x": NO})
    assert (after["item_recall"], after["row_recall"]) == (5 / 9, 1 / 3)


def test_a_covered_cell_gives_its_row_a_partner_while_there_is_one() -> None:
    # The key of a row that has a partner is right.
    assert scored({"cell/2/x": YES})["item_recall"] == 7 / 9
    assert scored({"cell/2/x": YES}, predicted=2)["item_recall"] == 5 / 9


def test_a_key_that_is_not_there_takes_the_partner_away() -> None:
    assert scored({"cell/1/key": NO})["item_recall"] == 3 / 9
    assert scored({"cell/1/key": NO, "cell/1/x": YES})["item_recall"] == 5 / 9


def test_a_right_row_has_right_cells_and_a_wrong_one_unknown_ones() -> None:
    right = scored({"row/1": YES})
    assert (right["item_recall"], right["row_recall"]) == (6 / 9, 2 / 3)
    wrong = scored({"row/0": NO})
    assert (wrong["item_recall"], wrong["row_recall"]) == (5 / 9, 0)
    whole = scored({"row/1": YES, "row/2": YES})
    assert (whole["success"], whole["row_f1"]) == (1, 1)


def test_statuses_are_read_as_people_read_them() -> None:
    found = CheckpointStatus.AMBIGUITY_DETECTED
    bodies = [
        UserSpoke(turn=1, reply=UserReply(text="…", status=CheckpointStatus.SEARCH_ONLY)),
        UserSpoke(turn=3, reply=UserReply(text="…")),
    ]
    events = [Event(seq=n, at=AT, body=body) for n, body in enumerate(bodies)]
    changed = reread(events, {1: found, 3: found, 5: found})
    statuses = [e.body.reply.status for e in changed if isinstance(e.body, UserSpoke)]
    assert statuses == [found, None]
