from __future__ import annotations

import pytest

from cuecard.annotate.authoring.graph_entities import (
    filtered,
    joined_aliases,
    node_rows,
    ordered,
    split_aliases,
)
from cuecard.annotate.authoring.graph_names import GraphIndex
from graph_tasks import graph_edit, node, triple


def test_listed_nodes_come_first_then_what_only_triples_name() -> None:
    edit = graph_edit(
        [triple("Turin", "in", "Italy"), triple("Milan", "in", "Italy")],
        [node("Milan", "Milano", "米兰", shown="Milan (city)"), node("Rome")],
    )
    index = GraphIndex()
    index.refresh(edit)
    rows = node_rows(edit, index)
    assert [(row.name, row.uses, row.listed) for row in rows] == [
        ("Milan", 1, 0),
        ("Rome", 0, 1),
        ("Turin", 1, None),
        ("Italy", 2, None),
    ]
    assert [row.name for row in filtered(rows, "米")] == ["Milan"]
    assert [row.name for row in filtered(rows, "CITY mil")] == ["Milan"]
    assert ordered(rows, "uses", descending=True)[0].name == "Italy"
    assert [row.name for row in ordered(rows, "name")] == ["Italy", "Milan", "Rome", "Turin"]


@pytest.mark.parametrize(
    ("text", "before", "aliases"),
    [
        ("a | b|a |", (), ["a", "b"]),
        ("东京；汴京;汴梁", (), ["东京", "汴京", "汴梁"]),
        ("Tom; Dick | Harry", ("Tom; Dick",), ["Tom; Dick", "Harry"]),
        ("", ("x",), []),
    ],
)
def test_aliases_as_one_line(text: str, before: tuple[str, ...], aliases: list[str]) -> None:
    assert split_aliases(text, before) == aliases
    assert split_aliases(joined_aliases(aliases), aliases) == aliases
