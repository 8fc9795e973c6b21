"""Why trials fail: each cause by hand, in its order."""

from __future__ import annotations

import pytest

from cuecard.annotate.families.registry import Cause
from cuecard.annotate.results.errors.causes import (
    CAUSE_WORDS,
    MACHINERY,
    cause_of,
    cause_tables,
    clusters,
    details,
    failed,
    masked,
)
from cuecard.annotate.results.pool import Row
from cuecard.core.engine.events import Termination
from cuecard.core.families.checkpoints.score import StepRecord
from cuecard.core.scoring.trial_score import FactFigures, StepFigures, TableFigures, Tally
from result_rows import pool, row


def said(found: Row, detail: str) -> Row:
    return found.of_trial(found.trial._replace(detail=detail))


def steps(*told: tuple[bool, int, int, bool]) -> tuple[StepFigures, ...]:
    """(ambiguous, asks, right asks, advanced) of each reached checkpoint."""
    return tuple(
        StepFigures(
            record=StepRecord(n, ambiguous, 1, asks, right, 0 if asks else None, advanced),
            ambiguity="entity" if ambiguous else "",
        )
        for n, (ambiguous, asks, right, advanced) in enumerate(told)
    )


def of_graph(precision: float, recall: float, f1: float = 0.3, **more) -> Row:
    found = {"triplet_f1": f1, "triplet_precision": precision, "triplet_recall": recall}
    return row("a", "t", found, **more)


def of_table(usable: bool, gold: int, predicted: int, joined: int, wrong: int, **more) -> Row:
    columns = {"Year": Tally(yes=1, no=wrong), "Town": Tally(yes=1)}
    table = TableFigures(
        usable=usable,
        reason="",
        gold_rows=gold,
        predicted_rows=predicted,
        joined=joined,
        columns=columns,
    )
    return row("a", "t", {"success": 0}, family="table", handed_in="table", table=table, **more)


def of_steps(cp: float, *told: tuple[bool, int, int, bool], acc: float | None = 0) -> Row:
    found = {"acc": acc, "cp": cp}
    return row("a", "t", found, family="checkpoints", handed_in="answer", steps=steps(*told))


def of_facts(fcr: float, *fresh: int, calls: int = 0) -> Row:
    found = {"pass_at_1": 0, "fcr": fcr, "tool_calls": calls or len(fresh)}
    searched = FactFigures(facts=4, hits=tuple(map(bool, fresh)), fresh=fresh)
    return row("a", "t", found, family="facts", handed_in="answer", searched=searched)


@pytest.mark.parametrize(
    ("found", "cause"),
    [
        (of_graph(0.5, 0.2), Cause.TOO_LITTLE),
        (of_graph(0.3, 0.3), Cause.TOO_LITTLE),
        (of_graph(0.2, 0.5), Cause.TOO_MUCH),
        (of_graph(0.5, 0.5, f1=0.5), None),
        (of_graph(0, 0, handed_in="unusable"), Cause.FORMAT_FAILURE),
        (of_graph(0, 0, handed_in="nothing"), Cause.NOTHING_HANDED_IN),
        (of_graph(0, 0, handed_in="table"), Cause.FORMAT_FAILURE),
        (of_graph(0.5, 0.2, termination=Termination.MAX_TURNS), Cause.OUT_OF_TURNS),
        (of_graph(0, 0, handed_in="nothing", termination=Termination.API_ERROR), Cause.API_ERROR),
        # What it reached before it failed was enough.
        (of_graph(0.9, 0.9, f1=0.9, termination=Termination.CANCELLED), None),
        (of_graph(0, 0, termination=None), None),
        (row("a", "t", None), Cause.UNJUDGED),
        (row("a", "t", {"triplet_f1": None}), Cause.UNJUDGED),
        (row("a", "t", None, termination=Termination.ERROR_LOOP), Cause.ERROR_LOOP),
        (of_table(usable=False, gold=4, predicted=0, joined=0, wrong=0), Cause.COLUMNS_UNMAPPED),
        # Two columns besides the key: a missing row costs as much as two wrong cells.
        (of_table(usable=True, gold=4, predicted=3, joined=3, wrong=2), Cause.MISSING_ROWS),
        (of_table(usable=True, gold=4, predicted=3, joined=3, wrong=3), Cause.WRONG_CELLS),
        (of_table(usable=True, gold=4, predicted=6, joined=4, wrong=1), Cause.TOO_MUCH),
        (of_steps(0.5, (False, 0, 0, True), (True, 0, 0, False)), Cause.GUESSED),
        (of_steps(0.5, (True, 2, 0, False)), Cause.ASKED_WRONGLY),
        (of_steps(0.5, (True, 2, 1, False), (True, 0, 0, False)), Cause.NEVER_FOUND),
        (of_steps(0.5, (False, 0, 0, False)), Cause.NEVER_FOUND),
        (of_steps(0.5, (True, 0, 0, True)), Cause.STOPPED_EARLY),
        (of_steps(1, (True, 0, 0, True)), Cause.WRONG_ANSWER),
        (of_steps(0.5, (True, 0, 0, False), acc=1), None),
        (of_steps(0.5, (True, 0, 0, False), acc=None), Cause.UNJUDGED),
        (of_facts(1, 2, 2), Cause.WRONG_ANSWER),
        (of_facts(0.25, 1, 0, 0, 0), Cause.NEVER_FOUND),
        (of_facts(0.5, 0, 1, 0, 1), Cause.STOPPED_EARLY),
        (of_facts(0.25, 1, 0, 0), Cause.STOPPED_EARLY),
        (of_facts(0.5, 1, calls=90), Cause.NEVER_FOUND),
        (of_facts(0), Cause.STOPPED_EARLY),
    ],
)
def test_one_cause_for_each_failed_trial(found: Row, cause: Cause | None):
    assert cause_of(found) is cause
    short = failed(found)
    assert (short is True) == (cause not in (None, Cause.UNJUDGED))
    if cause is Cause.UNJUDGED:
        assert short is None


def test_every_cause_has_words():
    assert set(CAUSE_WORDS) == set(Cause)
    assert set(MACHINERY) == {end for end in Termination if end.is_failure}


def sample_rows() -> list[Row]:
    little = {"triplet_f1": 0.2, "triplet_precision": 0.5, "triplet_recall": 0.1}
    fine = {"triplet_f1": 0.9}
    return [
        row("a", "t1", little, domain="x"),
        row("a", "t1", little, 1, domain="x"),
        row("a", "t2", fine, domain="y"),
        said(
            row("a", "t3", None, domain="y", termination=Termination.API_ERROR), "HTTP 503, try 2"
        ),
        row("a", "t4", None, domain="y"),
        row("a", "t5", None, domain="y", termination=None),
        row("b", "t1", little, domain="x"),
        said(
            row("b", "t2", None, domain="y", termination=Termination.API_ERROR), "HTTP 500, try 11"
        ),
    ]


def test_clusters_by_hand():
    rows = sample_rows()
    ids = [each.trial.id for each in rows]
    told = [(c.cause, c.count, c.rate.of, c.examples) for c in clusters(pool(*rows))]
    # Of six that failed or did not; the one that is not judged is beside them, of seven that ended.
    assert told == [
        (Cause.TOO_LITTLE, 3, 6, (ids[0],)),
        (Cause.API_ERROR, 2, 6, (ids[3], ids[7])),
        (Cause.UNJUDGED, 1, 7, (ids[4],)),
    ]
    by = [
        (c.name, c.cause, c.count, c.rate.value) for c in clusters(pool(*rows), ("agent", "domain"))
    ]
    assert by == [
        ("a · x", Cause.TOO_LITTLE, 2, 1),
        ("a · y", Cause.API_ERROR, 1, 1 / 2),
        ("a · y", Cause.UNJUDGED, 1, 1 / 3),
        ("b · x", Cause.TOO_LITTLE, 1, 1),
        ("b · y", Cause.API_ERROR, 1, 1),
    ]


def test_what_the_machinery_said_is_one_with_other_numbers():
    rows = sample_rows()
    (one,) = details(pool(*rows))
    assert (one.cause, one.text, one.example) == (
        Cause.API_ERROR,
        "HTTP N, try N",
        "HTTP 503, try 2",
    )
    assert one.trials == (rows[3].trial.id, rows[7].trial.id)
    assert masked("request req_8f2 failed after 30.2 s at https://api.x/y?z=1") == (
        "request ID failed after N s at URL"
    )
    assert masked("no 3fa85f64-5717-4562-b3fc-2c963f66afa6 at 12:30:01") == "no ID at N"
    assert masked("The agent replied with nothing") == "The agent replied with nothing"


def test_cause_tables():
    rows = sample_rows()
    causes, said_of = cause_tables(pool(*rows))
    assert causes.headings == ("Cause", "a", "b")
    assert [[cell.text for cell in line] for line in causes.lines] == [
        ["trials", "5", "2"],
        ["failed", "3 · 75.0", "2 · 100.0 [34.2, 100.0]"],
        ["call failed", "1 · 25.0", "1 · 50.0"],
        ["too little of the gold", "2 · 50.0", "1 · 50.0"],
        ["not judged (no failure)", "1 · 20.0", "0"],
    ]
    assert causes.lines[3][1].trials == (rows[0].trial.id, rows[1].trial.id)
    assert [cell.text for cell in said_of.lines[0]] == ["HTTP N, try N", "call failed", "2", "2"]
    assert [*cause_tables(pool(row("a", "t", None, termination=None)))] == []


def test_the_order_of_trials_changes_nothing():
    little = {"triplet_f1": 0.2, "triplet_precision": 0.5, "triplet_recall": 0.1}
    much = {"triplet_f1": 0.2, "triplet_precision": 0.1, "triplet_recall": 0.5}
    rows = [
        row("a", f"t{n % 9}", (little, much, {"triplet_f1": 0.9})[n * n % 7 % 3], n)
        for n in range(27)
    ]
    (one, *_more), (other, *_others) = cause_tables(pool(*rows)), cause_tables(pool(*rows[::-1]))
    assert [[cell.text for cell in line] for line in one.lines] == [
        [cell.text for cell in line] for line in other.lines
    ]
