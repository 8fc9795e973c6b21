"""Who I am, language, theme, and what `cuecard.yaml` says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, Static

from cuecard.core.config import load_config
from cuecard.core.engine.events import Limits
from cuecard.core.i18n import _, set_language
from cuecard.store.workspace import Workspace
from cuecard.tui.app import RESTART, CuecardApp
from cuecard.tui.preferences import Preferences, preferences_path
from cuecard.tui.screens.dialogs import HelpDialog
from cuecard.tui.screens.settings import SettingsScreen
from cuecard.tui.services import Services
from cuecard.tui.widgets.nav import PLACES
from openai_server import json_reply, running
from postgres_server import Databases
from role_stage import own_roles
from steady_app import SteadyApp
from tui_rooms import shown, until

SIZE = (80, 24)
SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


async def settings(pilot: Pilot) -> SettingsScreen:
    app = pilot.app
    await pilot.press("6")
    await until(pilot, lambda: isinstance(app.screen, SettingsScreen))
    config = app.screen.query_one("#config", Static)
    await until(pilot, lambda: "Reading" not in str(config.content))
    return app.screen


async def choose(pilot: Pilot, which: str, value: str) -> None:
    """Open a list by key and take the option."""
    select = pilot.app.screen.query_one(which, Select)
    select.focus()
    options = [option for _label, option in select._options]
    steps = options.index(value) - options.index(select.value)
    await pilot.press("enter", *(["down"] * steps if steps > 0 else ["up"] * -steps), "enter")
    await pilot.pause()


async def test_another_name_is_taken_and_remembered(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await settings(pilot)
        field = screen.query_one("#name", Input)
        field.focus()
        await pilot.press("ctrl+u", *"Dee", "ctrl+s")
        await until(pilot, lambda: "Dee" in shown(screen).splitlines()[0])
        assert app.person == "Dee"
        await pilot.press("escape")
        await until(pilot, lambda: "for you, Dee" in shown(app.screen))
    assert Preferences.load().people[f"sqlite:///{database}"] == "Dee"
    with Workspace.open(database) as workspace:
        assert workspace.people.exists("Dee")


async def test_what_is_typed_stays_when_help_was_read(app_with_samples: CuecardApp) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await settings(pilot)
        for name, text in (("name", "Dee"), ("skill-domains", "cafes")):
            screen.query_one(f"#{name}", Input).focus()
            await pilot.press("ctrl+u", *text, "f1")
            await until(pilot, lambda: isinstance(app.screen, HelpDialog))
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)
        await pilot.app.workers.wait_for_complete()
        assert screen.query_one("#name", Input).value == "Dee"
        assert screen.query_one("#skill-domains", Input).value == "cafes"


@pytest.mark.parametrize("name", ["", "   ", "a\u202eb"])
async def test_an_unusable_name_is_refused(app_with_samples: CuecardApp, name: str) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE, notifications=True) as pilot:
        screen = await settings(pilot)
        screen.query_one("#name", Input).value = name
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "This name cannot be used" in shown(screen))
        assert app.person == "Ana"
    assert Preferences.load().people == {}


async def test_the_theme_changes_at_once_and_stays(
    database: Path, app_with_samples: CuecardApp, make_app
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await settings(pilot)
        await choose(pilot, "#theme", "cuecard-light")
        await until(pilot, lambda: app.theme == "cuecard-light")
        assert not app.current_theme.dark
    assert Preferences.load().theme == "cuecard-light"
    again: CuecardApp = make_app(database, theme=Preferences.load().theme)
    async with again.run_test(size=SIZE):
        assert again.theme == "cuecard-light"


async def test_motion_and_notices_are_chosen_and_kept(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    with Workspace.open(database) as ws:
        name, limits = "night of Tuesday", Limits()
        run = ws.runs.create(name=name, kind="grid", created_by="Ana", samples=1, limits=limits)
    async with app.run_test(size=SIZE) as pilot:
        await settings(pilot)
        app.run_ended("3")
        assert not app._notifications
        await choose(pilot, "#motion", "reduced")
        await choose(pilot, "#notice", "terminal")
        await until(pilot, lambda: app.animation_level == "none" and app.preferences.notice)
        app.services.live_runs.on_end(run.id)
        told = "Run night of Tuesday has ended."
        await until(pilot, lambda: told in [n.message for n in app._notifications])
    kept = Preferences.load()
    assert (kept.motion, kept.notice) == ("reduced", "terminal")


async def test_a_language_begins_the_app_anew_in_it(
    database: Path, app_with_samples: CuecardApp, make_app
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await settings(pilot)
        await choose(pilot, "#language", "zh")
    assert app.return_value == RESTART
    assert Preferences.load().language == "zh"

    set_language("zh")
    names = [_(label) for _mode, label in PLACES]
    assert names[0] == "主页"
    again: CuecardApp = make_app(database)
    async with again.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "▸" in shown(again.screen))
        bar = shown(again.screen).splitlines()[0]
        assert all(name in bar for name in names)
        assert "Ana" in bar


async def test_agents_are_listed_with_their_endpoint_and_never_with_a_key(
    home: Path, app_with_samples: CuecardApp
) -> None:
    (home / "cuecard.yaml").write_text(
        "models:\n"
        "  big: {base_url: 'https://models.example/v1', model: big-1, api_key_env: BIG_KEY}\n"
        "  small: {base_url: 'http://localhost:1/v1', model: small-1, api_key_env: SMALL_KEY}\n"
        "agents:\n"
        "  strong: {kind: react, model: big}\n"
        "  weak: {kind: react, model: small}\n",
        encoding="utf-8",
    )
    os.environ["BIG_KEY"] = SECRET
    os.environ.pop("SMALL_KEY", None)
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await settings(pilot)
        await until(pilot, lambda: "strong" in shown(screen))
        text = shown(screen)
        for word in ("big-1", "https://models.example/v1", "✓ BIG_KEY", "SMALL_KEY is not set"):
            assert word in text
        assert SECRET not in text
        assert SECRET not in app.export_screenshot()
    assert SECRET not in preferences_path().read_text() if preferences_path().exists() else True


async def test_what_is_wrong_with_the_file_is_told_and_reloading_sees_it_mended(
    home: Path, app_with_samples: CuecardApp
) -> None:
    file = home / "cuecard.yaml"
    file.write_text("agents:\n  a: {kind: react, model: [red]}\n  b: {kind: wizard}\n")
    app = app_with_samples
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "agents.b" in shown(app.screen))
        assert "agents.a" in shown(app.screen)
        file.write_text("agents:\n  calm: {kind: offline}\n")
        await pilot.press("r")
        await until(pilot, lambda: "calm" in shown(app.screen))
        assert "agents.b" not in shown(app.screen)


async def test_no_password_is_shown(home: Path) -> None:
    url = "postgresql+psycopg://ana:hunter2@db.example/cue"
    assert Services(url).public_url == "postgresql+psycopg://ana:***@db.example/cue"
    app = CuecardApp(Services(url), "Ana", Preferences())
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: "db.example" in shown(app.screen))
        assert "hunter2" not in shown(app.screen)


async def test_what_i_review_is_kept_and_read_again(
    database: Path, app_with_samples: CuecardApp
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        screen = await settings(pilot)
        await until(pilot, lambda: "comes last in" in shown(screen))
        await choose(pilot, "#skill-language", "zh")
        screen.query_one("#skill-domains", Input).focus()
        await pilot.press(*("space" if char == " " else char for char in "food, history"), "tab")
        with Workspace.open(database) as workspace:

            def kept() -> tuple[object, ...]:
                skills = workspace.reviews.skills()
                return (skills["Ana"].languages, skills["Ana"].domains) if skills else ()

            await until(pilot, lambda: kept() == (("zh",), ("food", "history")))
        await pilot.press("escape", "6")
        field = screen.query_one("#skill-domains", Input)
        await until(pilot, lambda: field.value == "food, history")
        assert screen.query_one("#skill-language", Select).value == "zh"


CONFIG = """\
# What we play with.
models:
  local: {base_url: "%s", model: tiny, retries: 0}   # on this machine
  gone:
    base_url: http://127.0.0.1:9/v1
    model: "other"
"""


async def test_a_model_is_chosen_from_what_its_server_has(
    tmp_path: Path, app_with_samples: CuecardApp
) -> None:
    names = {"data": [{"id": "tiny"}, {"id": 'odd: "one" # 大'}]}
    with running(lambda _request: json_reply(names)) as server:
        file = tmp_path / "cuecard.yaml"
        file.write_text(CONFIG % server.url, encoding="utf-8")
        app = app_with_samples
        app.services.config_path = file
        async with app.run_test(size=SIZE) as pilot:
            await settings(pilot)
            await pilot.press("full_stop", "m")
            await until(pilot, lambda: "大" in shown(app.screen))
            assert server.requests[0].method == "GET"
            assert "connection to the model failed" in shown(app.screen)
            await pilot.press("down", "enter")
            await until(pilot, lambda: "大" in file.read_text(encoding="utf-8"))
    assert load_config(file).models["local"].model == 'odd: "one" # 大'
    untouched = ("# What we play with.", "retries: 0}   # on this machine", '    model: "other"')
    assert all(words in file.read_text(encoding="utf-8") for words in untouched)


@pytest.mark.usefixtures("home")
async def test_the_databases_role_says_who_i_am(postgres: Databases) -> None:
    """A name from before gives way, and none but a coordinator takes another."""
    with own_roles(postgres, ("Max", "Cleo"), ["Cleo"]) as stage:
        app = SteadyApp(Services(stage.address("Max")), "Lea", Preferences())
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: "waits for you, Max" in shown(app.screen))
            screen = await settings(pilot)
            await until(pilot, lambda: "You are Max, which the database's role" in shown(screen))
            screen.query_one("#name", Input).value = "Cleo"
            await pilot.press("ctrl+s")
            await until(pilot, lambda: [n for n in app._notifications if "as Cleo" in n.message])
            assert app.person == "Max"
        app = SteadyApp(Services(stage.address("Cleo")), "Lea", Preferences())
        async with app.run_test(size=SIZE) as pilot:
            await until(pilot, lambda: "waits for you, Lea" in shown(app.screen))
        assert [each.person for each in stage.owner.roles.acted()] == ["Lea"]


async def test_what_fills_the_screen_is_never_one_line_of_a_form(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6")
        await until(pilot, lambda: app.screen.query("#language"))
        app.screen.query_one("#language").focus()
        await pilot.press("f11")
        await until(pilot, lambda: app.screen.maximized is not None)
        assert app.screen.maximized is not app.focused
        assert app.screen.maximized is not None
        assert app.screen.maximized.size.height > 3
