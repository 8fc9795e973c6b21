"""A gold built twice, by keys: from the brief alone, then side by side, then decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from cuecard.annotate.authoring.task_data import blank_triple
from cuecard.core.families.graph.gold import Graph
from cuecard.core.tasks.models import Task
from cuecard.store.workspace import Workspace
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.home import HomeScreen
from cuecard.tui.screens.independent_gold import CompareGoldScreen
from cuecard.tui.screens.independent_gold_build import BuildGoldScreen
from cuecard.tui.screens.tasks import TasksScreen
from steady_app import SteadyApp
from tui_rooms import shown, until

BUILT = (("Tower", "was built by", "Zibethicus"), ("Zibethicus", "began in", "1878"))
TRIPLES = ("gold", "triples")
SECRETS = ("Zibethicus", "Quorlax", "secret.example", "hidden note", "1877")


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def task() -> Task:
    """A graph task whose gold has names that occur nowhere else."""
    stage = {
        "title": "About Zibethicus",
        "cue": {"kind": "mentions", "text": "Quorlax is named", "terms": ["Quorlax"]},
        "line": "And when did Zibethicus begin?",
        "not_met": "You have not said Quorlax.",
    }
    start = {"title": "Start", "cue": {"kind": "start", "text": "begin"}, "line": "Who built it?"}
    return Task.model_validate(
        {
            "id": "tower",
            "title": "The tower",
            "language": "en",
            "query": "Who built the tower, and when did they begin?",
            "persona": {
                "identity": "A guide",
                "initial_query": "Tell me of the tower.",
                "stages": [start, stage],
                "behaviour": "Never say Zibethicus first.",
            },
            "gold": {
                "family": "graph",
                "triples": [
                    {"head": "tower", "relation": "built by", "tail": "Zibethicus", "stage": 1,
                     "note": "hidden note", "sources": ["https://secret.example/a"]},
                    {"head": "Zibethicus", "relation": "began in", "tail": "1877", "stage": 2},
                    {"head": "Zibethicus", "relation": "born in", "tail": "Quorlax"},
                ],
            },
            "sources": [{"url": "https://secret.example/b", "note": "hidden note"}],
            "notes": "hidden note",
        }
    )  # fmt: skip


def workspace(home: Path) -> Path:
    path = home / "tower.db"
    with Workspace.open(path) as ws:
        for name in ("Ana", "Ben"):
            ws.people.add(name)
        ws.tasks.save(task(), author="Ana")
    return path


async def at_list(pilot: Pilot[Any]) -> None:
    await pilot.press("2")
    await until(pilot, lambda: isinstance(pilot.app.screen, TasksScreen) and "tower" in shown(pilot.app.screen))  # fmt: skip


def said_on(screen: BuildGoldScreen) -> str:
    everything = [shown(screen), repr(screen.edit.data), repr(screen.edit.saved)]
    return "\n".join(everything)


async def built(pilot: Pilot[Any]) -> BuildGoldScreen:
    await pilot.press("full_stop", "b")
    await until(pilot, lambda: isinstance(pilot.app.screen, BuildGoldScreen))
    screen = pilot.app.screen
    assert isinstance(screen, BuildGoldScreen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


async def test_built_from_the_brief_compared_and_decided(home: Path, make_app: Any) -> None:
    path = workspace(home)
    app = make_app(path, "Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await at_list(pilot)
        screen = await built(pilot)
        assert "Who built the tower" in shown(screen)
        for tab in ("brief", "graph", "nodes", "problems"):
            await screen.editor.enter(tab)
            await pilot.pause()
            assert not [secret for secret in SECRETS if secret in said_on(screen)]
        assert list(screen.mode.tabs(screen.edit.data)) == ["brief", "graph", "nodes", "problems"]
        await screen.editor.enter("graph")
        await until(pilot, lambda: screen.editor.tabs.active == "graph")
        await pilot.press("enter", "T", "tab", "r", "tab", "x", "enter")
        await until(pilot, lambda: screen.edit.get(("gold", "triples", 0, "tail")) == "x")
        # What is typed goes this way; the rest need not be typed letter by letter.
        for index, (head, relation, tail) in enumerate(BUILT):
            made = {**blank_triple(), "head": head, "relation": relation, "tail": tail}
            screen.edit.arrange(TRIPLES, [*screen.edit.items(TRIPLES)[:index], made])
        screen.editor.reload()
        await pilot.press("f9")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareGoldScreen) and app.screen.loaded)
        assert "1877" in shown(app.screen)
        await pilot.press("s")
        assert app.screen.view.takes == {}

    app = make_app(path, "Ana")
    async with app.run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "Second gold is in" in shown(app.screen))
        assert "built by Ben" in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, CompareGoldScreen) and app.screen.loaded)
        compare = app.screen
        text = shown(compare)
        assert "independent gold by Ben" in text
        assert "0.50 (2)" in text
        assert "0.33 (3)" in text
        assert "0 of 2 decided" in text
        await pilot.press("s")
        await until(pilot, lambda: "1 of 2 decided" in shown(compare))
        await pilot.press("x", "ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog) and app.screen.focused)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        await until(pilot, lambda: "Second gold" not in shown(app.screen))
    with Workspace.open(path) as ws:
        revision = ws.tasks.revision("tower")
    assert (revision.number, revision.author) == (2, "Ana")
    assert isinstance(revision.task.gold, Graph)
    assert [revision.task.gold.named(t) for t in revision.task.gold.triples] == [
        ("tower", "built by", "Zibethicus"),
        ("Zibethicus", "began in", "1878"),
    ]
    assert revision.task.gold.triples[1].stage == 2
