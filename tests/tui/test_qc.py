"""Quality control of a task by keys: stages run live, evidence, labels, verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Select

from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.quality import QcScreen, VerdictDialog
from cuecard.tui.screens.trial.screen import TrialScreen
from openai_server import running, text
from tui_rooms import shown

CONFIG = """\
models:
  big: {{base_url: "{url}", model: big, retries: 0, price: {{prompt: 1.0, completion: 1.0}}}}
qc: {{closed_book: 2}}
"""
CHAIN = "checkpoints-highest-mountain"


async def _until(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    for _ in range(400):
        await pilot.pause(0.02)
        if holds():
            return
    raise AssertionError("it never came about")


def _shown(app: CuecardApp, selector: str) -> str:
    return str(app.screen.query_one(selector).render())


async def test_run_look_and_decide(
    database: Path, home: Path, make_app: Callable[..., CuecardApp]
) -> None:
    app = make_app(database)
    with running(lambda _request: text("Final answer: Delfo Cabrera")) as server:
        (home / "cuecard.yaml").write_text(CONFIG.format(url=server.url), encoding="utf-8")
        async with app.run_test(size=(80, 24)) as pilot:
            app.push_screen(QcScreen(CHAIN))
            await _until(pilot, lambda: "nobody has decided" in _shown(app, "#head"))
            screen = app.screen
            assert isinstance(screen, QcScreen)
            # Beside the stage that is read stands what came out of the others.
            await _until(pilot, lambda: "The other stages" in shown(screen))
            await pilot.press("down", "p")
            await _until(pilot, lambda: app.screen is not screen)
            await pilot.press("y")
            await _until(pilot, lambda: "remove" in _shown(app, "#head"))
            await _until(pilot, lambda: "2 of 2 attempts were right." in _shown(app, "#text"))
            # Each attempt leads to its trial.
            await pilot.press("tab", "enter")
            await _until(pilot, lambda: isinstance(app.screen, TrialScreen))
            await pilot.press("escape")
            await _until(pilot, lambda: app.screen is screen)
            # An expert labels one response, blind; then judge and expert are compared.
            await pilot.press("l")
            await _until(pilot, lambda: isinstance(app.screen, LabelScreen))
            await _until(pilot, lambda: "Delfo Cabrera" in _shown(app, "#gold-text"))
            await pilot.press("y")
            await pilot.pause()
            await pilot.press("escape")
            await _until(pilot, lambda: app.screen is screen)
            await pilot.press("tab", "end", "up")
            await _until(pilot, lambda: "agree on 100% of 1 item " in _shown(app, "#text"))
            assert "baseline" in _shown(app, "#text")
            # Another verdict needs a reason; a machine removes nothing.
            await pilot.press("u")
            await _until(pilot, lambda: isinstance(app.screen, VerdictDialog))
            choice = app.screen.query_one("#verdict", Select)
            choice.value = "keep"
            await _until(pilot, lambda: "✗ Say why “keep”." in shown(app.screen))
            await pilot.press("ctrl+s")
            assert isinstance(app.screen, VerdictDialog)
            choice.value = "remove"
            await pilot.press("enter")
            await _until(pilot, lambda: isinstance(app.screen, AskLine))
            await pilot.press("escape")
            await _until(pilot, lambda: "decided: ✗ remove" in _shown(app, "#head"))
