from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from cuecard.annotate.lint.codes import RULES, Severity
from cuecard.annotate.lint.rules import lint
from cuecard.core.tasks.models import Task
from lint_page import lint_page
from lint_tasks import BASES, TODAY, changed, findings

ROOT = Path(__file__).parents[3]
TABLES = ("structure", "disclosure", "consistency")


def breaks():
    for name in TABLES:
        path = Path(__file__).parent / f"test_rules_{name}.py"
        spec = importlib.util.spec_from_file_location(f"rules_{name}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def test_every_rule_has_a_task_that_breaks_it_and_every_finding_explains_itself():
    broken: set[str] = set()
    for module in breaks():
        for code, base, changes, _place in module.BREAKS:
            broken.add(code)
            for finding in findings(base, changes):
                rule = RULES[finding.code]
                assert finding.severity in rule.severities
                assert finding.reason
                assert finding.hint
                assert "[" not in finding.about or finding.code in ("L043", "L044")
    assert broken == {code for code in RULES if code.startswith("L")}


def test_rules_that_many_tasks_break_have_one_that_keeps_them():
    kept = {code for module in breaks() for code, *_rest in module.KEEPS}
    assert {"L006", "L024", "L026", "L029", "L031", "L032", "L038", "L041", "L043"} <= kept


def test_the_page_of_rules_is_the_registry():
    """Write it with scripts/lint_page.py."""
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    assert page == lint_page()
    for code in RULES:
        assert page.count(f"| {code} |") == 1


@pytest.mark.parametrize("base", BASES)
def test_what_a_finding_is_about_does_not_move_with_its_place(base: str):
    """A silence stays with the thing when something is put in before it."""
    extra = {
        "title": "Before",
        "cue": {"kind": "start", "text": "s"},
        "line": "Hello.",
        "not_met": "",
    }
    if base not in ("en", "zh"):
        return
    data = changed(base, {"persona.stages[4].not_met": ""})
    before = {f.about for f in lint(Task.model_validate(data), TODAY) if f.code == "L013"}
    data["persona"]["stages"].insert(0, extra)
    after = {f.about for f in lint(Task.model_validate(data), TODAY) if f.code == "L013"}
    assert before == after - {""}


def test_a_silence_holds_for_its_code_and_its_thing_only():
    changes = {"persona.stages[4].not_met": "", "persona.stages[5].not_met": ""}
    silence = {"code": "L013", "about": "Fair", "reason": "meant"}
    found = findings("en", {**changes, "silenced[+]": silence})
    assert [(f.code, f.about, f.silenced) for f in found] == [
        ("L013", "Fair", "meant"),
        ("L013", "Paint", ""),
    ]
    assert all(f.severity is Severity.WARNING for f in found)
