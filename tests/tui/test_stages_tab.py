from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Static

from cuecard.annotate.authoring.ops import SOURCES, STAGES
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.outside_programs import SavedText
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.task.brief import BriefPane
from cuecard.tui.screens.task.evidence import EvidencePane
from cuecard.tui.screens.task.screen import TaskScreen
from cuecard.tui.screens.task.stages import RehearsePane, SplitDialog, StagesPane
from cuecard.tui.widgets.inputs import LineEditor, TextEditor
from cuecard.tui.widgets.text import Paragraphs, Prose
from openai_server import running, text
from tui_rooms import until

ANSWER = '{"reason": "It names him.", "cue_met": true, "stage": 2, "reply": "x", "done": false}'


async def opened(pilot: Pilot, task_id: str, place: str) -> TaskScreen:
    screen = TaskScreen(task_id, place=place, editing=bool(place))
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


def told(pane: RehearsePane, name: str) -> str:
    shown = pane.query_one(f"#{name}", Paragraphs)
    return "\n".join(paragraph.text for paragraph in shown._paragraphs)


async def test_a_stage_is_split_merged_and_rehearsed(database: Path, home: Path, make_app) -> None:
    with running(lambda request: text(ANSWER)) as server:
        (home / "cuecard.yaml").write_text(
            f"models:\n  m:\n    base_url: {server.url}\n    model: tiny\n"
        )
        app: CuecardApp = make_app(database)
        async with app.run_test(size=(80, 24)) as pilot:
            screen = await opened(pilot, "espresso", "persona.stages[1]")
            pane = screen.query_one(StagesPane)
            edit = screen.edit
            first = edit.items(STAGES)[1]["line"]
            await until(pilot, lambda: pane.index == 1)

            await pilot.press("full_stop", "s")
            await until(pilot, lambda: isinstance(app.screen, SplitDialog) and app.screen.focused)
            await pilot.press("tab", "enter")
            await until(pilot, lambda: len(edit.items(STAGES)) == 13)
            halves = [stage["line"] for stage in edit.items(STAGES)[1:3]]
            assert " ".join(halves) == first
            await until(pilot, lambda: isinstance(screen.focused, TextEditor))
            assert pane.index == 2

            await pilot.press("escape", "up", "full_stop", "m")
            await until(pilot, lambda: len(edit.items(STAGES)) == 12)
            assert edit.items(STAGES)[1]["line"] == first
            await pilot.press("ctrl+z", "ctrl+z")
            await until(pilot, lambda: not edit.changed)

            screen.query_one(StagesPane).reveal(("persona", "stages", 1))
            await pilot.press("T")
            rehearsal = screen.query_one(RehearsePane)
            await until(pilot, lambda: screen.focused is rehearsal.candidate)
            await pilot.press(*"Moriondo")
            await until(pilot, lambda: "✓ cue met" in told(rehearsal, "verdict"))
            assert first.split(".")[0] in told(rehearsal, "said")
            assert "✓2" in pane.table._cells[1][0]
            await pilot.press("f12")
            await until(pilot, lambda: "It names him." in told(rehearsal, "decision"))
            assert "m (tiny)" in told(rehearsal, "decision")
            await pilot.press("ctrl+down")
            await until(pilot, lambda: pane.index == 2)
            head = rehearsal.query_one(".rehearse-head", Static)
            await until(pilot, lambda: "stage 3 waits" in str(head.render()))
            await pilot.press("escape", "escape")
            await until(pilot, lambda: not pane.rehearsing)
            assert not edit.changed


async def test_guidelines_evidence_and_effort(database: Path, make_app) -> None:
    app: CuecardApp = make_app(database)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, "espresso", "title")
        brief = screen.query_one(BriefPane)
        guide = brief.query_one(Prose)
        await until(pilot, lambda: "A good graph task" in guide.text)
        await until(pilot, lambda: isinstance(screen.focused, LineEditor))
        await pilot.press("f10", "g")
        await until(pilot, lambda: brief.panel.has_focus)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(screen.focused, LineEditor))

        # No program can take over a terminal that is not there: nothing happens, nothing is left.
        await pilot.press("ctrl+o")
        await until(pilot, lambda: app._notifications)
        assert SavedText(app.services.url, "espresso field", ".md").load() is None
        assert not screen.edit.changed

        for key, answer in (("q", "who"), ("p", "page"), ("p", "")):
            await pilot.press("f10", key)
            await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
            await pilot.press(*answer, "enter")
            await until(pilot, lambda: app.screen is screen)
        await until(pilot, lambda: len([n for n in app._notifications if "pages" in n.message]))
        with Workspace.open(database) as ws:
            entries = [(e.kind, e.text) for e in ws.effort.of("espresso") if e.kind != "time"]
        assert entries == [("query", "who"), ("page", "page"), ("page", "page")]

        await screen.editor.enter("sources")
        evidence = screen.query_one(EvidencePane)
        await until(pilot, lambda: evidence.grid.has_focus)
        before = len(screen.edit.items(SOURCES))
        await pilot.press("end", "m")
        await until(pilot, lambda: len(screen.edit.items(SOURCES)) == before + 1)
        taken = screen.edit.items(SOURCES)[-1]["url"]
        assert taken.startswith("http")
        assert evidence.current.index == before
        await pilot.press("enter", "end", "x")
        await until(pilot, lambda: screen.edit.items(SOURCES)[-1]["url"] == f"{taken}x")
        await pilot.press("escape", "d")
        await until(pilot, lambda: len(screen.edit.items(SOURCES)) == before)
