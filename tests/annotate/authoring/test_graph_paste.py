from __future__ import annotations

import pytest

from cuecard.annotate.authoring.graph_names import GraphIndex
from cuecard.annotate.authoring.graph_ops import HEADER_WORDS, columns_of, plan_paste, read_urls
from cuecard.annotate.authoring.paste import parse_rows
from graph_tasks import graph_edit, triple


def planned(text: str, triples=(), stages: int = 5, **more):
    index = GraphIndex()
    index.refresh(graph_edit(list(triples)))
    pasted = parse_rows(text, HEADER_WORDS)
    return plan_paste(index, pasted.header, pasted.rows, stages=stages, **more)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (("head", "relation", "tail"), ("head", "relation", "tail")),
        (("Subject", "Predicate", "Object", "URL"), ("head", "relation", "tail", "sources")),
        (("id", "tail_id", "head_id", "relation"), (None, "tail", "head", "relation")),
        (("头", "关系", "尾", "阶段", "来源"), ("head", "relation", "tail", "stage", "sources")),
    ],
)
def test_headers_say_what_columns_are(header, expected) -> None:
    assert columns_of(header, [["x"] * len(header)]) == expected


def test_without_a_header_the_place_and_the_content_say_it() -> None:
    rows = [["a", "r", "b", "https://x.org", "3", "he said so"]]
    assert columns_of(None, rows) == ("head", "relation", "tail", "sources", "stage", "note")
    assert columns_of(None, [["a", "r"]]) == ("head", "relation")


def test_what_is_new_like_another_twice_or_bad_is_told_apart() -> None:
    plan = planned(
        "head\trelation\ttail\tstage\tsource\n"
        "Milan\tin\tItaly\t1\thttps://a.org\n"
        "milan\thosted\tFair\t2\t\n"
        "Milan\thost-ed\tExpo\t\t\n"
        "Turin\tin\tItaly\t9\t\n"
        "Turin\tin\t\t1\t\n"
        "Rome\tin\tItaly\tsoon\t\n"
        "Rome\tin\tItaly\t1\tnowhere\n"
        "MILAN\tin\titaly\t1\t\n",
        [triple("Milan", "hosted", "Fair"), triple("Milan", "hosted", "Expo")],
        stage=4,
    )
    states = [row.state for row in plan.triples]
    assert states == ["new", "duplicate", "near", "near", "bad", "bad", "bad", "duplicate"]
    assert [row.like for row in plan.triples[:4]] == [None, 0, 1, None]
    assert plan.of("new") == [triple("Milan", "in", "Italy", stage=1, sources=["https://a.org"])]
    assert plan.triples[2].triple["stage"] == 4
    assert plan.triples[3].triple["stage"] is None
    assert all(row.reason for row in plan.triples if row.state != "new")


def test_json_and_markdown_come_in_alike() -> None:
    json = '[{"subject": "甲", "predicate": "位于", "object": "乙"}]'
    table = "| 头 | 关系 | 尾 |\n|---|---|---|\n| 甲 | 位于 | 乙 |"
    assert planned(json).of("new") == planned(table).of("new") == [triple("甲", "位于", "乙")]


@pytest.mark.parametrize(
    ("text", "urls", "bad"),
    [
        ("", [], []),
        ("https://a.org/x_(y), https://b.org", ["https://a.org/x_(y)", "https://b.org"], []),
        ("https://a.org;https://b.org；https://a.org", ["https://a.org", "https://b.org"], []),
        ("see https://a.org", ["https://a.org"], ["see"]),
        ("a.org", [], ["a.org"]),
        ("https://zh.wikipedia.org/wiki/水运仪象台、https://b.org", ["https://zh.wikipedia.org/wiki/水运仪象台", "https://b.org"], []),
    ],
)  # fmt: skip
def test_addresses_are_found_in_a_cell(text: str, urls: list[str], bad: list[str]) -> None:
    assert read_urls(text) == (urls, bad)
