import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.scoring.aggregate import Statistic, TrialScore, aggregate, by_task
from cuecard.core.verdicts import Measure, share


def score(task: str, sample: int, **values: float | None) -> TrialScore:
    measures = tuple(
        Measure(name, value, 1, "" if value is not None else "why")
        for name, value in values.items()
    )
    return TrialScore(task, sample, measures)


def table(*scores: TrialScore):
    return {(a.name, a.statistic): a for a in aggregate(scores)}


def test_average_over_samples_then_over_tasks():
    got = table(score("a", 0, fcr=1.0), score("a", 1, fcr=0.0), score("b", 0, fcr=0.25))
    average = got["fcr", Statistic.AVG]
    # Not the mean of the three, 0.4167.
    assert average.value == (0.5 + 0.25) / 2
    assert (average.n, average.trials, average.undefined, average.samples) == (2, 3, 0, 2)
    assert len(got) == 1


def test_best_follows_the_sample_with_the_best_triplet_f1():
    got = table(
        score("a", 0, triplet_f1=0.4, node_f1=0.9, triplet_precision=0.9),
        score("a", 1, triplet_f1=0.6, node_f1=0.5, triplet_precision=0.5),
        score("b", 0, triplet_f1=0.2, node_f1=0.3, triplet_precision=0.1),
        score("b", 1, triplet_f1=0.2, node_f1=0.7, triplet_precision=0.2),
    )
    assert got["triplet_f1", Statistic.BEST].value == pytest.approx((0.6 + 0.2) / 2)
    # Of equals the earlier sample.
    assert got["node_f1", Statistic.BEST].value == pytest.approx((0.5 + 0.3) / 2)
    assert got["triplet_precision", Statistic.BEST].value == pytest.approx((0.5 + 0.1) / 2)
    assert got["node_f1", Statistic.AVG].value == pytest.approx((0.7 + 0.5) / 2)
    assert got["node_f1", Statistic.BEST].samples == 2


def test_max_takes_row_and_item_f1_each_at_its_highest():
    got = table(score("a", 0, row_f1=0.1, item_f1=0.8), score("a", 1, row_f1=0.2, item_f1=0.5))
    assert got["row_f1", Statistic.MAX].value == 0.2
    assert got["item_f1", Statistic.MAX].value == 0.8


@pytest.mark.parametrize("name", ["success", "acc", "pass_at_1"])
def test_pass_needs_one_sample_that_succeeds(name):
    got = table(
        score("a", 0, **{name: 0.0}),
        score("a", 1, **{name: 1.0}),
        score("b", 0, **{name: 0.0}),
        score("b", 1, **{name: 0.0}),
    )
    assert got[name, Statistic.PASS].value == 0.5
    assert got[name, Statistic.AVG].value == 0.25


def test_undefined_values_are_left_out_and_counted():
    got = table(score("a", 0, acc=None), score("a", 1, acc=0.5), score("b", 0, acc=None))
    average = got["acc", Statistic.AVG]
    assert (average.value, average.n, average.trials, average.undefined) == (0.5, 1, 1, 2)


def test_a_measure_that_is_never_defined_says_so():
    average = table(score("a", 0, acc=None))["acc", Statistic.AVG]
    assert average.value is None
    assert average.reason


def counts(task: str, sample: int, right: int, asked: int) -> TrialScore:
    return TrialScore(task, sample, (share("ce_a", right, asked, "nothing was asked"),))


def test_of_several_samples_each_weighs_one_nth_in_a_pooled_ratio():
    got = table(
        counts("a", 0, 1, 3),
        counts("a", 1, 0, 0),
        counts("a", 2, 2, 3),
        counts("b", 0, 0, 2),
        counts("c", 0, 0, 0),
    )
    pooled = got["ce_a", Statistic.POOLED]
    # Of a's three samples 3/3 right of 6/3 asked at; not (1 + 2) / 8.
    assert pooled.value == pytest.approx(1 / 4)
    assert (pooled.of, pooled.n, pooled.trials, pooled.undefined) == (pytest.approx(4), 2, 3, 2)
    mean = got["ce_a_mean", Statistic.AVG]
    assert (mean.value, mean.n) == (pytest.approx((1 / 2 + 0) / 2), 2)


def test_a_pooled_ratio_of_nothing_says_what_there_was_nothing_of():
    got = table(counts("a", 0, 0, 0), counts("b", 0, 0, 0))
    assert got["ce_a", Statistic.POOLED].value is None
    assert got["ce_a", Statistic.POOLED].reason == "nothing was asked"
    assert got["ce_a_mean", Statistic.AVG].value is None


def test_what_tasks_add_makes_up_the_figure():
    scores = (counts("b", 0, 1, 3), counts("a", 0, 2, 3), score("a", 1, acc=1.0))
    parts = by_task(scores)
    assert parts["ce_a", Statistic.POOLED] == {"a": (2, 3), "b": (1, 3)}
    assert parts["acc", Statistic.AVG] == {"a": (1, 1), "b": (0, 0)}
    for one in aggregate(scores):
        own = parts[one.name, one.statistic].values()
        assert one.value == pytest.approx(sum(p.above for p in own) / sum(p.below for p in own))


def test_nothing_aggregates_to_nothing():
    assert aggregate([]) == ()


def test_zeros_are_averaged_in():
    got = table(score("a", 0, hit_rate=0.0), score("b", 0, hit_rate=1.0))
    assert got["hit_rate", Statistic.AVG].value == 0.5


@settings(max_examples=examples(50))
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.floats(0, 1), st.one_of(st.none(), st.floats(0, 1))),
        max_size=9,
    ),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter_and_max_is_at_least_average(rows, random):
    scores = [score(t, i, row_f1=f, triplet_f1=b) for i, (t, f, b) in enumerate(rows)]
    got = table(*scores)
    if not scores:
        return
    shuffled = list(scores)
    random.shuffle(shuffled)
    again = table(*shuffled)
    for key, one in got.items():
        assert again[key].n == one.n
        assert again[key].value == (None if one.value is None else pytest.approx(one.value))
    slack = 1e-9
    assert got["row_f1", Statistic.MAX].value >= got["row_f1", Statistic.AVG].value - slack
    best, average = (got["triplet_f1", s].value for s in (Statistic.BEST, Statistic.AVG))
    assert best is None or best >= average - slack


def test_pass_all_needs_every_sample_and_leaves_out_tasks_with_fewer():
    got = table(
        score("a", 0, success=1.0),
        score("a", 1, success=1.0),
        score("b", 0, success=1.0),
        score("b", 1, success=0.0),
        score("c", 0, success=1.0),
    )
    every = got["success", Statistic.PASS_ALL]
    assert (every.value, every.n) == (0.5, 2)
    assert got["success", Statistic.PASS].n == 3
    unknown = table(score("a", 0, success=1.0), score("a", 1, success=None))
    assert unknown["success", Statistic.PASS_ALL].value == 1
