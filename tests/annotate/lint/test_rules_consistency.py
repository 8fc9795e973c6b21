"""Each rule on a task that breaks it, and on one that comes near and does not."""

from __future__ import annotations

from typing import Any

import pytest

from lint_tasks import DROP, GRAPH_EN, Changes, found

S, T = "persona.stages", "gold.triples"
BUILT = GRAPH_EN["gold"]["triples"][0]
UNSOURCED: list[dict[str, Any]] = [
    {**triple, "sources": []} for triple in GRAPH_EN["gold"]["triples"]
]


def triple(head: str, relation: str, tail: str, stage: int = 8) -> dict[str, Any]:
    return {**BUILT, "head": head, "relation": relation, "tail": tail, "stage": stage}


BREAKS: list[tuple[str, str, Changes, str]] = [
    ("L005", "en", {f"{T}[3].stage": 3}, f"{S}[3]"),
    ("L005", "zh", {f"{T}[7].stage": 7}, f"{S}[7]"),
    ("L008", "en", {f"{T}[+]": triple("Tower", "is tall", "Yes")}, f"{T}[8].tail"),
    ("L008", "zh", {f"{T}[+]": triple("地动仪", "留存至今", "否")}, f"{T}[8].tail"),
    ("L030", "en", {f"{T}[+]": {**BUILT, "relation": "drawn by", "stage": None}}, f"{T}[8].stage"),
    ("L030", "en", {T: [{**t, "stage": None} for t in GRAPH_EN["gold"]["triples"]]}, T),
    ("L031", "en", {f"{T}[1].head": "GUSTAVE EIFFEL "}, f"{T}[1].head"),
    ("L031", "en", {f"{T}[1].head": "Ｇｕｓｔａｖｅ Eiffel"}, f"{T}[1].head"),
    ("L031", "en", {f"{T}[1].head": "Gustave Eifel"}, f"{T}[1].head"),
    ("L031", "en", {f"{T}[+]": triple("Expo Universelle", "opened by", "Sadi Carnot")}, f"{T}[8].head"),
    ("L031", "zh", {f"{T}[4].head": "张 衡"}, f"{T}[4].head"),
    ("L031", "en", {"gold.nodes[+]": {"id": "Otis", "aliases": ["bonickhausen"]}}, "gold.nodes[1]"),
    ("L032", "en", {f"{T}[+]": triple("Tower", "Height", "324 m")}, f"{T}[8].tail"),
    ("L032", "zh", {f"{T}[+]": triple("地动仪", "制成年份", "138年")}, f"{T}[8].tail"),
    ("L033", "world", {"gold.facts[+]": {"key": "water again", "value": "800", "entity": "Station", "attribute": "water", "unit": "l"}}, "gold.facts[3].value"),
    ("L034", "world", {"gold.facts[1].value": "40"}, "gold.facts[1].value"),
    ("L034", "world", {"gold.derivation": "Water 900 by daily use 36 is 24 days."}, "gold.derivation"),
    ("L035", "table", {"query": "List the rivers with River and Length."}, "gold.columns[2].name"),
    ("L036", "en", {f"{T}[6].tail": "Otis, Roux and Lepape"}, f"{T}[6].tail"),
    ("L036", "zh", {f"{T}[6].tail": "后汉书、续汉书"}, f"{T}[6].tail"),
    ("L010", "en", {"sources": [], T: UNSOURCED}, "sources"),
    ("L010", "table", {"sources": []}, "sources"),
    ("L037", "en", {T: [BUILT, *UNSOURCED[1:]]}, T),
    ("L038", "en", {"sources[0].url": "http://localhost/tower"}, "sources[0].url"),
    ("L038", "en", {f"{T}[2].sources[0]": "https://example.org/tower。"}, f"{T}[2].sources[0]"),
    ("L038", "en", {"sources[0].url": "https://example.org/tower)"}, "sources[0].url"),
    ("L038", "chain", {"gold.steps[0].sources": ["https://https://example.org"]}, "gold.steps[0].sources[0]"),
    ("L039", "en", {"sources[+]": {"url": "https://example.org/tower/"}}, "sources[1].url"),
    ("L040", "world", {"query": "On 1 March 2025 the station is cut off. When does the retreat rule apply?"}, "gold.facts"),
    ("L041", "en", {f"{T}[4].relation": "built in the year", f"{T}[4].tail": "2089"}, f"{T}[4].tail"),
    ("L041", "zh", {f"{T}[2].tail": "2132年"}, f"{T}[2].tail"),
    ("L041", "table", {"gold.rows[1][2]": "2092"}, "gold.rows[1][2]"),
    ("L041", "chain", {"gold.steps[0].target": "3 May 2099"}, "gold.steps[0].target"),
    ("L042", "en", {f"{S}[3].line": "这座塔是用什么材料造的？"}, f"{S}[3].line"),
    ("L042", "en", {f"{T}[3].relation": "材料"}, f"{T}[3].relation"),
    ("L042", "zh", {f"{S}[3].line": "What was the instrument made of, and where?"}, f"{S}[3].line"),
    ("L042", "zh", {f"{T}[3].relation": "made of"}, f"{T}[3].relation"),
    ("L043", "en", {f"{S}[3].line": "What metal is the Tower made of？"}, f"{S}[3].line"),
    ("L043", "en", {f"{T}[3].tail": "ｓｔｅｅｌ"}, f"{T}[3].tail"),
    ("L043", "zh", {f"{S}[3].line": "地动仪用什么材料铸成?"}, f"{S}[3].line"),
    ("L043", "zh", {f"{S}[3].not_met": "好的,再说说吧。"}, f"{S}[3].not_met"),
    ("L044", "en", {"silenced[+]": {"code": "L008", "about": "x", "reason": "meant"}}, "silenced[0]"),
]  # fmt: skip

KEEPS: list[tuple[str, str, Changes]] = [
    ("L005", "en", {T: [{**t, "stage": None} for t in GRAPH_EN["gold"]["triples"]]}),
    ("L030", "en", {"persona": DROP, T: [{**t, "stage": None} for t in GRAPH_EN["gold"]["triples"]]}),
    ("L031", "en", {f"{T}[+]": triple("Tower", "opened in", "1889"), "gold.nodes[+]": {"id": "Dijon", "aliases": ["1888"]}}),
    ("L031", "en", {f"{T}[5].tail": "C++", f"{T}[6].tail": "C#", f"{T}[7].tail": "1.5", f"{T}[3].tail": "15"}),
    ("L031", "zh", {f"{T}[5].tail": "北京大学", f"{T}[6].tail": "南京大学"}),
    ("L032", "en", {f"{T}[+]": triple("Gustave Eiffel", "born in", "1832")}),
    ("L032", "en", {f"{T}[+]": triple("Tower", "lifts made by", "Roux")}),
    ("L032", "en", {f"{T}[5].relation": "won the prize in the year", f"{T}[5].tail": "1900", f"{T}[+]": triple("Tower", "won the prize in the year", "1937")}),
    ("L031", "en", {f"{T}[5].tail": "World War I", f"{T}[6].tail": "World War II"}),
    ("L033", "world", {"gold.facts[+]": {"key": "water again", "value": "900", "entity": "station", "attribute": "water", "unit": "l"}}),
    ("L034", "world", {"gold.derivation": ""}),
    ("L034", "world", {"gold.facts[0].value": "1,900", "gold.derivation": "Water is 1900 l: 25 days."}),
    ("L035", "table", {"query": "For every river give the length, and when it was opened."}),
    ("L035", "table", {"gold.columns[1].name": "Length (km)", "query": "For every River: its length, and when was it Opened?"}),
    ("L035", "table", {"gold.columns[1].name": "Length in km", "query": "For every River: how many km is its length, and when was it Opened?"}),
    ("L037", "en", {T: [*GRAPH_EN["gold"]["triples"][:4], *UNSOURCED[4:]]}),
    ("L038", "en", {"sources[0].url": "https://en.wikipedia.org/wiki/Eiffel_(disambiguation)"}),
    ("L038", "zh", {"sources[0].url": "https://zh.wikipedia.org/wiki/节气"}),
    ("L038", "zh", {"sources[0].url": "https://zh.wikipedia.org/wiki/登封“天地之中”"}),
    ("L040", "world", {"query": "二〇三五年三月，按 retreat rule 何时撤离？"}),
    ("L041", "en", {f"{T}[4].relation": "weight in tons", f"{T}[4].tail": "7300"}),
    ("L041", "table", {"gold.rows[1][1]": "2850"}),
    ("L042", "en", {f"{S}[3].line": "What does the sign “铁塔” say?"}),
    ("L042", "zh", {f"{T}[3].tail": "SN 1054", f"{S}[3].line": "用 SN 1054 当例子，材料是什么？"}),
    ("L043", "zh", {f"{S}[3].line": "比例是 3:4，还是 1,000？"}),
    ("L043", "en", {f"{S}[3].line": "What does 铁塔，高塔 mean?"}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "base", "changes", "place"), BREAKS)
def test_what_breaks_a_rule_is_found(code: str, base: str, changes: Changes, place: str):
    assert (code, place) in found(base, changes)


@pytest.mark.parametrize(("code", "base", "changes"), KEEPS)
def test_what_keeps_a_rule_is_not(code: str, base: str, changes: Changes):
    assert code not in [found_code for found_code, _place in found(base, changes)]
