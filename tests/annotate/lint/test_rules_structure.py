"""Each rule on a task that breaks it, and on one that comes near and does not."""

from __future__ import annotations

import pytest

from lint_tasks import DROP, GRAPH_EN, Changes, changed, found

STAGES, TRIPLES = "persona.stages", "gold.triples"
SECOND = {"kind": "mentions", "text": "The reply names the builder"}
BUILT = GRAPH_EN["gold"]["triples"][0]

BREAKS: list[tuple[str, str, Changes, str]] = [
    ("L001", "en", {f"{STAGES}[0].cue": SECOND, f"{STAGES}[1].cue.text": "He is named"}, f"{STAGES}[0].cue.kind"),
    ("L001", "zh", {f"{STAGES}[3].cue.kind": "start"}, f"{STAGES}[3].cue.kind"),
    ("L002", "en", {f"{TRIPLES}[+]": {**BUILT, "tail": "gustave  EIFFEL"}}, f"{TRIPLES}[8]"),
    ("L002", "zh", {f"{TRIPLES}[+]": {"head": "地动仪", "relation": "制造者：", "tail": "张衡", "stage": 1, "sources": ["https://a.org"]}}, f"{TRIPLES}[8]"),
    ("L003", "table", {"gold.rows[+]": ["rhine ", "1233", "1869-11-17"]}, "gold.rows[3]"),
    ("L003", "table", {"gold.rows[+]": ["Rhine", "1,233 km", "1869-11-17"]}, "gold.rows[3]"),
    ("L004", "chain", {"gold.steps[0].ambiguity": DROP}, "gold.steps"),
    ("L004", "chain", {"difficulty": "hard"}, "difficulty"),
    ("L012", "table", {"gold.rows[1][0]": " "}, "gold.rows[1][0]"),
    ("L013", "en", {f"{STAGES}[4].not_met": ""}, f"{STAGES}[4].not_met"),
    ("L013", "table", {"gold.rows[1][1]": ""}, "gold.rows[1][1]"),
    ("L014", "en", {f"{TRIPLES}[1].stage": 1, f"{TRIPLES}[0].stage": 2, f"{STAGES}[0].line": "Where was the man born?", f"{STAGES}[1].line": "And who built the Tower?"}, f"{STAGES}[0]"),
    ("L014", "en", {f"{STAGES}[1].title": "Stage 4: his town"}, f"{STAGES}[1].title"),
    ("L014", "zh", {f"{STAGES}[2].title": "第五阶段：年份"}, f"{STAGES}[2].title"),
    ("L015", "en", {f"{STAGES}[1].cue.terms": ["Otis"]}, f"{STAGES}[1].cue"),
    ("L015", "zh", {f"{STAGES}[1].cue.text": "回复说出了太史令"}, f"{STAGES}[1].cue"),
    ("L016", "en", {"gold.nodes[+]": {"id": "Louvre"}}, "gold.nodes[1].id"),
    ("L016", "en", {f"{TRIPLES}[1].head": "Bonickhausen"}, f"{TRIPLES}[1].head"),
    ("L016", "en", {"gold.nodes[+]": {"id": "n7", "name": "Otis"}, f"{TRIPLES}[6].tail": "n7", f"{TRIPLES}[7].tail": "n8"}, f"{TRIPLES}[7].tail"),
    ("L016", "zh", {"gold.nodes": [{"id": "张衡", "aliases": ["张平子"]}], f"{TRIPLES}[0].tail": "张平子"}, f"{TRIPLES}[0].tail"),
    ("L017", "table", {"gold.columns[1].criterion": "about a tenth"}, "gold.columns[1].criterion"),
    ("L017", "table", {"gold.columns[2].preprocess": ["extract_number"]}, "gold.columns[2].preprocess"),
    ("L017", "table", {"gold.columns[1].preprocess": ["extract_number", "norm_date"]}, "gold.columns[1].preprocess"),
    ("L017", "table", {"gold.columns[0].metric": ["llm_judge"]}, "gold.columns[0].criterion"),
    ("L018", "table", {"gold.rows[0][1]": "rather long"}, "gold.rows[0][1]"),
    ("L018", "table", {"gold.rows[0][2]": "in spring"}, "gold.rows[0][2]"),
    ("L018", "table", {"gold.columns[0].metric": ["url_match"]}, "gold.rows[0][0]"),
    ("L018", "table", {"gold.columns[1].preprocess": ["norm_str"], "gold.rows[0][1]": "rather long"}, "gold.rows[0][1]"),
    ("L019", "chain", {"gold.final_answer": "1200 km"}, "gold.steps[1].target"),
    ("L020", "chain", {"gold.steps[0].ambiguity.candidates": ["Red River", "Green River"]}, "gold.steps[0].ambiguity.candidates"),
    ("L020", "chain", {"gold.steps[0].ambiguity.candidates[+]": "RED RIVER"}, "gold.steps[0].ambiguity.candidates[2]"),
    ("L021", "world", {"difficulty": "medium"}, "difficulty"),
    ("L022", "world", {"gold.facts[+]": {"key": "Station  Water", "value": "900"}}, "gold.facts[3].key"),
    ("L022", "world", {"gold.facts[+]": {"key": "ｓｔａｔｉｏｎ water", "value": "900"}}, "gold.facts[3].key"),
    ("L023", "world", {"gold.facts[+]": {"key": "leap convention", "value": "every fourth year", "kind": "rule"}}, "gold.facts[3]"),
]  # fmt: skip

KEEPS: list[tuple[str, str, Changes]] = [
    ("L002", "en", {f"{TRIPLES}[+]": {**BUILT, "relation": "designed by"}}),
    ("L003", "table", {"gold.unique_columns": ["River", "Opened"], "gold.rows[+]": ["Rhine", "1233", "1900"]}),
    ("L004", "chain", {"difficulty": None}),
    ("L013", "en", {f"{STAGES}[0].not_met": ""}),
    ("L014", "en", {f"{STAGES}[0].title": "Stage 1: the builder", f"{STAGES}[1].title": "Stage 2: his town"}),
    ("L014", "zh", {f"{STAGES}[0].title": "第一阶段", f"{STAGES}[1].title": "第二阶段"}),
    ("L015", "en", {f"{STAGES}[1].cue.terms": ["Otis", "Eiffel", "engineer"]}),
    ("L015", "en", {f"{STAGES}[1].cue.terms": ["Gustave Eiffel"]}),
    ("L016", "en", {"gold.nodes[+]": {"id": "n7", "name": "Otis"}, f"{TRIPLES}[6].tail": "n7"}),
    ("L017", "table", {"gold.columns[1].criterion": "5%"}),
    ("L017", "table", {"gold.columns[0].metric": ["llm_judge"], "gold.columns[0].criterion": "The same river."}),
    ("L018", "table", {"gold.rows[0][2]": "1869年11月17日"}),
    ("L018", "table", {"gold.columns[1].preprocess": ["norm_str"], "gold.rows[0][1]": "1.9×10²"}),
    ("L019", "chain", {"gold.final_answer": "1200 km", "gold.steps[1].aliases": ["1200 KM"]}),
    ("L021", "world", {"difficulty": None}),
    ("L022", "world", {"gold.facts[+]": {"key": "station water 2", "value": "900"}}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "base", "changes", "place"), BREAKS)
def test_what_breaks_a_rule_is_found(code: str, base: str, changes: Changes, place: str):
    assert (code, place) in found(base, changes)


@pytest.mark.parametrize(("code", "base", "changes"), KEEPS)
def test_what_keeps_a_rule_is_not(code: str, base: str, changes: Changes):
    assert code not in [found_code for found_code, _place in found(base, changes)]


def test_rows_that_contradict_each_other_say_where():
    from cuecard.annotate.lint.rules import lint
    from cuecard.core.tasks.models import Task

    data = changed("table", {"gold.rows[+]": ["rhine ", "999", "1869-11-17"]})
    (finding,) = lint(Task.model_validate(data))
    assert "Length: 1,233 km / 999" in finding.reason
