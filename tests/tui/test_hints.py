"""What the app says names keys; the same error on the command line names options and verbs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir

from cuecard.core.engine.events import Termination
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import BudgetSpent
from cuecard.core.evaluation.play_setup import PlayOutcome
from cuecard.core.evaluation.sharing import Meter
from cuecard.core.scoring.measures import HEADLINES
from cuecard.core.verdicts import Measure
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.play.ending import _ended
from steady_app import SteadyApp
from tui_rooms import until

ENDED = PlayOutcome(trial_id=1, termination=Termination.USER_DONE, judged=True)
SCREENS = Path(__file__).parents[2] / "src" / "cuecard" / "tui"
KEYWORDS = {
    "_": None,
    "N_": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "NP_": ((1, "c"), 2),
}
NO_KEY_DOES_IT = ("code --wait", "cuecard --as NAME", "cuecard --help")
"""What can only be done outside of the app."""


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def test_no_screen_names_an_option():
    found: list[str] = []
    for file, _line, message, _comments, _context in extract_from_dir(
        SCREENS, [("**.py", "python")], keywords=KEYWORDS
    ):
        if file.startswith("commands"):
            continue
        texts = message if isinstance(message, tuple) else (message,)
        found += [text for text in texts if text and re.search(r"(?<![\w-])--?[a-z]", text)]
    assert [text for text in found if not any(known in text for known in NO_KEY_DOES_IT)] == []


async def test_an_error_has_a_hint_for_each_place_in_which_it_is_read(
    app_with_samples: CuecardApp,
):
    control = RunControl()
    Meter(2.0, 1.0, control)
    halt = control.halt
    assert isinstance(halt, BudgetSpent)
    assert "--budget" in str(halt)
    app = app_with_samples
    async with app.run_test(size=(80, 24)) as pilot:
        app.report(halt)
        await until(pilot, lambda: app._notifications)
        (note,) = app._notifications
        assert "b gives it a larger budget" in note.message
        assert "--budget" not in note.message


def test_the_panel_after_a_session_has_every_main_measure_of_its_family():
    names = ("row_precision", "row_recall", "item_precision", "item_recall", "stage_share")
    shares = [Measure(name, 0.5, 3) for name in ("success", "row_f1", *names, "item_f1")]
    lines = "\n".join(_ended(ENDED, shares, None))
    assert all(label in lines for label in ("Success", "Row F1", "Item F1"))
    assert len(HEADLINES["table"]) == 3
    # One that is undefined says why.
    undefined = [Measure("det_f1", None, 0, reason="no ambiguity was reached")]
    told = "\n".join(_ended(ENDED, undefined, None))
    assert "Detection F1: –  (no ambiguity was reached)" in told
