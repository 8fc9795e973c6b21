import pytest

from cuecard.core.engine.events import Concluded, Marked
from cuecard.core.engine.messages import Compaction
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.predictions import UnusablePrediction
from cuecard.core.scoring.breakdowns import (
    BreakdownCounts,
    FactCurves,
    fine_turns_class,
    truncation,
    turns_class,
)
from cuecard.core.scoring.trial_score import FactFigures, figures_of


def world(n: int) -> FactWorld:
    facts = [{"key": f"k{i}", "value": f"v{i}"} for i in range(n)]
    return FactWorld.model_validate({"facts": facts, "answer": "x"})


def test_curves_by_hand(build):
    curves = FactCurves()
    task = build.task(world(4))
    for calls in (((0, ("k0",)), (1, ("k0",))), ((0, ()),), ()):
        log = build.log(*(build.search(0, n, keys) for n, keys in calls))
        found = figures_of(task, log, build.answer("no")).facts
        assert found
        curves.add(found)
    first, second = curves.points()
    assert (first.k, first.cohort, first.trials) == (1, 2, 3)
    assert first.new_facts == 1 / 2
    assert first.fcr == pytest.approx((1 / 4) / 3)
    assert first.hit_precision == 1 / 2
    # One trial is left; the others keep the coverage that they had.
    assert (second.cohort, second.new_facts, second.hit_precision) == (1, 0, 1)
    assert second.fcr == pytest.approx((1 / 4) / 3)


PAPER = (
    FactFigures(facts=4, hits=(True, False, True, False), fresh=(1, 0, 1, 0)),
    FactFigures(facts=4, hits=(True, True, False), fresh=(1, 0, 0)),
    FactFigures(facts=4, hits=(False,), fresh=(0,)),
)
"""METHODS 11.2: F1, -, F2, -; F1, F1 again, -; -."""


def curves_of(*found: FactFigures) -> FactCurves:
    curves = FactCurves()
    for each in found:
        curves.add(each)
    return curves


def test_known_answers_of_the_fixed_cohort_and_of_all_trials():
    curves = curves_of(*PAPER)
    cohort = curves.cohort(3)
    assert (cohort.k_trunc, cohort.trials, cohort.rule) == (3, 2, "asked")
    assert [(p.k, p.cohort, p.trials) for p in cohort.points] == [(1, 2, 2), (2, 2, 2), (3, 2, 2)]
    assert [p.new_facts for p in cohort.points] == [1, 0, 0.5]
    assert [p.fcr for p in cohort.points] == [0.25, 0.25, 0.375]
    assert [p.hit_precision for p in cohort.points] == pytest.approx([1, 0.75, 2 / 3])
    ours = curves.points()
    assert ours[0].new_facts == pytest.approx(2 / 3)
    assert ours[0].fcr == pytest.approx(0.5 / 3)
    assert ours[2].fcr == pytest.approx(0.25)
    assert ours[0].hit_precision == pytest.approx(2 / 3)
    assert [(p.k, p.cohort) for p in ours] == [(1, 3), (2, 2), (3, 2), (4, 1)]


def test_a_cohort_is_of_fifty_trials_or_else_of_a_fifth():
    assert truncation([9] * 30 + [7] * 20 + [3] * 40) == (7, "least")
    assert truncation([9] * 30 + [7] * 19 + [3] * 40) == (3, "least")
    assert truncation([80] * 60) == (64, "least")
    # Two of ten trials make 5 calls, three make 4.
    assert truncation([5, 5, 4, 1, 1, 1, 1, 0, 0, 0]) == (5, "share")
    assert truncation([6, 5, 4, 1, 1, 1, 1, 0, 0, 0, 0]) == (4, "share")
    # Fifty trials, but not fifty that made a call.
    assert truncation([2] * 40 + [0] * 30) == (2, "share")
    assert truncation([1] + [0] * 9) == (0, "share")
    assert truncation([]) == (0, "share")
    assert curves_of(*PAPER).cohort(9).points == ()
    assert curves_of().cohort().points == ()


def test_graph_errors_by_hand(build):
    gold = build.graph("a r b", "b r c", "c s d")
    task = build.task(gold)
    counts = BreakdownCounts()
    cut = Marked(
        part="agent", turn=0, step=0, mark=Compaction(strategy="window", before=9, limit=8)
    )

    def add(judgement, *bodies) -> None:
        events = build.log(build.user(0), *bodies)
        counts.add(figures_of(task, events, judgement))

    handed_in = build.triples("a r b", "x bad y", "x bad z", "b q c", "c odd d")
    found = [build.verdict(0, "yes", (0,)), build.verdict(1, "no"), build.verdict(2, "unjudged")]
    add(build.judgement(*found), build.search(0), Concluded(prediction=handed_in))
    few = build.triples("a r b")
    every = [build.verdict(n, "yes", (0,)) for n in range(3)]
    add(build.judgement(*every), cut, Concluded(prediction=few))
    nothing = Concluded(prediction=UnusablePrediction(reason="prose"))
    add(build.judgement(*(build.verdict(n, "no") for n in range(3))), nothing)

    result = counts.result()
    assert result.tools == {"search": 1}
    errors = result.graph_errors
    assert errors is not None
    assert (errors.trials, errors.format_failures) == (3, 1)
    assert (errors.over_generation, errors.under_generation) == (1, 1)
    assert [(c.relation, c.covered, c.judged, c.unjudged) for c in errors.coverage] == [
        ("r", 3, 6, 0),
        ("s", 1, 2, 1),
    ]
    assert errors.invalid_relations[0].model_dump() == {"relation": "bad", "count": 2}
    with_cut, without = errors.by_compaction
    assert (with_cut.trials, with_cut.f1) == (1, 1.0)
    assert without.trials == 2
    assert {s.name: s.trials for s in errors.by_user_turns if s.trials} == {"<=10": 3}
    assert {s.name: s.trials for s in errors.by_user_turns_fine if s.trials} == {"1-2": 3}
    assert (errors.turns_f1.value, errors.turns_f1.n) == (None, 3)
    assert errors.turns_f1.reason


def test_user_turns_fall_into_the_papers_classes_and_into_ours():
    told = {n: (turns_class(n), fine_turns_class(n)) for n in (0, 2, 3, 10, 11, 15, 16, 20, 21)}
    assert told == {
        0: ("<=10", "1-2"),
        2: ("<=10", "1-2"),
        3: ("<=10", "3-5"),
        10: ("<=10", "6-10"),
        11: ("11-15", "11-20"),
        15: ("11-15", "11-20"),
        16: (">15", "11-20"),
        20: (">15", "11-20"),
        21: (">15", "21+"),
    }


def test_profiles_by_ambiguity_and_difficulty(build):
    step = {"question": "q?", "target": "t"}
    ambiguity = {"type": "version", "logic": "l", "candidates": ["t", "u"], "clue": "c"}
    chain = {
        "opening": "o?",
        "steps": [{**step, "ambiguity": ambiguity}, step],
        "final_answer": "t",
    }
    task = build.task({"family": "checkpoints", **chain}, difficulty="easy")
    counts = BreakdownCounts()
    log = build.log(
        build.user(0),
        build.agent(0),
        build.user(1, checkpoint=0, status="missed_ambiguity_correct"),
    )
    judgement = build.answer("no")
    found = figures_of(task, log, judgement)
    assert found.statuses == {"missed_ambiguity_correct": 1}
    counts.add(found, task.difficulty)
    result = counts.result()
    assert set(result.by_ambiguity) == {"version"}
    assert set(result.by_difficulty) == {"easy"}
    (guess, *_others) = result.by_ambiguity["version"]
    assert (guess.count, guess.pass_rate.value) == (1, 1.0)
