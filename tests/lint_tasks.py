"""Small clean tasks of every family, English and Chinese, to break one rule at a time."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import date
from typing import Any

from cuecard.annotate.authoring import task_data as trees
from cuecard.annotate.lint.codes import Finding
from cuecard.annotate.lint.rules import lint
from cuecard.core.tasks.models import Task

TODAY = date(2026, 3, 1)
DROP = object()

Changes = Mapping[str, Any]
"""Place -> value; `DROP` takes away what stands there, `[+]` at the end of a place adds to a list."""


def _stage(title: str, kind: str, cue: str, line: str, not_met: str) -> dict[str, Any]:
    return {
        "title": title,
        "cue": {"kind": kind, "text": cue},
        "line": line,
        "not_met": not_met,
    }


def _triple(head: str, relation: str, tail: str, stage: int) -> dict[str, Any]:
    return {
        "head": head,
        "relation": relation,
        "tail": tail,
        "stage": stage,
        "sources": ["https://example.org/tower"],
    }


_PUSH = "Let us stay with that for a moment."
GRAPH_EN: dict[str, Any] = {
    "id": "tower",
    "title": "A tower and its builder",
    "language": "en",
    "difficulty": "hard",
    "query": "Tell the history of the tower and of those who built it.",
    "persona": {
        "identity": "A tourist who likes iron and rain.",
        "initial_query": "Hello, I would love to hear about the big tower.",
        "stages": [
            _stage("The builder", "start", "The conversation starts", "Who built the Tower?", ""),
            _stage("His town", "mentions", "The reply names the builder", "And where was he born?", _PUSH),
            _stage("Height", "asks", "The agent asks whether to look at measurements", "How high is the Tower?", _PUSH),
            _stage("Metal", "mentions", "The reply gives the height", "What metal is the Tower made of?", _PUSH),
            _stage("Fair", "completes", "The metal is covered", "For which fair was the Tower built?", _PUSH),
            _stage("Paint", "asks", "The agent asks about colours", "Which paint does the Tower wear?", _PUSH),
            _stage("Lifts", "mentions", "The reply names the paint", "Who made the lifts of the Tower?", _PUSH),
            _stage("Radio", "completes", "The lifts are covered", "Which general put radio on the Tower?", _PUSH),
        ],
    },
    "gold": {
        "family": "graph",
        "nodes": [{"id": "Gustave Eiffel", "aliases": ["Bonickhausen"]}],
        "triples": [
            _triple("Tower", "built by", "Gustave Eiffel", 1),
            _triple("Gustave Eiffel", "born in", "Dijon", 2),
            _triple("Tower", "height", "330 m", 3),
            _triple("Tower", "made of", "wrought iron", 4),
            _triple("Tower", "built for", "Exposition Universelle", 5),
            _triple("Tower", "painted with", "Eiffel Brown", 6),
            _triple("Tower", "lifts made by", "Otis", 7),
            _triple("Tower", "radio installed by", "Gustave Ferrié", 8),
        ],
    },
    "sources": [{"url": "https://example.org/tower"}],
}  # fmt: skip

_PUSH_ZH = "这一点我们再说说吧。"
GRAPH_ZH: dict[str, Any] = {
    "id": "seismograph",
    "title": "地动仪和它的制造者",
    "language": "zh",
    "difficulty": "hard",
    "query": "请讲讲地动仪和它的制造者。",
    "persona": {
        "identity": "一位喜欢古代科学的老师。",
        "initial_query": "你好，我想听听地动仪的故事。",
        "stages": [
            _stage("制造者", "start", "对话开始", "地动仪是谁造的？", ""),
            _stage("籍贯", "mentions", "回复说出了制造者的名字", "这位制造者是哪里人？", _PUSH_ZH),
            _stage("年份", "asks", "对方主动问要不要查年份", "地动仪是哪一年造成的？", _PUSH_ZH),
            _stage("材料", "mentions", "回复给出了年份", "地动仪用什么材料铸成？", _PUSH_ZH),
            _stage("著作", "completes", "材料已经讲清", "制造者写过哪部天文著作？", _PUSH_ZH),
            _stage("官职", "asks", "对方主动问起官场生涯", "他当过什么官？", _PUSH_ZH),
            _stage("史书", "mentions", "回复说出了官名", "哪部史书记载了地动仪？", _PUSH_ZH),
            _stage("复原", "completes", "史书已经讲清", "近代是谁复原了地动仪？", _PUSH_ZH),
        ],
    },
    "gold": {
        "family": "graph",
        "triples": [
            _triple("地动仪", "制造者", "张衡", 1),
            _triple("张衡", "籍贯", "南阳西鄂", 2),
            _triple("地动仪", "制成年份", "132年", 3),
            _triple("地动仪", "材料", "精铜", 4),
            _triple("张衡", "天文著作", "灵宪", 5),
            _triple("张衡", "官职", "太史令", 6),
            _triple("地动仪", "记载的史书", "后汉书", 7),
            _triple("地动仪", "近代复原者", "王振铎", 8),
        ],
    },
    "sources": [{"url": "https://example.org/seismograph"}],
}

TABLE: dict[str, Any] = {
    "id": "rivers",
    "title": "Three rivers",
    "language": "en",
    "query": "List the rivers with River, Length and Opened.",
    "gold": {
        "family": "table",
        "columns": [
            {"name": "River"},
            {"name": "Length", "preprocess": ["extract_number"], "metric": ["number_near"], "criterion": "0.01"},
            {"name": "Opened", "preprocess": ["norm_date"], "metric": ["date_near"]},
        ],
        "unique_columns": ["River"],
        "rows": [
            ["Rhine", "1,233 km", "1869-11-17"],
            ["Danube", "2850 km", "1992"],
            ["Elbe", "1094", "3 May 1990"],
        ],
    },
    "sources": [{"url": "https://example.org/rivers"}],
}  # fmt: skip

CHAIN: dict[str, Any] = {
    "id": "river",
    "title": "A long river",
    "language": "en",
    "difficulty": "easy",
    "query": "How long is the longer of the coloured rivers?",
    "gold": {
        "family": "checkpoints",
        "opening": "How long is that river?",
        "steps": [
            {
                "question": "Which river?",
                "target": "Blue River",
                "ambiguity": {
                    "type": "entity",
                    "logic": "There are two.",
                    "candidates": ["Red River", "Blue River"],
                    "clue": "I mean the longer one.",
                },
            },
            {"question": "How long is it?", "target": "900 km"},
        ],
        "final_answer": "900 km",
        "forbidden": ["Blue River"],
    },
    "sources": [{"url": "https://example.org/river"}],
}

WORLD: dict[str, Any] = {
    "id": "station",
    "title": "Water on the station",
    "language": "en",
    "difficulty": "easy",
    "query": "On 1 March 2035 the station is cut off. After how many days does the retreat rule apply?",
    "gold": {
        "family": "facts",
        "facts": [
            {"key": "station water", "value": "900", "entity": "station", "attribute": "water", "unit": "l"},
            {"key": "station use", "value": "36", "entity": "station", "attribute": "daily use", "unit": "l"},
            {"key": "retreat rule", "value": "leave when the tanks are empty", "kind": "rule", "entity": "station", "attribute": "retreat rule"},
        ],
        "answer": "25 days",
        "derivation": "Water 900 by daily use 36: 25 days.",
    },
    "sources": [{"url": "https://example.org/station"}],
}  # fmt: skip

BASES = {"en": GRAPH_EN, "zh": GRAPH_ZH, "table": TABLE, "chain": CHAIN, "world": WORLD}


def changed(base: str, changes: Changes) -> dict[str, Any]:
    """The data of a clean task with changes in it."""
    data = copy.deepcopy(BASES[base])
    for place, value in changes.items():
        path = trees.parse_place(place.removesuffix("[+]"))
        if place.endswith("[+]"):
            try:
                items = trees.get(data, path)
            except LookupError:
                items = []
            data = trees.put(data, path, [*items, value])
        elif value is DROP:
            data = trees.remove(data, path)
        else:
            data = trees.put(data, path, value)
    return data


def findings(base: str, changes: Changes) -> tuple[Finding, ...]:
    return lint(Task.model_validate(changed(base, changes)), TODAY)


def found(base: str, changes: Changes) -> list[tuple[str, str]]:
    """Code and place of what is found in a clean task with changes in it."""
    return [(f.code, f.place) for f in findings(base, changes)]
