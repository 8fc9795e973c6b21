"""The figures of the structure, counted in trees made up for it."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest

import structure


def plant(folder: Path, files: dict[str, str]) -> dict[str, structure.Module]:
    for name, text in files.items():
        path = folder / "made" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return structure.modules(folder / "made")


def arrows_of(known: dict[str, structure.Module]) -> dict[str, set[str]]:
    return {name: structure.imported(module, known) for name, module in known.items()}


def test_circles_are_of_what_stands_at_the_top_of_modules(tmp_path: Path):
    known = plant(
        tmp_path,
        {
            "__init__.py": "",
            "a.py": "from made.b import x\n",
            "b.py": "from made import c\nx = 1\n",
            "c.py": """
                from typing import TYPE_CHECKING
                if TYPE_CHECKING:
                    import made.a
                """,
            "d.py": "import os\nfrom made import a, e\n",
            # Inside of a function no circle closes.
            "e.py": "def later():\n    from made import d\n    return d\n",
            "f/__init__.py": "from made.f.g import h\n",
            "f/g.py": "import made.f\nh = 1\n",
        },
    )
    arrows = arrows_of(known)
    assert arrows["made.d"] == {"made.a", "made.e"}
    assert arrows["made.e"] == set()
    assert sorted(structure.circles(arrows)) == [
        ["made.a", "made.b", "made.c"],
        ["made.f", "made.f.g"],
    ]
    assert structure.circles({"one": {"two"}, "two": {"three"}, "three": set()}) == []


def test_two_circles_that_touch_are_one():
    touching = {"a": {"b"}, "b": {"a", "c"}, "c": {"b"}, "d": {"a"}}
    assert structure.circles(touching) == [["a", "b", "c"]]


def test_arrows_are_between_packages_and_may_point_up(tmp_path: Path):
    known = plant(
        tmp_path,
        {
            "__init__.py": "",
            "__main__.py": "import made.tui.app\n",
            "tui/app.py": "import made.core.tasks.models\nimport made.store.engine\n",
            "tui/kit/grid.py": "import made.tui.app\nimport made.core.errors\n",
            "store/engine.py": "import made.core.errors\nimport made.annotate.lint\n",
            "annotate/lint.py": "",
            "core/errors.py": "",
            "core/tasks/models.py": "",
        },
    )
    pairs = structure.between_packages(arrows_of(known), known)
    assert pairs == {
        ("tui", "core"),
        ("tui", "store"),
        ("store", "core"),
        ("store", "annotate"),
    }
    assert [pair for pair in pairs if structure.points_up(pair)] == [("store", "annotate")]


def test_lines_of_imports_are_counted_wherever_they_stand(tmp_path: Path):
    text = """
        import os
        from typing import (
            Any,
            Final,
        )

        def later() -> None:
            import json
        """
    (module,) = plant(tmp_path, {"a.py": text}).values()
    assert (structure.import_lines(module), module.lines) == (6, 9)


@pytest.mark.parametrize(
    "code",
    [
        "if task.family == 'table':\n    x = 1",
        # A chain is one branch, however long.
        "if family == 'table':\n    x = 1\nelif family == 'facts':\n    x = 2\nelif family == 'graph':\n    x = 3",
        "if done:\n    x = 1\nelif family == 'facts':\n    x = 2",
        "x = 1 if isinstance(gold, Table) else 2",
        "x = 1 if isinstance(gold, (Graph, Table)) else 2",
        "match gold:\n    case Graph():\n        x = 1\n    case FactWorld(facts=facts):\n        x = 2",
        "match task.family:\n    case 'table':\n        x = 1\n    case _:\n        x = 2",
        "LABELS = {'table': 1, 'graph': 2}",
        "x = [g for g in golds if isinstance(g, CheckpointChain)]",
        "def f():\n    return task.family == 'table'",
        "assert isinstance(gold, FactWorld)",
    ],
)
def test_a_branch_on_the_family_is_counted_once(code: str):
    assert len(structure.family_branches(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "x = 'table'",
        "play('table')",
        "LABELS = {'table': 1}",
        "LABELS = {1: 'table', 2: 'graph'}",
        "if isinstance(event, Message):\n    x = 1",
        "match event:\n    case Message():\n        x = 1",
        "if family_of(gold):\n    x = 1",
    ],
)
def test_to_name_a_family_is_no_branch(code: str):
    assert structure.family_branches(ast.parse(code)) == []


def test_branches_inside_of_a_branch_are_their_own():
    code = """
    if family == 'table':
        x = 1
    else:
        y = 1
        if family == 'facts':
            x = 2
    """
    assert structure.family_branches(ast.parse(dedent(code))) == [2, 6]


def test_a_figure_over_its_bound_is_marked_and_one_short_of_its_goal_says_so():
    over, held, reached = (
        structure.Figure("files", n, b, 600) for n, b in ((9, 8), (8, 700), (1, 600))
    )
    assert (over.over, held.over, reached.over) == (True, False, False)
    assert str(over).startswith("✗")
    assert str(held).endswith("<= 700, goal 600")
    assert str(reached).endswith("<= 600")
