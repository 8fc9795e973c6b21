"""The file of preferences: no password in it, nobody else's, and shared by windows."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from textual.color import Color
from textual.theme import Theme
from textual.widgets import Input

from cuecard.core.secrets import passwords_in, public_form
from cuecard.core.system import keep, replace_file
from cuecard.tui.app import CuecardApp
from cuecard.tui.outside_programs import SavedText
from cuecard.tui.preferences import ANSI_DARK, ANSI_LIGHT, Preferences, preferences_path
from cuecard.tui.present.drafts import KeptJson
from cuecard.tui.screens.tasks_listing import TaskListing
from cuecard.tui.services import Services
from picture_contrast import GROUNDS, contrast
from tui_rooms import shown, until

PASSWORD = "hunter2@pond"
URL = f"postgresql+psycopg://ana:{PASSWORD}@db.example/cue?sslpassword=hush-hush"
PUBLIC = "postgresql+psycopg://ana:***@db.example/cue?sslpassword=***"


def write(data: dict[str, Any], mode: int = 0o644) -> Path:
    path = preferences_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o755)
    path.write_text(json.dumps(data), encoding="utf-8")
    path.chmod(mode)
    return path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("url", "public", "secret"),
    [
        (URL, PUBLIC, ("hunter2@pond", "hush-hush")),
        ("postgresql://u:a%40b@h/d", "postgresql://u:***@h/d", ("a%40b", "a@b")),
        ("postgresql://u:a/b?c@h/d", "postgresql://u:***@h/d", ("a/b?c",)),
        ("postgresql://u:p#@h:5/d?user=x&password=q", "postgresql://u:***@h:5/d?user=x&password=***",
         ("p#", "q")),
        ("postgresql://h/d?passfile=a;options=b", "postgresql://h/d?passfile=***;options=b", ("a",)),
        ("sqlite:////home/a@b/c:d.db", "sqlite:////home/a@b/c:d.db", ()),
        ("postgresql://u@h/d", "postgresql://u@h/d", ()),
    ],
)  # fmt: skip
def test_the_public_form_of_an_address_holds_no_password(
    url: str, public: str, secret: tuple[str, ...]
) -> None:
    assert public_form(url) == public == public_form(public)
    assert set(secret) <= set(passwords_in(url))
    assert not any(word in public for word in secret if len(word) > 1)


async def test_the_title_line_and_the_file_hold_no_password(home: Path) -> None:
    app = CuecardApp(Services(URL), "Ana", Preferences())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: "cue" in shown(app.screen))
        app.become("Bo")
        for screen in "16":
            await pilot.press(screen)
            assert "hunter2" not in shown(app.screen)
            assert "hush" not in shown(app.screen)
    text = preferences_path().read_text()
    assert json.loads(text)["people"] == {PUBLIC: "Bo"}
    assert "hunter2" not in text
    assert mode_of(preferences_path()) == 0o600
    assert mode_of(preferences_path().parent) == 0o700


def test_an_older_file_is_cleaned_when_it_is_read(home: Path) -> None:
    path = write(
        {"people": {URL: "Ana", "sqlite:////x.db": "Bo", "postgresql://h/d": "Cy"}, "theme": "t", "new": 3}
    )  # fmt: skip
    left = path.with_name("preferences.77.tmp")
    left.write_text(URL)
    assert Preferences.load().people == {
        PUBLIC: "Ana",
        "sqlite:////x.db": "Bo",
        "postgresql://h/d": "Cy",
    }
    data = json.loads(path.read_text())
    assert (data["people"][PUBLIC], data["theme"], data["new"]) == ("Ana", "t", 3)
    assert "hunter2" not in path.read_text()
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)
    assert not left.exists()


def test_what_was_open_to_others_is_shut(home: Path) -> None:
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    folder = home / "state" / "cuecard" / "proposals"
    folder.mkdir(parents=True)
    kept = folder / "x.json"
    kept.write_text("{}")
    for path, mode in ((kept, 0o644), (folder, 0o755), (folder.parent, 0o755)):
        path.chmod(mode)
    Preferences.load()
    assert [mode_of(path) for path in (kept, folder, folder.parent)] == [0o600, 0o700, 0o700]
    KeptJson("db", "p").save({"a": 1})
    SavedText("db", "p").write("text")
    for path in (home / "state").rglob("*"):
        assert mode_of(path) == (0o700 if path.is_dir() else 0o600), path


def test_what_was_typed_before_is_found_under_the_public_address(home: Path) -> None:
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    KeptJson(URL, "trial 1").save({"text": "half a line"})
    url = Services(URL).url
    assert "hunter2" not in url
    assert KeptJson(url, "trial 1").load() == {"text": "half a line"}


def test_windows_keep_what_others_changed(home: Path) -> None:
    one, other = Preferences.load(), Preferences.load()
    one.theme, one.people["a"] = "dark", "Ana"
    one.save()
    other.language, other.people["b"], other.starts["Bo"] = "zh", "Bo", {"agent": "x"}
    other.save()
    one.reveal_after = True
    one.save()
    one.theme = ""
    one.save()
    merged = Preferences.load()
    assert (merged.theme, merged.language, merged.reveal_after) == ("", "zh", True)
    assert merged.people == {"a": "Ana", "b": "Bo"}
    assert merged.starts == {"Bo": {"agent": "x"}}


def test_two_processes_lose_nothing_of_each_other(home: Path) -> None:
    code = """
import sys
from cuecard.tui.preferences import Preferences
mine = Preferences.load()
for n in range(40):
    mine.people[f"{sys.argv[1]}/{n}"] = "x"
    mine.save()
"""
    names = ("a", "b", "c")
    running = [subprocess.Popen([sys.executable, "-c", code, name]) for name in names]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert set(Preferences.load().people) == {f"{name}/{n}" for name in names for n in range(40)}
    assert [p.name for p in preferences_path().parent.iterdir() if p.suffix == ".tmp"] == []


def test_a_file_that_is_replaced_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    replace_file(link, "new")
    assert (real.read_text(), link.is_symlink(), mode_of(real)) == ("new", True, 0o640)
    keep(tmp_path / "own" / "deep" / "x", "text")
    assert mode_of(tmp_path / "own") == mode_of(tmp_path / "own" / "deep") == 0o700


@pytest.mark.parametrize("theme", [ANSI_DARK, ANSI_LIGHT], ids=lambda theme: theme.name)
async def test_what_a_field_asks_for_is_read_in_16_colours_and_looks_not_like_what_was_typed(
    app_with_samples: CuecardApp, theme: Theme
) -> None:
    async with app_with_samples.run_test(size=(80, 24)) as pilot:
        app_with_samples.theme = theme.name
        await pilot.press("2", "slash")
        field = app_with_samples.screen.query_one(Input)
        await until(pilot, lambda: field.has_focus)
        for part in ("input--placeholder", "input--suggestion"):
            style = field.get_component_rich_style(part)
            assert not style.dim
            assert style.color != field.rich_style.color
            assert contrast(style, GROUNDS["dark" if theme.dark else "light"]) > 7


@pytest.mark.parametrize("theme", [ANSI_DARK, ANSI_LIGHT], ids=lambda theme: theme.name)
async def test_nothing_is_dim_in_16_colours(app_with_samples: CuecardApp, theme: Theme) -> None:
    app, muted = app_with_samples, Color.parse(theme.variables["muted"]).rich_color

    async with app.run_test(size=(120, 40)) as pilot:
        app.theme = theme.name
        await pilot.press("2")
        tasks = app.screen.query_one(TaskListing)
        await until(pilot, lambda: tasks.line and tasks.line.id in shown(app.screen))
        assert tasks.line is not None
        strips = cast(Any, app.screen)._compositor.render_strips()
        said = [(text.strip(), style) for strip in strips for text, style, _ in strip if style]
        assert [text for text, style in said if style.dim] == []
        assert {style.color for text, style in said if text == tasks.line.id} == {muted}
