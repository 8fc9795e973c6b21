import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.engine.messages import CheckpointStatus
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.checkpoints.score import (
    DETECTION_MEASURES,
    Confusion,
    Profile,
    StepRecord,
    behaviour_profiles,
    profile_of,
    score_checkpoints,
    score_detection,
    steps_of,
    typical_searches,
)
from cuecard.core.scoring.aggregate import Statistic, TrialScore, aggregate
from cuecard.core.scoring.measures import mean_name


def chain(kinds: str) -> CheckpointChain:
    """`chain("a.a")`: an ambiguous step, a plain one, an ambiguous one."""
    ambiguity = {"type": "entity", "logic": "l", "candidates": ["x", "y"], "clue": "c"}
    steps = [
        {"question": "q", "target": "t", "ambiguity": ambiguity if kind == "a" else None}
        for kind in kinds
    ]
    return CheckpointChain.model_validate({"opening": "o", "steps": steps, "final_answer": "t"})


def story(build):
    """Four steps (ambiguous, plain, ambiguous, plain), three reached, two advanced.

    0: two searches, a right ask, one more search, then the answer. 1: asked although it is plain, then
    answered. 2: a wrong ask, then a right one that led nowhere.
    """
    return build.log(
        build.user(0),
        build.search(0, 0),
        build.search(0, 1),
        build.agent(0),
        build.user(1, 0, "ambiguity_detected"),
        build.search(1, 0),
        build.fetch(1, 1),
        build.agent(1),
        build.user(2, 0, "correct_answer"),
        build.agent(2),
        build.user(3, 1, "wrong_ambiguity_detected"),
        build.agent(3),
        build.user(4, 1, "correct_answer"),
        build.agent(4),
        build.user(5, 2, "wrong_ambiguity_detected"),
        build.search(5, 0),
        build.search(5, 1, part="user"),
        build.agent(5),
        build.user(6, 2, "ambiguity_detected"),
        build.agent(6),
        build.user(7, 2, "wrong_answer"),
    )


def test_steps_are_read_from_the_log(build):
    assert steps_of(chain("a.a."), story(build)) == (
        StepRecord(0, True, 3, 1, 1, 2, True),
        StepRecord(1, False, 0, 1, 0, 0, True),
        StepRecord(2, True, 1, 2, 1, 0, False),
    )


def test_known_answer(build, values):
    got = values(score_checkpoints(chain("a.a."), story(build), build.answer("no")))
    assert got == {
        "acc": 0.0,
        "cp": 2 / 4,
        "det_accuracy": 2 / 3,
        "det_precision": 2 / 3,
        "det_recall": 1.0,
        "det_f1": 4 / 5,
        # Of the three checkpoints asked at two rightly, and one of these was advanced.
        "ce_a": 2 / 3,
        "ce_b": 1 / 3,
        "asks": 4.0,
        "unjudged": 0.0,
    }


def test_confusion_counts_reached_checkpoints_only(build):
    assert Confusion.of(steps_of(chain("a.a."), story(build))) == Confusion(tp=2, fn=0, fp=1, tn=0)


def test_an_ambiguity_met_with_a_wrong_ask_only_is_missed():
    steps = (
        StepRecord(0, True, 0, 1, 0, 0, False),
        StepRecord(1, False, 0, 0, 0, None, True),
    )
    assert Confusion.of(steps) == Confusion(fn=1, tn=1)


def test_never_asking(build, values):
    log = build.log(
        build.user(0),
        build.agent(0),
        build.user(1, 0, "missed_ambiguity_correct"),
        build.agent(1),
        build.user(2, 1, "task_completed"),
    )
    measures = score_checkpoints(chain("a."), log, build.answer("yes"))
    got = values(measures)
    assert got["acc"] == 1
    assert got["cp"] == 1
    assert got["det_accuracy"] == 1 / 2
    assert got["det_recall"] == 0
    assert got["det_f1"] == 0
    assert got["asks"] == 0
    for name in ("det_precision", "ce_a", "ce_b"):
        assert got[name] is None
        assert next(m for m in measures if m.name == name).reason


def test_no_ambiguity_and_no_ask(build, values):
    log = build.log(build.user(0), build.agent(0), build.user(1, 0, "correct_answer"))
    got = values(score_checkpoints(chain(".a"), log, build.answer("no")))
    assert got["det_accuracy"] == 1
    assert got["det_recall"] is None
    assert got["det_f1"] is None
    assert got["cp"] == 1 / 2


def test_a_dialogue_that_reached_nothing(build, values):
    log = build.log(build.user(0), build.agent(0), build.user(1))
    got = values(score_checkpoints(chain("a."), log, build.answer("no")))
    assert got["cp"] == 0
    assert got["asks"] == 0
    assert got["det_accuracy"] is None


def test_an_answer_without_a_dialogue(build, values):
    got = values(score_checkpoints(chain("a."), (), build.answer("yes")))
    assert got.pop("acc") == 1
    assert got.pop("unjudged") == 0
    assert set(got.values()) == {None}


def test_an_unjudged_answer(build, values):
    got = values(score_checkpoints(chain("a."), (), build.answer("unjudged")))
    assert got["acc"] is None
    assert got["unjudged"] == 1


def test_a_completed_task_without_a_step_is_the_last_one_and_unknown_steps_are_ignored(build):
    log = build.log(
        build.user(0), build.user(1, 7, "correct_answer"), build.user(2, None, "task_completed")
    )
    (step,) = steps_of(chain("a.."), log)
    assert (step.checkpoint, step.advanced) == (2, True)


def test_several_asks_at_a_checkpoint_are_one(build, values):
    """METHODS 11.1: over turns it would be 1/2 and 1/2."""
    log = build.log(
        build.user(0),
        build.agent(0),
        build.user(1, 0, "wrong_ambiguity_detected"),
        build.agent(1),
        build.user(2, 0, "ambiguity_detected"),
        build.agent(2),
        build.user(3, 0, "correct_answer"),
    )
    measures = score_checkpoints(chain("a"), log, build.answer("yes"))
    got = values(measures)
    assert (got["ce_a"], got["ce_b"], got["asks"]) == (1, 1, 2)
    assert [m.n for m in measures if m.name in ("ce_a", "ce_b")] == [1, 1]


def test_a_checkpoint_is_advanced_before_an_ask_or_after_it(build, values):
    log = build.log(
        build.user(0),
        build.user(1, 0, "missed_ambiguity_correct"),
        build.user(2, 0, "ambiguity_detected"),
    )
    (step,) = steps_of(chain("a"), log)
    assert (step.asks, step.right_asks, step.advanced) == (1, 1, True)
    assert values(score_detection([step]))["ce_b"] == 1


def test_a_right_ask_at_a_plain_checkpoint_cannot_be(build, values):
    log = build.log(build.user(0), build.user(1, 0, "ambiguity_detected"))
    got = values(score_checkpoints(chain("."), log, build.answer("no")))
    assert (got["ce_a"], got["ce_b"], got["det_precision"]) == (0, 0, 0)


def test_searching_only_reaches_a_checkpoint(build):
    log = build.log(build.user(0), build.search(0), build.agent(0), build.user(1, 0, "search_only"))
    assert Confusion.of(steps_of(chain("a"), log)) == Confusion(fn=1)


STEP = {"searches": 0, "searches_before_ask": None}
QUESTIONS = (
    # Ambiguous: a wrong ask, a right one, advanced; plain: not asked.
    (
        StepRecord(0, True, asks=2, right_asks=1, advanced=True, **STEP),
        StepRecord(1, False, asks=0, right_asks=0, advanced=True, **STEP),
    ),
    (StepRecord(0, True, asks=0, right_asks=0, advanced=False, **STEP),),
    (
        StepRecord(0, False, asks=1, right_asks=0, advanced=True, **STEP),
        StepRecord(1, True, asks=1, right_asks=1, advanced=False, **STEP),
    ),
)
"""METHODS 11.1, the three questions by hand."""


def test_known_answers_of_three_questions_pooled_and_as_means():
    assert Confusion.of([step for steps in QUESTIONS for step in steps]) == Confusion(2, 1, 1, 1)
    scores = [TrialScore(f"q{n}", 0, score_detection(steps)) for n, steps in enumerate(QUESTIONS)]
    got = {(one.name, one.statistic): one for one in aggregate(scores)}
    pooled = {name: got[name, Statistic.POOLED].value for name in DETECTION_MEASURES}
    assert pooled == pytest.approx(
        {
            "det_accuracy": 0.6,
            "det_precision": 2 / 3,
            "det_recall": 2 / 3,
            "det_f1": 2 / 3,
            "ce_a": 2 / 3,
            "ce_b": 1 / 3,
        }
    )
    assert [got[name, Statistic.POOLED].of for name in ("det_accuracy", "det_f1", "ce_a")] == [
        5,
        6,
        3,
    ]
    means = {
        name: (round(one.value, 4), one.n)
        for name in DETECTION_MEASURES
        if (one := got[mean_name(name), Statistic.AVG])
    }
    assert means["det_accuracy"] == (0.5, 3)
    assert means["det_f1"] == (0.5556, 3)
    assert means["ce_a"] == (0.75, 2)
    assert means["ce_b"] == (0.5, 2)


@settings(max_examples=examples(60))
@given(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=4), min_size=1, max_size=5))
def test_pooled_over_single_samples_is_one_count_over_all_checkpoints(questions):
    drawn = [
        [
            StepRecord(
                n,
                bool(bits & 1),
                asks=bits >> 1 & 1,
                right_asks=bits & bits >> 1 & 1,
                advanced=bool(bits & 4),
                **STEP,
            )
            for n, bits in enumerate(question)
        ]
        for question in questions
    ]
    scores = [TrialScore(f"q{n}", 0, score_detection(steps)) for n, steps in enumerate(drawn)]
    whole = {m.name: m for m in score_detection([step for steps in drawn for step in steps])}
    for one in aggregate(scores):
        if one.statistic is Statistic.POOLED:
            assert one.of == whole[one.name].n
            want = whole[one.name].value
            assert one.value == (None if want is None else pytest.approx(want))


def ambiguous(searches: int, before_ask: int | None, advanced: bool = True) -> StepRecord:
    asks = 0 if before_ask is None else 1
    return StepRecord(0, True, searches, asks, asks, before_ask, advanced)


def test_k_is_the_median_of_successful_guesses_else_three():
    steps = [
        ambiguous(1, None),
        ambiguous(2, None),
        ambiguous(6, None),
        ambiguous(50, None, advanced=False),
        ambiguous(50, 3),
        StepRecord(1, False, 50, 0, 0, None, True),
    ]
    assert typical_searches(steps) == 2
    assert typical_searches([*steps, ambiguous(9, None)]) == 4
    assert typical_searches([ambiguous(9, 0)]) == 3


@pytest.mark.parametrize(
    ("step", "profile"),
    [
        (ambiguous(3, None), Profile.DIRECT_GUESS),
        (ambiguous(4, None), Profile.SEARCH_HEAVY_GUESS),
        (ambiguous(9, 0), Profile.DIRECT_ASK),
        (ambiguous(1, 1), Profile.SEARCH_THEN_ASK),
    ],
)
def test_profiles(step, profile):
    assert profile_of(step, 3) is profile


def test_profile_table():
    steps = [
        ambiguous(0, None),
        ambiguous(0, None, advanced=False),
        ambiguous(8, None, advanced=False),
        ambiguous(2, 2),
        StepRecord(1, False, 0, 0, 0, None, True),
    ]
    table = {row.profile: row for row in behaviour_profiles(steps, k=3)}
    assert [table[p].count for p in Profile] == [2, 1, 0, 1]
    assert table[Profile.DIRECT_GUESS].pass_rate.value == 1 / 2
    assert table[Profile.DIRECT_GUESS].share.value == 2 / 4
    assert table[Profile.SEARCH_HEAVY_GUESS].pass_rate.value == 0
    assert table[Profile.DIRECT_ASK].pass_rate.value is None
    assert table[Profile.SEARCH_THEN_ASK].pass_rate.value == 1
    # K of these steps is 0, the searches of the one successful guess.
    assert [row.count for row in behaviour_profiles(steps)] == [2, 1, 0, 1]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text("a.", min_size=1, max_size=4),
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-1, 4)),
            st.one_of(st.none(), st.sampled_from(list(CheckpointStatus))),
            st.integers(0, 3),
        ),
        max_size=8,
    ),
)
def test_any_dialogue_scores_within_bounds(build, values, kinds, turns):
    bodies = [build.user(0)]
    for turn, (checkpoint, status, searches) in enumerate(turns):
        bodies += [build.search(turn, step) for step in range(searches)]
        bodies += [build.agent(turn), build.user(turn + 1, checkpoint, status and status.value)]
    log = build.log(*bodies)
    got = values(score_checkpoints(chain(kinds), log, build.answer("yes")))
    shares = {name: value for name, value in got.items() if name not in ("asks", "unjudged")}
    assert all(value is None or 0 <= value <= 1 for value in shares.values())
    if got["ce_a"] is not None:
        assert got["ce_b"] <= got["ce_a"]
    steps = steps_of(chain(kinds), log)
    assert sum(row.count for row in behaviour_profiles(steps)) == sum(s.ambiguous for s in steps)
