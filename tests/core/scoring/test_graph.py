import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.families.graph.gold import Graph, Node
from cuecard.core.families.graph.judge import GRAPH_MEASURES, score_graph, supporting_triples
from cuecard.core.predictions import AnswerPrediction, UnusablePrediction
from cuecard.core.verdicts import Item, ItemKind


def test_known_answer(build, values):
    # Five nodes a..e, four gold triples; two covered, by predictions 0 and 1 together and by 1.
    graph = build.graph("a r b", "b r c", "c r d", "d r e")
    predicted = build.triples("a r b", "b r c", "x r y", "c r y", "c r d")
    verdicts = [
        build.verdict(0, "yes", (0, 1)),
        build.verdict(1, "yes", (1, 7, -1)),
        build.verdict(2, "no", (4,)),
        build.verdict(3, "no"),
    ]
    got = values(score_graph(graph, predicted, verdicts))
    assert got["triplet_recall"] == 2 / 4
    # Prediction 4 supports only a triple that is not covered; 7 and -1 are out of range.
    assert got["triplet_precision"] == 2 / 5
    assert got["triplet_f1"] == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    assert got["node_recall"] == 3 / 5
    assert got["node_precision"] == 3 / 6
    assert got["node_f1"] == pytest.approx(2 * 0.6 * 0.5 / 1.1)
    assert got["unjudged"] == 0


def test_n_is_what_was_divided_by(build):
    graph = build.graph("a r b", "b r c")
    measures = score_graph(
        graph, build.triples("a r b"), [build.verdict(0, "yes", (0,)), build.verdict(1, "no")]
    )
    assert {m.name: m.n for m in measures} == {
        "triplet_precision": 1,
        "triplet_recall": 2,
        "triplet_f1": 2,
        "node_precision": 2,
        "node_recall": 3,
        "node_f1": 3,
        "unjudged": 2,
    }


@pytest.mark.parametrize(
    "prediction", [UnusablePrediction(reason="prose"), AnswerPrediction(answer="b"), None]
)
def test_nothing_handed_in_scores_zero(build, values, prediction):
    graph = build.graph("a r b")
    got = values(score_graph(graph, prediction or build.triples(), [build.verdict(0, "no")]))
    assert got == dict.fromkeys((*GRAPH_MEASURES, "unjudged"), 0.0)


def test_the_same_triple_twice_counts_once_above_the_line(build, values):
    graph = build.graph("a r b")
    twice = build.triples("a r b", "A r b.")
    got = values(score_graph(graph, twice, [build.verdict(0, "yes", (0, 1))]))
    assert got["triplet_precision"] == 0.5
    assert got["node_precision"] == 1.0


def test_nodes_without_a_triple_count_for_node_recall(build, values):
    graph = Graph(nodes=(Node(id="lonely"),), triples=build.graph("a r b").triples)
    got = values(score_graph(graph, build.triples("a r b"), [build.verdict(0, "yes", (0,))]))
    assert got["node_recall"] == 2 / 3
    assert got["triplet_recall"] == 1.0


def test_unjudged_triples_leave_the_ratios(build, values):
    graph = build.graph("a r b", "b r c", "c r d")
    verdicts = [build.verdict(0, "yes", (0,)), build.verdict(1, "no"), build.verdict(2, "unjudged")]
    got = values(score_graph(graph, build.triples("a r b", "c r d"), verdicts))
    assert got["triplet_recall"] == 1 / 2
    assert got["triplet_precision"] == 1 / 2
    assert got["node_recall"] == 2 / 3  # d occurs in an unjudged triple only
    assert got["unjudged"] == 1


def test_a_missing_verdict_is_unjudged_and_the_later_of_two_counts(build, values):
    graph = build.graph("a r b", "b r c")
    verdicts = [
        build.verdict(0, "no"),
        build.verdict(0, "yes", (0,)),
        build.verdict(9, "yes", (0,)),
    ]
    got = values(score_graph(graph, build.triples("a r b"), verdicts))
    assert got["triplet_recall"] == 1.0
    assert got["unjudged"] == 1


def test_with_nothing_judged_all_is_undefined(build):
    measures = score_graph(build.graph("a r b"), build.triples("a r b"), [])
    assert all(m.value is None and m.reason for m in measures if m.name != "unjudged")
    assert measures[-1].value == 1


names = st.sampled_from("abcde")
cases = st.tuples(
    st.lists(st.tuples(names, names), min_size=1, max_size=6),
    st.lists(st.tuples(names, names), max_size=6),
    st.lists(st.tuples(st.sampled_from(["yes", "no", "unjudged"]), st.sets(st.integers(-1, 7)))),
)


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases, st.randoms(use_true_random=False))
def test_scores_are_shares_and_do_not_depend_on_order(build, values, case, random):
    gold, predicted, decisions = case
    graph = build.graph(*(f"{h} r{i} {t}" for i, (h, t) in enumerate(gold)))
    triples = [f"{h} q{i} {t}" for i, (h, t) in enumerate(predicted)]
    verdicts = [
        build.verdict(i, decision, tuple(sorted(support)))
        for i, (decision, support) in enumerate(decisions)
    ]
    got = values(score_graph(graph, build.triples(*triples), verdicts))
    assert all(v is None or 0 <= v <= 1 for k, v in got.items() if k != "unjudged")

    order = list(range(len(triples)))
    random.shuffle(order)
    moved = [
        v.model_copy(
            update={"supporting": tuple(order.index(i) if i in order else i for i in v.supporting)}
        )
        for v in verdicts
    ]
    random.shuffle(moved)
    shuffled = build.triples(*(triples[i] for i in order))
    assert values(score_graph(graph, shuffled, moved)) == got


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cases, st.integers(0, 5))
def test_a_duplicate_never_raises_precision(build, values, case, which):
    gold, predicted, decisions = case
    if not predicted:
        return
    graph = build.graph(*(f"{h} r{i} {t}" for i, (h, t) in enumerate(gold)))
    triples = [f"{h} q{i} {t}" for i, (h, t) in enumerate(predicted)]
    which %= len(triples)
    verdicts, doubled = [], []
    for i, (decision, support) in enumerate(decisions):
        valid = tuple(j for j in sorted(support) if 0 <= j < len(triples))
        verdicts.append(build.verdict(i, decision, valid))
        more = (*valid, len(triples)) if which in valid else valid
        doubled.append(build.verdict(i, decision, more))
    before = values(score_graph(graph, build.triples(*triples), verdicts))
    after = values(score_graph(graph, build.triples(*triples, triples[which]), doubled))
    if before["triplet_precision"] is not None:
        assert after["triplet_precision"] <= before["triplet_precision"]
        assert after["node_precision"] == before["node_precision"]


def test_what_is_said_of_a_predicted_triple_goes_before_its_support(build, values):
    graph = build.graph("a r b", "b r c")
    predicted = build.triples("a r b", "b r c", "x r y")
    said = [
        build.verdict(index, decision).model_copy(
            update={"item": Item(kind=ItemKind.PREDICTED, index=index)}
        )
        for index, decision in ((0, "no"), (2, "yes"), (9, "yes"), (1, "unjudged"))
    ]
    verdicts = [build.verdict(0, "yes", (0, 1)), build.verdict(1, "no"), *said]
    assert supporting_triples(verdicts, 3) == [1, 2]
    got = values(score_graph(graph, predicted, verdicts))
    assert got["triplet_precision"] == pytest.approx(2 / 3)
    assert got["triplet_recall"] == 1 / 2
