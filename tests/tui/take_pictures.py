"""How every screen and dialog looks, in two sizes, themes and languages, to the cell: `make pictures` takes the pictures and
makes a page of them, build/pictures/index.html. Run by name only; without `--renew` it tells what looks otherwise than before.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import time_machine

from cuecard.core.i18n import set_language
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services
from picture_camera import LARGE, SMALL, THEMES, Camera, Scene, Walk
from picture_scenes import WALKS
from picture_text import FOLDER, Picture, Pictures, Shot, difference, read, written
from seeded_workspace import TODAY, counted

EVERY = tuple((language, *size, "") for language in ("en", "zh") for size in (LARGE, SMALL))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "taking" in metafunc.fixturenames:
        takings = EVERY
        metafunc.parametrize("taking", takings, ids=lambda t: f"{t[0]}-{t[1]}x{t[2]}")


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
    # Settings shows where its file lies: here it cannot be written, and is forgotten.
    os.environ |= {"TZ": "CET-1", "XDG_CONFIG_HOME": "/dev/null/.config"}
    time.tzset()
    yield home
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


async def taken(
    walk: Walk, size: tuple[int, int], language: str, themes: list[str]
) -> dict[str, dict[str, Picture]]:
    """By scene and theme."""
    preferences = Preferences(language=language, theme=THEMES[themes[0]])
    app = CuecardApp(Services("sqlite:///cuecard.db"), walk.person, preferences)
    app.animation_level = "none"
    found: dict[str, dict[str, Picture]] = {}
    async with app.run_test(size=size) as pilot:
        camera = Camera(app, pilot)
        # After two seconds the app looks through all of memory once, which is a third of what a walk takes.
        for timer in list(app._timers):
            timer.stop()
        await camera.rest()
        for step in walk.way:
            if not isinstance(step, Scene):
                await step(camera)
                continue
            assert type(app.screen) is step.shows, step.name
            # A change of themes costs as much as a screen: the next stop begins with the one that is on.
            order = sorted(themes, key=lambda theme: THEMES[theme] != app.theme)
            found[step.name] = {theme: await camera.shoot(theme) for theme in order}
    return found


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name)
def test_pictures(
    walk: Walk,
    taking: tuple[str, int, int, str],
    place: Path,
    seeded_once: Path,
    request: pytest.FixtureRequest,
) -> None:
    language, *size, theme = taking
    if not walk.empty:
        shutil.copyfile(seeded_once, place / "cuecard.db")
    for name, text in walk.files.items():
        (place / name).write_text(text, encoding="utf-8")
    set_language(language)
    themes = [theme] if theme else list(THEMES)
    with time_machine.travel(TODAY, tick=False), counted(walk.name):
        found = asyncio.run(taken(walk, tuple(size), language, themes))
    wrong: list[str] = []
    for scene, pictures in found.items():
        shots = {Shot(language, *size, theme): picture for theme, picture in pictures.items()}
        if request.config.getoption("--renew"):
            renew(scene, shots)
        path = path_of(scene)
        known = read(path.read_text(encoding="utf-8")) if path.exists() else {}
        for shot, picture in shots.items():
            if shot not in known:
                wrong.append(f"{scene}: {shot} is new")
            elif known[shot] != picture:
                wrong.append(f"{scene}: {shot}\n{difference(known[shot], picture)}")
    assert not wrong, "\n".join(wrong)


def path_of(scene: str) -> Path:
    return FOLDER / f"{scene}.txt"


def renew(scene: str, shots: Pictures) -> None:
    """Put these in the place of what was there, while no other process does."""
    FOLDER.mkdir(exist_ok=True)
    path = path_of(scene)
    with (FOLDER.parent / "conftest.py").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = read(path.read_text(encoding="utf-8")) if path.exists() else {}
        path.write_text(written(known | shots), encoding="utf-8")
