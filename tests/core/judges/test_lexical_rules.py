"""The rules of the lexical judge, by the table of cases in `lexical_cases.yaml`."""

from collections import Counter
from pathlib import Path

import pytest
import yaml

from cuecard.core.families.graph.gold import Graph, Triple
from cuecard.core.families.graph.judge import judge_graph
from cuecard.core.families.graph.relations import same_relation
from cuecard.core.families.table.gold import Table
from cuecard.core.families.table.judge import judge_table
from cuecard.core.judges.lexical import judge_answer
from cuecard.core.predictions import PredictedTriple, TablePrediction
from cuecard.core.text import is_cjk
from cuecard.core.verdicts import Decision

TABLE = yaml.safe_load((Path(__file__).parent / "lexical_cases.yaml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(
        kind, case, said, right, id=f"{kind}-{case['rule']}-{'right' if right else 'wrong'}-{said}"
    )
    for kind, cases in TABLE.items()
    for case in cases
    for right in (True, False)
    for said in case["right" if right else "wrong"]
]


def answered(case, said: str) -> bool:
    verdict = judge_answer(tuple(case["gold"]), said, case.get("question", ""))
    assert verdict.rationale
    return verdict.decision is Decision.YES


def covered(case, said: list[str]) -> bool:
    gold = Triple(**dict(zip(("head", "relation", "tail"), case["gold"], strict=True)))
    head, relation, tail = map(str, said)
    predicted = PredictedTriple(head=head, relation=relation, tail=tail)
    (verdict,) = judge_graph(Graph(triples=(gold,)), [predicted])
    return verdict.decision is Decision.YES


def joined(case, said: str) -> bool:
    step = (
        "extract_number" if case.get("number") else "norm_date" if case.get("date") else "norm_str"
    )
    columns = [{"name": "Key", "preprocess": [step]}, {"name": "Value"}]
    table = Table.model_validate(
        {"columns": columns, "unique_columns": ["Key"], "rows": [[str(case["gold"]), "x"]]}
    )
    rows = ((str(said), "x"),)
    _verdicts, match = judge_table(table, TablePrediction(columns=("Key", "Value"), rows=rows))
    return bool(match.joined)


def related(case, said: list[str]) -> bool:
    relation, order = said
    return same_relation(case["gold"], relation, swapped=order == "exchanged") is not None


JUDGES = {"answers": answered, "triples": covered, "keys": joined, "relations": related}


@pytest.mark.parametrize(("kind", "case", "said", "right"), CASES)
def test_what_the_lexical_judge_says(kind, case, said, right):
    assert JUDGES[kind](case, said) is right


def test_the_table_of_cases_covers_every_kind_in_both_languages_and_both_ways():
    counted = Counter(
        (kind, right, is_cjk(str(case["gold"])))
        for kind, case, _said, right in (param.values for param in CASES)
    )
    assert sum(counted.values()) >= 400
    assert set(counted) == {(k, r, c) for k in JUDGES for r in (True, False) for c in (True, False)}
    assert min(counted.values()) >= 3
