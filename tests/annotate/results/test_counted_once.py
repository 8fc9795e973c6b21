"""What tables share is what a plain recount of the trials gives, to the last digit."""

from __future__ import annotations

import json
from math import fsum

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from cuecard.annotate.agreement import intervals
from cuecard.annotate.agreement.intervals import with_intervals
from cuecard.annotate.labelling.effect_figures import figure_over
from cuecard.annotate.results.pool import Row, gather
from cuecard.annotate.results.row_samples import samples_of, spent_value, with_task_intervals
from cuecard.core.records import TrialRecord
from cuecard.core.scoring.aggregate import Statistic, TrialScore, aggregate, by_task
from cuecard.core.scoring.trial_score import TrialFigures
from cuecard.core.verdicts import Measure
from cuecard.store.workspace import Workspace
from cuecard.tui.commands.json_output import json_pieces
from effect_runs import offline_run
from result_rows import row

NAMES = ("triplet_f1", "node_f1", "success", "row_f1", "ce_a")
VALUES = st.one_of(st.none(), st.floats(0, 1), st.sampled_from((0.0, 0.1, 1 / 3, 1.0)))


@st.composite
def measured(draw: st.DrawFn) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1)):
        value, n = draw(VALUES), draw(st.integers(1, 9))
        found[name] = Measure(name, value, n, "nothing to count" if value is None else "")
    return found


TRIALS = st.lists(
    st.tuples(st.sampled_from(("t0", "t1", "t2", "t3", "t4", "t5")), measured(), st.booleans()),
    min_size=1,
    max_size=24,
)


def spent(row: Row, name: str) -> Measure:
    value = spent_value(row, name)
    return Measure(name, value, int(value is not None), "calls without a price")


@given(TRIALS)
@settings(max_examples=60, deadline=None)
def test_figures_of_rows_are_those_of_a_plain_recount(trials):
    rows = [
        row("alpha", task, found, sample=at, cost=0.1 * at if priced else None, tokens=at)
        for at, (task, found, priced) in enumerate(trials)
    ]
    # Put together by hand, a `Measure` for each number, and resampled anew.
    plain = [
        TrialScore(
            each.trial.task_id,
            each.trial.sample,
            (*each.figures.measures, *(spent(each, name) for name in ("cost", "tokens"))),
        )
        for each in rows
        if each.figures is not None
    ]
    totals = {(one.name, one.statistic): one for one in aggregate(plain)}
    parts = by_task(plain)
    tasks = sorted({one.task_id for one in plain})
    told = with_task_intervals(samples_of(rows), resamples=60)
    assert list(told) == list(parts)
    for key, (total, statistic) in told.items():
        assert total == totals[key]
        intervals._KNOWN.clear()
        (anew,) = with_intervals([figure_over(key, parts[key], tasks)], tasks, resamples=60)
        assert (statistic.low, statistic.high, statistic.no_interval) == (
            anew.low,
            anew.high,
            anew.no_interval,
        )
    if ("node_f1", Statistic.AVG) in told:
        values: dict[str, list[float]] = {}
        for score in plain:
            for one in score.measures:
                if one.name == "node_f1" and one.value is not None:
                    values.setdefault(score.task_id, []).append(one.value)
        means = [fsum(own) / len(own) for own in values.values()]
        expected = fsum(means) / len(means) if means else None
        assert told["node_f1", Statistic.AVG][0].value == expected
    # The second table is told the same, and so is one of only some measures.
    assert with_task_intervals(samples_of(rows), resamples=60) == told
    some = with_task_intervals(samples_of(rows), ("triplet_f1", "ce_a_mean"), resamples=60)
    wanted = ("triplet_f1", "ce_a_mean")
    assert some == {key: one for key, one in told.items() if key[0] in wanted}


def test_kept_figures_are_read_as_they_were_counted(tmp_path):
    with Workspace.open(tmp_path / "w.db") as workspace:
        run = offline_run(workspace)
        (first, second) = (gather(workspace, [run]) for _time in range(2))
        for one, other in zip(first.rows, second.rows, strict=True):
            assert one.figures is not None
            assert TrialFigures.read(one.figures.kept) == one.figures == other.figures
        for trial in workspace.runs.trials(run):
            assert trial == TypeAdapter(TrialRecord).validate_python(trial)
            assert trial.events == len(workspace.runs.log(trial.id))


def json_of(*leaves: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.recursive(
        st.one_of(*leaves),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=30,
    )


PLAIN = st.none(), st.booleans(), st.integers(), st.text()


@given(json_of(*PLAIN), st.booleans())
def test_json_in_pieces_is_that_of_the_standard_library(data, ascii_only):
    expected = json.dumps(data, indent=2, ensure_ascii=ascii_only)
    assert "".join(json_pieces(data, ascii_only=ascii_only)) == expected
    if isinstance(data, list):
        assert "".join(json_pieces(iter(data), ascii_only=ascii_only)) == expected


@given(json_of(*PLAIN, st.floats(allow_nan=False, allow_infinity=False)))
def test_numbers_in_json_keep_every_digit(data):
    # One may write 1e-05 and the other 0.00001.
    told = "".join(json_pieces(data))
    assert json.dumps(json.loads(told)) == json.dumps(data)


def test_what_is_no_number_is_null_in_json():
    told = "".join(json_pieces({1: [float("nan")], "b": iter([2.5])}))
    assert json.loads(told) == {"1": [None], "b": [2.5]}
