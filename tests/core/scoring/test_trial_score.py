import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cuecard.core.engine.events import Concluded, TrialEnded
from cuecard.core.families.checkpoints.gold import CheckpointChain
from cuecard.core.families.facts.gold import FactWorld
from cuecard.core.families.table.gold import Table
from cuecard.core.scoring.aggregate import Statistic, statistic_label
from cuecard.core.scoring.measures import COUNTS, MEASURE_LABELS, measure_label
from cuecard.core.scoring.trial_score import (
    Details,
    GraphFigures,
    Tally,
    TrialFigures,
    score_prediction,
    score_trial,
)
from cuecard.core.verdicts import Measure, Measures, TableMatch

TABLE = Table.model_validate(
    {"columns": [{"name": "k"}, {"name": "v"}], "unique_columns": ["k"], "rows": [["a", "1"]]}
)
CHAIN = CheckpointChain.model_validate(
    {"opening": "o", "steps": [{"question": "q", "target": "t"}], "final_answer": "t"}
)
WORLD = FactWorld.model_validate({"facts": [{"key": "k", "value": "v"}], "answer": "v"})


def test_a_graph_trial_reads_what_was_handed_in_from_its_log(build, values):
    task = build.task(build.graph("a r b"))
    log = build.log(
        build.user(0), build.agent(0), build.user(1), Concluded(prediction=build.triples("a r b"))
    )
    judgement = build.judgement(build.verdict(0, "yes", (0,)))
    got = values(score_trial(task, log, judgement))
    assert got["triplet_f1"] == 1
    assert got["agent_turns"] == 1
    assert got["unjudged"] == 0


def test_a_failed_trial_handed_in_nothing(build, values):
    task = build.task(build.graph("a r b"))
    log = build.log(build.user(0), TrialEnded(termination="api_error", detail="down"))
    got = values(score_trial(task, log, build.judgement(build.verdict(0, "no"))))
    assert got["triplet_precision"] == got["triplet_recall"] == got["triplet_f1"] == 0


@pytest.mark.parametrize("gold", [TABLE, CHAIN, WORLD])
def test_every_family_scores_and_every_measure_has_a_name(build, gold):
    judgement = build.answer("yes")
    if gold is TABLE:
        match = TableMatch(usable=True, predicted_rows=1, joined=((0, 0),))
        judgement = build.judgement(build.verdict(0, "yes", column="v"), table=match)
    log = build.log(build.user(0), build.agent(0), build.user(1), build.concluded("v"))
    measures = score_trial(build.task(gold), log, judgement)
    names = [m.name for m in measures]
    assert len(names) == len(set(names))
    assert set(names) <= set(MEASURE_LABELS)
    assert all(m.value is None or m.name in COUNTS or 0 <= m.value <= 1 for m in measures)
    assert {"success": 1.0, "acc": 1.0, "pass_at_1": 1.0}[names[0]] == measures[0].value


def test_an_output_from_elsewhere_has_no_interaction(build, values):
    prediction = build.triples("a r b")
    judgement = build.judgement(build.verdict(0, "yes", (0,)))
    got = values(score_prediction(build.task(build.graph("a r b")), prediction, judgement))
    assert got["triplet_f1"] == 1
    assert "agent_turns" not in got
    facts = values(score_prediction(build.task(WORLD), prediction, build.answer("yes")))
    assert facts == {"pass_at_1": 1.0, "unjudged": 0.0}


def test_labels():
    assert measure_label("row_f1") == "Row F1"
    assert measure_label("unheard_of") == "unheard_of"
    assert [statistic_label(s, 3) for s in Statistic] == [
        "Avg@3",
        "Best@3",
        "Max@3",
        "Pass@3",
        "Pass^3",
        "pooled",
    ]
    assert measure_label("ce_a_mean") == "Right asks (CE-A), mean over tasks"


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8),
    st.tuples(*[st.integers(0, 10**6)] * 3),
)
def test_kept_figures_are_read_to_the_last_digit_and_share_equal_tallies(values, tally):
    measures = Measures.of([Measure(f"m{at}", value, at) for at, value in enumerate(values)])
    graph = GraphFigures(
        gold=9,
        predicted=None,
        relations={"r": Tally(*tally)},
        stages={2: Tally(*tally)},
        invalid={},
    )
    kept = TrialFigures(measures, Details(tools={}, handed_in="nothing", graph=graph)).kept
    read = TrialFigures.read(kept)
    assert list(map(repr, read.measures.values)) == list(map(repr, values))
    assert read.kept == kept
    assert read.graph is not None
    assert read.graph == graph
    assert read.graph.relations["r"] is read.graph.stages[2]


@pytest.mark.parametrize("broken", ["[1,2]", "3", '{"yes":1}'])
def test_a_tally_that_is_none_is_refused(broken):
    graph = f'{{"gold":1,"predicted":1,"relations":{{"r":{broken}}},"stages":{{}},"invalid":{{}}}}'
    with pytest.raises(ValidationError):
        GraphFigures.model_validate_json(graph)
