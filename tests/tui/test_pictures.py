"""Every screen and dialog has a scene, every scene its pictures in tests/pictures, and a sample of them is taken anew and compared.

With `--all-pictures` all are: `make check-pictures` compares them, `make pictures` renews them.
"""

from __future__ import annotations

import asyncio
import csv
import fcntl
import importlib
import itertools
import json
import os
import pkgutil
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import time_machine
from textual.command import CommandPalette
from textual.screen import Screen

import cuecard.tui
from cuecard.core.i18n import set_language
from cuecard.tui.actions import KeyBar
from cuecard.tui.kit.list_screens import ListScreen
from cuecard.tui.preferences import OURS
from cuecard.tui.screens.dialogs import ConfirmDialog, HelpDialog
from cuecard.tui.screens.own_keys import RecordDialog
from picture_camera import LARGE, SMALL, THEMES, Camera, Walk, taken
from picture_contrast import GROUNDS, faint
from picture_scenes import WALKS
from picture_svg import svg
from picture_text import FOLDER, Picture, Shot, difference, read, written
from seeded_workspace import TODAY, counted

ABSTRACT = {
    "CuecardScreen": "every screen",
    "CuecardDialog": "every dialog",
    "LiveScreen": "screens that read again when anybody changed something",
    "ListScreen": "screens of one list",
    "BlindListScreen": "lists of what was decided",
    "AnswerDialog": "every form",
    "BoardList": "lists of the board",
    "RowScreen": "screens of one row of a list after the other",
    "WalkScreen": "screens that walk through a session by keys",
    "CountingScreen": "screens that say how far counting is",
    "FiguresScreen": "screens of tables of figures",
    "AboutRuns": "screens about runs",
    "MarkedTasks": "lists of tasks",
    "DraftingScreen": "the editor, whatever it edits",
    "OpenReview": "a part of ReviewTaskScreen",
    "RunActions": "a part of RunScreen",
    "TurnDialog": "MarkDialog and ReadingDialog",
    **dict.fromkeys(
        ("Playing", "Finishing", "Wording", "Marking", "Speaking", "TurnChanges"),
        "parts of PlayScreen",
    ),
    "Looking": "a part of PlayScreen, and one of WizardOfOzScreen",
    **dict.fromkeys(("Reading", "Jumping", "StepMode", "Noting"), "parts of TrialScreen"),
}
"""Classes that are never shown as they are, and what they are for."""

FRAMES = [
    Shot(language, *size, theme)
    for language in ("en", "zh")
    for size in (LARGE, SMALL)
    for theme in THEMES
]
DRAWN = Shot("en", *SMALL, "dark")
"""The one of each scene's pictures that is kept as SVG too."""
LIBRARIES = FOLDER / "libraries"
SAMPLE = (
    ("home", Shot("en", *SMALL, "dark")),
    ("welcome", Shot("zh", *SMALL, "light")),
    ("settings", Shot("zh", *LARGE, "light")),
    ("editor-triple", Shot("en", *SMALL, "dark")),
    ("editor-row", Shot("zh", *LARGE, "dark")),
    ("editor-step", Shot("en", *SMALL, "light")),
    ("review-task", Shot("en", *LARGE, "light")),
    ("compare", Shot("zh", *SMALL, "dark")),
    ("trial-hits", Shot("en", *SMALL, "light")),
    ("label", Shot("zh", *SMALL, "dark")),
    ("replay-choice", Shot("en", *LARGE, "dark")),
    ("play-chain", Shot("zh", *LARGE, "light")),
)
"""What is taken in every run of the tests: the names of walks, a few in every place of the app."""


HELPED = ("settings", "label", "compare")
"""The walks on which every run of the tests presses F1; all with --all-pictures, but where the database stays away."""
COLOURED = "settings"
"""The walk of which every run of the tests measures the colours in every theme of ours; all with --all-pictures."""
READABLE = 3.0
"""The least contrast of any text: on the cursor, too."""


def test_every_screen_has_a_scene() -> None:
    def below(base: type[Screen[Any]]) -> Iterator[type[Screen[Any]]]:
        for sub in base.__subclasses__():
            yield sub
            yield from below(sub)

    for module in pkgutil.walk_packages(cuecard.tui.__path__, "cuecard.tui."):
        importlib.import_module(module.name)
    ours = {found for found in below(Screen) if found.__module__.startswith("cuecard.tui.")}
    abstract = {found for found in ours if found.__name__ in ABSTRACT}
    assert {found.__name__ for found in abstract} == set(ABSTRACT)
    shown = {scene.shows for walk in WALKS for scene in walk.scenes}
    assert {f"{found.__module__}.{found.__name__}" for found in ours - abstract - shown} == set()


def test_scenes_have_names_of_their_own() -> None:
    names = [scene.name for walk in WALKS for scene in walk.scenes]
    assert len(names) == len(set(names))


def test_every_scene_is_kept() -> None:
    kept = {path.stem: read(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.txt")}
    assert set(kept) == {scene.name for walk in WALKS for scene in walk.scenes}
    assert [name for name, pictures in kept.items() if set(pictures) != set(FRAMES)] == []
    drawn = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert set(drawn) == set(kept)
    assert [name for name, pictures in kept.items() if svg(pictures[DRAWN]) != drawn[name]] == []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "helped" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-pictures")
        asked = [walk for walk in WALKS if walk.name in HELPED or (every and walk.name != "outage")]
        metafunc.parametrize("helped", [pytest.param(walk, id=walk.name) for walk in asked])
    if "coloured" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-pictures")
        asked = [walk for walk in WALKS if every or walk.name == COLOURED]
        metafunc.parametrize("coloured", [pytest.param(walk, id=walk.name) for walk in asked])
    if "walk" not in metafunc.fixturenames:
        return
    walks = {walk.name: walk for walk in WALKS}
    every = itertools.product(walks, FRAMES)
    chosen = every if metafunc.config.getoption("--all-pictures") else SAMPLE
    metafunc.parametrize(
        ("walk", "frame"),
        [
            pytest.param(walks[name], frame, id=f"{name}-{str(frame).replace(' ', '-')}")
            for name, frame in chosen
        ],
    )


@pytest.fixture
def place(home: Path) -> Iterator[Path]:
    """The working folder, with the environment and the time of a machine that is nobody's."""
    for name in (
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "EDITOR",
        "VISUAL",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
    ):
        os.environ.pop(name, None)
    before = os.environ.get("TZ")
    # Settings shows where its file lies: here it cannot be written, and is forgotten. Welcome proposes who is logged in.
    os.environ |= {"TZ": "CET-1", "XDG_CONFIG_HOME": "/dev/null/.config", "LOGNAME": "ann"}
    time.tzset()
    yield home
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


def test_pictures(
    walk: Walk, frame: Shot, place: Path, seeded_once: Path, request: pytest.FixtureRequest
) -> None:
    if not walk.empty:
        shutil.copyfile(seeded_once, place / "cuecard.db")
    for name, text in walk.files.items():
        (place / name).write_text(text, encoding="utf-8")
    set_language(frame.language)
    size = frame.width, frame.height
    with time_machine.travel(TODAY, tick=False), counted(walk.name):
        found = asyncio.run(taken(walk, size, frame.language, THEMES[frame.theme]))
    told: list[str] = []
    for scene, picture in found.items():
        if request.config.getoption("--renew"):
            renew(scene, frame, picture)
        told += compared(scene, frame, picture)
    if told:
        if libraries() != (kept := LIBRARIES.read_text(encoding="utf-8")):
            told.append(f"Those that are kept were drawn by {kept}, these by {libraries()}.")
        told.append("If that is meant: make pictures, and look at git diff.")
        pytest.fail("\n".join(told), pytrace=False)


async def f1_from_everywhere(camera: Camera) -> None:
    """F1 from the focus, and from one widget of each class that takes it, is help, and Escape comes back."""
    app, screen, before = camera.app, camera.screen, camera.screen.focused
    if isinstance(screen, HelpDialog | RecordDialog | CommandPalette):
        return  # help itself, what takes any key for an answer, and what lists every command with its help
    places = {type(each): each for each in screen.focus_chain if each.is_on_screen}
    footer = next(iter(screen.query(KeyBar)), None)
    if footer is not None and footer.is_on_screen:
        line = footer.line
        last = "more" if "…  F1" in line else "Help"
        assert line.endswith(f"F1 {last}"), f"{screen}: the footer ends with {line}"
    if before is not None:
        places[type(before)] = before
    for widget in [*(each for each in places.values() if each is not before), before]:
        screen.set_focus(widget, scroll_visible=False)
        await camera.rest()
        if (
            app.screen is not screen
        ):  # of a task past drafting it is asked before a field has the focus
            await camera.press("f1", "escape", "escape")
            assert app.screen is screen
            continue
        await camera.press("f1")
        assert isinstance(app.screen, HelpDialog), f"no help from {widget} of {screen}"
        await camera.press("escape")
        if isinstance(app.screen, ConfirmDialog) and app.screen is not screen:
            await camera.press("escape")  # the same question, where it came later than the key
        assert app.screen is screen, f"help does not go back to {screen}"


async def y_copies(camera: Camera) -> None:
    """Of a screen of one list: the row, its id, and all rows as TSV and JSON."""
    app, screen = camera.app, camera.screen
    if not isinstance(screen, ListScreen) or not (rows := screen.view.rows):
        return
    before, copied = screen.focused, dict[str, str]()
    screen.view.focus()
    for letter in "ritj":
        await camera.press("y", letter)
        assert app.screen is screen, f"y {letter} on {screen}"
        copied[letter] = app.clipboard
    screen.set_focus(before)
    titles = [column.label for column in screen.view.columns]
    assert len(read_tsv(copied["t"])) == len(rows) + 1
    assert read_tsv(copied["t"])[0] == titles
    assert read_tsv(copied["r"])[0] in read_tsv(copied["t"])
    assert len(copied["i"].splitlines()) == 1
    assert all(set(row) <= set(titles) for row in json.loads(copied["j"]))
    assert len(json.loads(copied["j"])) == len(rows)


async def f1_and_y(camera: Camera, _scene: str) -> None:
    await f1_from_everywhere(camera)
    await y_copies(camera)


def read_tsv(text: str) -> list[list[str]]:
    return list(csv.reader(text.splitlines(), delimiter="\t"))


def test_f1_is_help_from_every_focus_and_y_copies_of_every_list(
    helped: Walk, place: Path, seeded_once: Path
) -> None:
    walked(helped, place, seeded_once, f1_and_y)


def test_text_stands_out_in_every_theme_that_is_taken_while_the_app_runs(
    coloured: Walk, place: Path, seeded_once: Path
) -> None:
    """And what was drawn in another theme is drawn anew: it looks as if the app had been started with this one."""
    told: dict[str, str] = {}

    async def measured(camera: Camera, scene: str) -> None:
        await camera.rest()
        kept = read(path_of(scene).read_text(encoding="utf-8"))
        for theme in OURS:
            camera.app.theme = theme.name
            picture = await camera.take()
            for found in faint(
                camera.strips(), GROUNDS["dark" if theme.dark else "light"], READABLE
            ):
                what = f"{theme.name}, {type(camera.screen).__name__}, {found.look}"
                told.setdefault(what, f"{what} has {found.ratio}: {found.text[:40]!r}")
            if theme.name == THEMES["light"] and not isinstance(camera.screen, CommandPalette):
                once = kept[Shot("en", *LARGE, "light")]
                if picture != once:
                    told[scene] = f"{scene}:\n{difference(once, picture, 6)}"
        camera.app.theme = THEMES["dark"]
        await camera.rest()

    walked(coloured, place, seeded_once, measured)
    assert not told, "\n".join(told.values())


def walked(
    walk: Walk,
    place: Path,
    seeded: Path,
    look: Callable[[Camera, str], Awaitable[None]],
) -> None:
    if not walk.empty:
        shutil.copyfile(seeded, place / "cuecard.db")
    for name, text in walk.files.items():
        (place / name).write_text(text, encoding="utf-8")
    set_language("en")
    with time_machine.travel(TODAY, tick=False), counted(walk.name):
        asyncio.run(taken(walk, LARGE, "en", THEMES["dark"], look))


def libraries() -> str:
    """What draws for us: another version may draw otherwise."""
    return ", ".join(f"{name} {version(name)}" for name in ("textual", "rich"))


def path_of(scene: str) -> Path:
    return FOLDER / f"{scene}.txt"


def compared(scene: str, frame: Shot, picture: Picture) -> list[str]:
    """In which way this looks otherwise than what is kept."""
    path = path_of(scene)
    kept = read(path.read_text(encoding="utf-8")) if path.exists() else {}
    if frame not in kept:
        return [f"{scene}, {frame}: new"]
    if kept[frame] == picture:
        return []
    return [f"{scene}, {frame}:", difference(kept[frame], picture, 6)]


def renew(scene: str, frame: Shot, picture: Picture) -> None:
    """Put this in the place of what was there, while no other process does."""
    FOLDER.mkdir(exist_ok=True)
    path = path_of(scene)
    with (FOLDER.parent / "conftest.py").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        LIBRARIES.write_text(libraries(), encoding="utf-8")
        kept = read(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(written(kept | {frame: picture}), encoding="utf-8")
        if frame == DRAWN:
            path.with_suffix(".svg").write_text(svg(picture), encoding="utf-8")
