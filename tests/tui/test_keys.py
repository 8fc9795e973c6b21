"""One keyboard: a key means one thing in the whole app, help is everywhere, and a keymap changes it."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from cuecard.core.i18n import set_language
from cuecard.tui.app import CuecardApp, CuecardScreen
from cuecard.tui.grid.cell_input import CellInput
from cuecard.tui.present.keyboard import KEYMAP, LETTERS, Means, known_ids
from cuecard.tui.screens.dialogs import AskLine, ChoiceDialog, ConfirmDialog, HelpDialog
from cuecard.tui.screens.own_keys import OwnKeysScreen, RecordDialog
from cuecard.tui.widgets.nav import TabRow
from cuecard.tui.widgets.text import breadcrumb_text
from tui_rooms import shown, until

ROOT = Path(__file__).parents[2]
PAGE: dict[str, Any] = runpy.run_path(str(ROOT / "scripts" / "keys_page.py"))
ANSWERS = {"answer"}


def test_no_key_has_two_meanings_and_no_action_has_none() -> None:
    commands = [key for means in Means if means.group not in ANSWERS for key in means.keys]
    assert sorted(commands) == sorted(set(commands))
    answers = [key for means in Means if means.group in ANSWERS for key in means.keys]
    assert sorted(answers) == sorted(set(answers))
    for key in PAGE["declared"]().values():
        if key.id.startswith("test."):
            continue  # other tests declared it
        assert key.all_means, f"{key.id} is declared by a key, not by what it means"
        lettered = any(means in LETTERS for means in key.all_means)
        assert lettered == (len(key.letter) == 1), key.id
        assert key.keys, key.id


def test_letters_of_the_task_screen_are_none_of_its_panes() -> None:
    own, panes = ("task", "editor"), ("persona", "history", "problems", "graph", "nodes", "cells", "table", "stages", "evidence")  # fmt: skip
    letters: dict[str, list[str]] = {}
    for key in PAGE["declared"]().values():
        if Means.COMMAND in key.all_means:
            letters.setdefault(key.id.split(".")[0], []).append(key.letter)
    of_screen = [letter for name in own for letter in letters[name]]
    assert len(of_screen) == len(set(of_screen))
    for pane in panes:
        assert not set(of_screen) & set(letters.get(pane, ())), pane


def test_every_meaning_but_those_to_come_is_used() -> None:
    used = {means for key in PAGE["declared"]().values() for means in key.all_means}
    assert set(Means) - used <= {Means.TAGS, Means.SEARCH}


def test_the_table_of_keys_is_as_screens_declare_it() -> None:
    kept = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
    assert kept == PAGE["keys_page"](), "docs/keys.md: run `make docs`"


async def _helps(pilot: Pilot[Any]) -> int:
    """F1 from every kind of widget of the screen on top that can have the focus; how many there are."""
    app = pilot.app
    screen = app.screen
    kinds = {type(widget): widget for widget in screen.focus_chain if widget.is_on_screen}
    places = [*kinds.values()]
    for widget in places or [None]:
        widget.focus() if widget is not None else screen.set_focus(None)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
    return len(places)


async def test_f1_is_help_wherever_one_is(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        reached = 0
        for place in "123456":
            await pilot.press(place)
            await pilot.pause()
            reached += await _helps(pilot)
        await pilot.press("escape", "2")
        await until(
            pilot, lambda: "Espresso" in shown(app.screen) or "espresso" in shown(app.screen)
        )
        await pilot.press("enter")
        await pilot.pause()
        for _tab in range(8):
            reached += await _helps(pilot)
            await pilot.press("f4")
        for dialog in (
            AskLine("A question", "What?", button="OK"),
            ConfirmDialog("Sure?", "It is so.", "Yes"),
            ChoiceDialog("Which?", "", [("a", "a", "one"), ("b", "b", "other")]),
        ):
            app.push_screen(dialog)
            await until(pilot, lambda dialog=dialog: app.screen is dialog)
            await until(pilot, lambda: shown(app.screen).rstrip().endswith("F1 Help"))
            reached += await _helps(pilot)
            await pilot.press("escape")
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.focused, Input))
        reached += await _helps(pilot)
        assert reached > 21


async def test_a_step_aside_is_offered_where_there_are_columns_to_come(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "espresso" in shown(app.screen).casefold())
        await pilot.press("f1", "end")
        await until(pilot, lambda: "To the row above" in shown(app.screen))
        assert "To the cell on the right" not in shown(app.screen)


async def test_the_menu_and_the_palette_hold_what_a_field_hides(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2", "full_stop")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        assert "Pack" in shown(app.screen)
        await pilot.press("escape", "slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        labels = [command.title for command in app.get_system_commands(app.screen)]
        assert {"Play (p)", "QC (q)"} <= set(labels)
        set_language("zh")
        labels = [command.title for command in app.get_system_commands(app.screen)]
        assert "扮演（p）" in labels


def test_a_keymap_gives_other_keys_and_tells_what_it_cannot_use(tmp_path: Path) -> None:
    """In a process of its own: keys are given before anything is declared."""
    file = tmp_path / "keymap"
    file.write_text(
        "preset: vi\ntasks.new: N\ncomment: C, alt+c\nnothing: x\nexport: e\ntasks.neww: M\ncommentt: z\n"
        "preset: dvorak\nundo:\nfilter /\n"
    )
    code = (
        "from cuecard.tui.actions import KEYMAP_PROBLEMS, Means, registry\n"
        "import cuecard.tui.screens.tasks\n"
        "print(Means.LEFT.keys, Means.REVEAL.keys, registry()['tasks.new'].keys)\n"
        "print(Means.EXPORT.keys, Means.EDIT.keys, Means.COMMENT.keys)\n"
        "print(*KEYMAP_PROBLEMS, sep='\\n')\n"
    )
    environment = {**os.environ, "CUECARD_KEYMAP": str(file)}
    made = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    keys, changed, *problems = made.stdout.splitlines()
    assert keys == "('left', 'h') ('H',) ('N',)"
    assert changed == "('e',) ('f2',) ('c', 'f7')"
    assert [problem.partition(", ")[2] for problem in problems] == [
        "line 3: C, alt+c is no key",
        "line 4: nothing is called nothing",
        "line 5: e is not edit any more",
        "line 6: nothing is called tasks.neww (near it: tasks.new)",
        "line 7: nothing is called commentt (near it: comment)",
        "line 8: there is no preset dvorak; there are vi, emacs",
        "line 9: no keys are named: write “undo: a, ctrl+b”",
        "line 10: no keys are named: write “filter: a, ctrl+b”",
    ]
    doctor = [sys.executable, "-m", "cuecard", "doctor", "--offline", "--json"]
    checked = subprocess.run(doctor, env=environment, capture_output=True, text=True, check=False)
    (keymap,) = [each for each in json.loads(checked.stdout)["checks"] if each["name"] == "keymap"]
    assert keymap["state"] == "warning"
    assert len(keymap["data"]["wrong"]) == len(problems)


def test_every_action_is_known_by_its_id_before_its_screen_is_imported() -> None:
    known = (
        "import sys\n"
        "from cuecard.tui.present.keyboard import is_action\n"
        "print(*(name for name in sys.stdin.read().split() if not is_action(name)))\n"
    )
    declared = [name for name in PAGE["declared"]() if not name.startswith(("test", "shelf."))]
    asked = "\n".join([*declared, "tasks.neww"])
    made = subprocess.run([sys.executable, "-c", known], input=asked, capture_output=True, text=True, check=True)  # fmt: skip
    assert made.stdout.split() == ["tasks.neww"]
    assert {id for id in known_ids() if not id.endswith("_")} <= set(declared)


async def test_the_way_is_shown_and_esc_takes_its_last_step_away(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples

    def way() -> list[str]:
        screen = app.screen
        return list(screen.way) if isinstance(screen, CuecardScreen) else []

    async with app.run_test(size=(160, 30)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "espresso" in shown(app.screen).lower())
        assert way() == ["Tasks"]
        await pilot.press("slash", *"espresso", "enter", "enter")
        await until(pilot, lambda: isinstance(app.focused, TabRow))
        for _tab in range(8):
            await pilot.press("f4")
            await pilot.pause()
            if "graph" in str(app.screen.query_one(TabRow).active):
                break
        await pilot.press("enter")
        await until(pilot, lambda: len(way()) > 2)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.focused, CellInput))
        steps = way()
        assert (steps[0], steps[2:]) == ("Tasks", ["Graph", "cell"])
        await until(pilot, lambda: " › ".join(steps) in shown(app.screen))
        while len(steps) > 1:
            await pilot.press("escape")
            await until(pilot, lambda steps=steps: way() != steps)
            assert way() == steps[:-1]
            steps = way()
        await pilot.press("escape")
        await until(pilot, lambda: way() == ["Home"])


def test_the_way_is_cut_from_the_left() -> None:
    way = ["Tasks", "Espresso", "Graph", "cell"]
    assert breadcrumb_text(way, 40) == "Tasks › Espresso › Graph › cell"
    assert breadcrumb_text(way, 20) == "… › Graph › cell"
    assert breadcrumb_text(way, 7) == ""
    assert breadcrumb_text(["Runs", "From the highest mountain"], 22) == "Runs › …"
    assert (
        breadcrumb_text(["Runs", "Three agents and two users", "From the highest mountain"], 22)
        == "Three agents and… › …"
    )


async def test_the_way_keeps_apart_from_what_stands_beside_it(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2", "enter")
        await until(pilot, lambda: "revision 1" in shown(app.screen))
        told = False
        for width in range(60, 150, 5):
            await pilot.resize_terminal(width, 24)
            await pilot.pause()
            head = shown(app.screen).splitlines()[0]
            before = head.partition("revision 1")[0]
            told = told or "Tasks ›" in head
            assert before.endswith("   " if "Tasks ›" in head else "  "), head
        assert told


async def test_y_copies_the_row_its_id_or_everything(app_with_samples: CuecardApp) -> None:
    app = app_with_samples

    async def copied(letter: str) -> str:
        app.copy_to_clipboard("")
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ChoiceDialog))
        await pilot.press(letter)
        await until(pilot, lambda: app.clipboard)
        return app.clipboard

    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: "espresso" in shown(app.screen).lower())
        await until(pilot, lambda: app.screen.focused is not None)
        every = json.loads(await copied("j"))
        table = (await copied("t")).split("\n")
        row = await copied("r")
        assert len(table) == len(every) + 1 > 3
        assert row == table[1]
        assert row.count("\t") == table[0].count("\t") > 1
        assert any("Espresso" in " ".join(each.values()) for each in every)
        assert await copied("i") == "checkpoints-highest-mountain"


async def test_a_key_of_ones_own_is_recorded_told_and_given_back(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    KEYMAP.unlink(missing_ok=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("6", "f10", "k")
        await until(pilot, lambda: isinstance(app.screen, OwnKeysScreen))
        screen = app.screen
        assert isinstance(screen, OwnKeysScreen)
        await until(pilot, lambda: screen.view.rows)
        screen.view.go_to("EXPORT")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RecordDialog))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "Comment, note or answer" in shown(app.screen)
        await pilot.press("n")
        await until(pilot, lambda: app.screen is screen)
        assert not KEYMAP.exists()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RecordDialog))
        await pilot.press("ctrl+x")
        await until(pilot, lambda: KEYMAP.exists() and "✓" in shown(screen))
        assert KEYMAP.read_text(encoding="utf-8") == "export: ctrl+x\n"
        await pilot.press("d")
        await until(pilot, lambda: not KEYMAP.read_text(encoding="utf-8"))
    KEYMAP.unlink()


async def test_the_palette_tells_of_no_match_in_the_language_that_is_set(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    set_language("zh")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press(*"qqqq")
        await until(pilot, lambda: "没有这样的命令。" in shown(app.screen))
