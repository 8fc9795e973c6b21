"""Problems of drafts: what keeps them from being tasks, and what the rules find all the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget import examples
from cuecard.annotate.authoring.edit import find_problems
from cuecard.annotate.authoring.task_data import blank_task
from cuecard.annotate.lint.rules import lint, loosely
from cuecard.core.tasks.gold import FAMILIES
from cuecard.core.tasks.models import Task
from lint_tasks import BASES, TODAY, changed

S, T = "persona.stages", "gold.triples"


def places(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [(problem.code, problem.place) for problem in find_problems(data, TODAY)]


def test_a_draft_is_linted_where_it_is_written():
    """Unfinished triples and stages keep their place, and the rules see the rest."""
    data = changed(
        "en",
        {
            f"{T}[0].tail": "",
            f"{T}[2].relation": "",
            f"{T}[+]": {"head": "Tower", "relation": "is tall", "tail": "yes", "stage": 1},
            f"{S}[1].line": "Was he born in Dijon?",
            f"{S}[3].line": "",
            "query": "",
        },
    )
    found = places(data)
    assert found[:4] == [
        ("E003", "query"),
        ("E003", f"{S}[3].line"),
        ("E003", f"{T}[0].tail"),
        ("E003", f"{T}[2].relation"),
    ]
    assert {("L006", f"{S}[1].line"), ("L008", f"{T}[8].tail")} < set(found)
    assert all(problem.hint for problem in find_problems(data, TODAY))


def test_errors_come_first_and_what_is_silenced_last():
    double = {"head": "Tower", "relation": "built by", "tail": "Gustave Eiffel", "stage": 1}
    silence = {"code": "L013", "about": "Lifts", "reason": "meant"}
    changes = {f"{T}[+]": double, "silenced[+]": silence, f"{S}[6].not_met": ""}
    found = find_problems(changed("en", {**changes, f"{S}[5].not_met": ""}), TODAY)
    assert [(p.severity, p.code, p.silenced) for p in found] == [
        ("error", "L002", ""),
        ("warning", "L013", ""),
        ("warning", "L013", "meant"),
    ]


@pytest.mark.parametrize(
    ("base", "place", "value"),
    [("en", f"{T}[0].sources[0]", "example.org"), ("chain", "gold.steps", []), ("table", "gold.rows[0][0]", None)],
)  # fmt: skip
def test_what_validation_refuses_is_told_once(base: str, place: str, value: object):
    """The linter would say of the same place what follows from it."""
    found = places(changed(base, {place: value}))
    assert [code[0] for code, where in found if where == place] == ["E"]


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_task_lacks_what_it_needs_and_nothing_else_is_wrong_with_it(family):
    found = places(blank_task("t", "Title", family, "en"))
    assert {code for code, _place in found} <= {"E003", "E007", "L010", "L027", "L004"}
    assert ("E003", "query") in found


@pytest.mark.parametrize("base", BASES)
def test_a_whole_task_reads_the_same_loosely(base: str):
    data = Task.model_validate(BASES[base]).model_dump(mode="json")
    loose = loosely(data)
    assert loose is not None
    assert loose.model_dump(mode="json", warnings=False) == data
    assert lint(loose, TODAY) == ()


json = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5000) | st.text(max_size=12) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=examples(60), deadline=None)
@given(base=st.sampled_from(sorted(BASES)), value=json, data=st.data())
def test_no_shape_of_a_draft_stops_the_linter(base: str, value: Any, data: st.DataObject):
    """Anything may stand anywhere in a draft that came from a file or an editor."""
    root = changed(base, {})
    here: Any = root
    while isinstance(here, dict | list) and here:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(here[key], dict | list) or not here[key] or data.draw(st.booleans()):
            here[key] = value
            break
        here = here[key]
    for problem in find_problems(root, TODAY):
        assert problem.code
        assert problem.reason
