import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.graph.judge import judge_graph
from cuecard.core.predictions import PredictedTriple
from cuecard.core.verdicts import Decision

GRAPH = Graph.model_validate(
    {
        "nodes": [
            {"id": "n1", "name": "Faema E61", "aliases": ["E61"]},
            {"id": "Gruppo Cimbali", "aliases": ["La Cimbali", "Cimbali"]},
        ],
        "triples": [
            {"head": "n1", "relation": "came out in the year", "tail": "1961"},
            {"head": "Faema", "relation": "founded by", "tail": "Carlo Ernesto Valente"},
            {"head": "Faema", "relation": "founded in the year", "tail": "1945"},
            {"head": "Faema", "relation": "bought by the group", "tail": "Gruppo Cimbali"},
            {"head": "MUMAC", "relation": "located in", "tail": "Italy"},
            {"head": "地动仪", "relation": "制造者", "tail": "张衡"},
            {"head": "张衡", "relation": "去世年份", "tail": "139年"},
        ],
    }
)


def judge(*triples: tuple[str, str, str], graph: Graph = GRAPH):
    predicted = [PredictedTriple(head=h, relation=r, tail=t) for h, r, t in triples]
    verdicts = judge_graph(graph, predicted)
    assert [v.item.index for v in verdicts] == list(range(len(graph.triples)))
    assert all(v.rationale for v in verdicts)
    return {v.item.index: v.supporting for v in verdicts if v.decision is Decision.YES}


@pytest.mark.parametrize(
    ("triple", "covered"),
    [
        (("faema e61", "came out in the year", "1961"), 0),
        (("E 61", "release year", "1961"), 0),
        (("E 61", "patent year", "1961"), None),
        (("E 61", "year", "1961"), 0),
        (("E61", "came out", "5 May 1961"), 0),
        (("E61", "came out", "1962"), None),
        (("Faema", "founder", "Carlo Ernesto Valente"), 1),
        (("Faema", "founded by", "Carlo Ernesto Valenti"), 1),
        (("Carlo Ernesto Valente", "founded", "Faema"), 1),
        (("Carlo Ernesto Valente", "founded by", "Faema"), None),
        (("Faema", "acquired by", "Cimbali"), 3),
        (("La Cimbali", "bought", "Faema"), 3),
        (("Faema", "sold", "Gruppo Cimbali"), None),
        (("Faema", "founded in the year", "1954"), None),
        (("1945", "founding of", "Faema"), None),
        (("张衡", "制造", "地动仪"), 5),
        (("张衡", "去世年份", "公元139年"), 6),
        (("张衡", "出生年份", "139年"), None),
        (("", "", ""), None),
    ],
)
def test_one_predicted_triple(triple, covered):
    assert judge(triple) == ({} if covered is None else {covered: (0,)})


def test_nothing_predicted_covers_nothing():
    assert judge() == {}


def test_all_supporting_triples_are_named_and_one_may_support_two():
    graph = Graph(
        triples=(
            Triple(head="A", relation="founded by", tail="B"),
            Triple(head="A", relation="founder", tail="B"),
        )
    )
    covered = judge(("A", "founded by", "B"), ("x", "y", "z"), ("A", "founder", "B"), graph=graph)
    assert covered == {0: (0, 2), 1: (0, 2)}


@pytest.mark.parametrize(
    "triples",
    [
        # Another name of the head, said before or after; another name of the tail.
        (
            ("Faema", "also known as", "Faema S.p.A. Milano"),
            ("Faema S.p.A. Milano", "founder", "Carlo Ernesto Valente"),
        ),
        (("Faema Milano", "aka", "Faema"), ("Faema Milano", "founder", "Carlo Ernesto Valente")),
        (
            ("Faema", "founder", "C. E. Valente"),
            ("C. E. Valente", "full name", "Carlo Ernesto Valente"),
        ),
        (
            ("Faema", "founder", "C. E. Valente"),
            ("Carlo Ernesto Valente", "also known as", "C. E. Valente"),
        ),
    ],
)
def test_two_triples_of_which_one_only_names(triples):
    assert judge(*triples) == {1: (0, 1)}


def test_two_triples_that_lie_in_each_other():
    triples = (("MUMAC", "located in", "Binasco"), ("Binasco", "located in", "Italy"))
    assert judge(*triples) == {4: (0, 1)}


@pytest.mark.parametrize(
    "triples",
    [
        (("Faema", "rival of", "Gaggia"), ("Gaggia", "founder", "Carlo Ernesto Valente")),
        (("Faema", "also known as", "F"), ("F", "sponsor", "Carlo Ernesto Valente")),
        (("MUMAC", "opened in", "Binasco"), ("Binasco", "located in", "Italy")),
        (("Faema", "also known as", "F"),),
    ],
)
def test_other_pairs_are_left_to_better_judges(triples):
    assert judge(*triples) == {}


def test_numbers_do_not_blur():
    graph = Graph(triples=(Triple(head="周伯星", relation="现代编号", tail="SN 1006"),))
    assert judge(("周伯星", "现代编号", "SN 1054"), graph=graph) == {}


def test_every_gold_triple_covers_itself():
    triples = [GRAPH.named(t) for t in GRAPH.triples]
    covered = judge(*triples)
    assert {i: covered[i] for i in covered} == {i: (i,) for i in range(len(triples))}


def test_the_largest_task_takes_a_number_of_comparisons_that_grows_with_its_size():
    gold = [
        Triple(head=f"Person {i % 40}", relation=f"relation{i}", tail=f"Thing {i}")
        for i in range(350)
    ]
    graph = Graph(triples=tuple(gold))
    predicted = [(t.head, t.relation, t.tail) for t in gold] + [
        (f"Somebody {i}", "did", f"something {i}") for i in range(150)
    ]
    covered = judge(*predicted, graph=graph)
    assert covered == {i: (i,) for i in range(350)}


words = st.sampled_from(
    ["Faema", "E61", "Cimbali", "1961", "1945", "Italy", "MUMAC", "Binasco", "F"]
)
relations = st.sampled_from(["founded by", "located in", "also known as", "year", "bought", "in"])


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(words, relations, words), max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_predictions_does_not_decide_what_is_covered(triples, random):
    covered = judge(*triples)
    assert all(0 <= i < len(triples) for support in covered.values() for i in support)
    shuffled = list(triples)
    random.shuffle(shuffled)
    assert set(judge(*shuffled)) == set(covered)
    assert set(covered) <= set(judge(*triples, ("Faema", "founder", "Carlo Ernesto Valente")))
