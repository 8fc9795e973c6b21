"""Find and replace in the task editor, and adding the next thing from within a field, by keys."""

from __future__ import annotations

from pathlib import Path

from cuecard.annotate.authoring.ops import FACTS, STAGES, STEPS, TRIPLES
from cuecard.tui.screens.task.replacing import ReplaceDialog
from cuecard.tui.screens.task.screen import TaskScreen
from tui_rooms import shown, until


async def opened(pilot, task_id: str, place: str) -> TaskScreen:
    screen = TaskScreen(task_id, place=place, editing=True)
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.loaded and screen.editor.pane and screen.focused)
    return screen


async def test_words_are_replaced_where_they_stay_ticked_and_undo_is_one_step(
    database: Path, make_app
) -> None:
    app = make_app(database)
    async with app.run_test(size=(100, 30)) as pilot:
        screen = await opened(pilot, "espresso", "persona.stages[1].line")
        before = screen.edit.data
        await pilot.press("f10", "f")
        await until(pilot, lambda: isinstance(app.screen, ReplaceDialog))
        dialog = app.screen
        # All at once: what is typed is looked for before the next key counts.
        await pilot.press(*"moka pot", "enter", *"Moka Express", "enter")
        await until(pilot, lambda: dialog.hits.grid.has_focus)
        hits = [*dialog.hits.rows]
        assert len(hits) > 3
        assert "Moka Express" in shown(dialog)
        assert dialog.hits.marked == [hit for hit in hits if not hit.address]
        ticked = dialog.hits.marked
        await pilot.press("space")
        assert dialog.hits.marked == ticked[1:]
        await until(pilot, lambda: f"{len(ticked) - 1} of {len(hits)} texts" in shown(dialog))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is screen)
        edit = screen.edit
        assert edit.get(hits[0].path) == hits[0].before
        assert all(edit.get(hit.path) == hit.after for hit in ticked[1:])
        await until(pilot, lambda: any("takes it back" in n.message for n in app._notifications))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: screen.edit.data == before)

        # Nothing is found, nothing can be taken; Escape leaves all as it was.
        await pilot.press("f10", "f")
        await until(pilot, lambda: isinstance(app.screen, ReplaceDialog))
        await pilot.press(*"[red]", "ctrl+s")
        await until(pilot, lambda: "It stands nowhere" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert screen.edit.data == before


def new_one(screen: TaskScreen, path: tuple[str, ...]) -> list[object]:
    """What the third of a list is called, whatever it is."""
    third = screen.edit.get((*path, 2))
    return [third.get(field) for field in ("title", "question", "head", "key")]


async def test_the_next_one_is_added_from_within_a_field(database: Path, make_app) -> None:
    app = make_app(database)
    async with app.run_test(size=(100, 30)) as pilot:
        for task_id, path, place in (
            ("espresso", STAGES, "persona.stages[1].line"),
            ("checkpoints-highest-mountain", STEPS, "gold.steps[1].question"),
            ("espresso", TRIPLES, "gold.triples[1].note"),
            ("facts-night-train", FACTS, "gold.facts[1].aliases"),
        ):
            screen = await opened(pilot, task_id, place)
            count = len(screen.edit.items(path))
            await until(pilot, lambda screen=screen: "Editor" in type(screen.focused).__name__)
            await pilot.press("!", "ctrl+n", *"first")
            # Of the example, the third triple says "first" before there is a new one.
            await until(pilot, lambda screen=screen, path=path: "first" in new_one(screen, path))
            assert len(screen.edit.items(path)) == count + 1
            assert "!" in str(screen.edit.get((*path, 1)))
            screen.leave()
            await until(pilot, lambda screen=screen: app.screen is not screen)
