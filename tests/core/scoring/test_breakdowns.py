import pytest

from cuecard.core.events import Concluded, Marked
from cuecard.core.marks import Compaction
from cuecard.core.prediction import UnusablePrediction
from cuecard.core.scoring.breakdowns import BreakdownCounts
from cuecard.core.scoring.curves import FactCurves
from cuecard.core.scoring.trial_figures import figures_of
from cuecard.core.tasks import FactWorld


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
    assert {s.name: s.trials for s in errors.by_user_turns if s.trials} == {"1-2": 3}


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
