"""Figures of reviews that were computed by hand."""

from __future__ import annotations

import pytest

from cuecard.annotate.agreement.intervals import wilson
from cuecard.annotate.review.figures import (
    ALL_DIMENSIONS,
    DECISION,
    FiguresReport,
    MeasureAgreement,
    Reason,
    Spread,
    figures_of,
)
from cuecard.core.review import TaskLog
from review_logs import LogMaker


def logs() -> dict[str, TaskLog]:
    """Ben and Chen decide A A, A A, A R, R R, A A and R A (then Dana A); on gold they say
    pp, pp, pf, ff, p and cannot judge, fp. What is undecided, double, or an author's own is beside it.
    """
    t1 = LogMaker("t1").submit().review("Ben", "A", 60, "scenario", gold="p", scenario="p")
    t1.review("Chen", "A", gold="p", scenario="p").review("Ben", "R", 999, gold="f", scenario="f")
    t2 = LogMaker("t2").submit().review("Ben", "A", 120, gold="p", scenario="p")
    t2.review("Ana", "R", 999, gold="f", scenario="f")
    t2.review("Chen", "A", gold="p", scenario="p")
    t3 = LogMaker("t3").submit().review("Chen", "R", 0, "gold", gold="f", scenario="p")
    t3.review("Ben", "A", 180, gold="p", scenario="p")
    t4 = LogMaker("t4").submit().review("Ben", "R", 240, gold="f", scenario="p")
    t4.review("Chen", "R", gold="f", scenario="p").revise().submit()
    t4.review("Ben", "A", 360).review("Dana", "A")
    t5 = LogMaker("t5").submit().review("Ben", "A", gold="p", scenario="p")
    t5.review("Chen", "A", gold="c", scenario="p")
    t6 = LogMaker("t6").submit(third=True).review("Ben", "R", 300, gold="f", scenario="p")
    t6.review("Chen", "A", gold="p", scenario="p").review("Dana", "A")
    t7 = LogMaker("t7").submit().review("Ben", "R", 999, gold="f")
    t8 = LogMaker("t8").submit(third=True).review("Ben", "R", 999, gold="f")
    t8.review("Chen", "A", 999, gold="p")
    return {made.task_id: made.log for made in (t8, t7, t6, t5, t4, t3, t2, t1)}


@pytest.fixture(scope="module")
def report() -> FiguresReport:
    return figures_of(logs(), dimensions=["unused", "scenario"])


def values(found: MeasureAgreement | None) -> list[float | None]:
    assert found is not None
    return [found.of(name).value for name in ("percent", "kappa", "ac1")]


def test_agreement_of_a_pair(report: FiguresReport):
    pair = report.pair("Chen", "Ben")
    assert pair is not None
    assert (pair.who, pair.tasks, pair.revisions, pair.reviews) == (("Ben", "Chen"), 6, 6, 12)
    measures = [found.measure for found in pair.agreement]
    assert measures == [DECISION, ALL_DIMENSIONS, "scenario", "gold"]
    assert [found.n for found in pair.agreement] == [6, 11, 6, 5]
    assert [found.unsure for found in pair.agreement] == [0, 1, 0, 1]
    # Chance for kappa 20/36, for AC1 2 * 8/12 * 4/12.
    assert values(pair.on(DECISION)) == pytest.approx([4 / 6, 0.25, 0.4])
    # Chance for kappa 13/25, for AC1 2 * 4/6 * 2/6: a gold rated once counts there.
    assert values(pair.on("gold")) == pytest.approx([3 / 5, 1 / 6, 0.28])
    assert values(pair.on(ALL_DIMENSIONS)) == pytest.approx(
        [9 / 11, 14 / 36, (9 / 11 - 10 / 36) / (26 / 36)]
    )
    scenario = pair.on("scenario")
    assert values(scenario) == [1, None, 1]
    assert scenario
    assert scenario.of("kappa").reason == "only one category used"
    assert scenario.of("percent").interval == wilson(1, 6)
    decision = pair.on(DECISION)
    assert decision
    low, high = decision.of("percent").interval or (0, 0)
    assert low <= 4 / 6 <= high
    assert report.pair("Ana", "Ben") is None


def test_agreement_of_all_is_over_pairs_within_each_round(report: FiguresReport):
    overall = report.overall
    assert (overall.who, overall.tasks, overall.revisions, overall.reviews) == ((), 6, 7, 15)
    decision = overall.on(DECISION)
    assert decision
    assert [s.name for s in decision.statistics] == ["percent", "fleiss_kappa", "ac1"]
    assert decision.of("percent").value == pytest.approx((5 + 1 / 3) / 7)
    assert decision.n == 7


def test_time_returns_and_reasons(report: FiguresReport):
    ben, chen, dana = report.people
    assert ben.seconds == Spread(n=6, median=210, lower=135, upper=285)
    assert chen.seconds == Spread(n=0)
    assert (ben.returned.value, ben.returned.n) == (pytest.approx(2 / 7), 7)
    assert ben.returned.interval
    assert dana.returned.interval == wilson(0, 2)
    assert ben.agreement == ()
    assert report.overall.reasons == (
        Reason(dimension="gold", failed=4, commented=1, rated=12),
        Reason(dimension="scenario", failed=0, commented=1, rated=12),
    )
    assert report.approvals.counts == ((1, 4), (2, 1))
    assert report.approvals.rounds.median == 1


def test_figures_follow_from_the_set_of_entries(report: FiguresReport):
    turned = {
        task_id: log.model_copy(update={"contributions": log.contributions[::-1]})
        for task_id, log in reversed(logs().items())
    }
    assert figures_of(turned, dimensions=["unused", "scenario"]) == report


def test_nothing_decided_yet():
    begun = LogMaker("t").submit().review("Ben", "A", gold="p").log
    for found in (figures_of({}), figures_of({"t": begun})):
        assert (found.pairs, found.people, found.rounds) == ((), (), ())
        assert found.overall.returned.reason
        assert [m.of("percent").reason for m in found.overall.agreement] == [
            "no item has two ratings"
        ]
        assert found.approvals.rounds.median is None
