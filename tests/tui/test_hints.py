"""What the app says names keys; the same error on the command line names options and verbs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cuecard.core.engine.events import Termination
from cuecard.core.engine.run_control import RunControl
from cuecard.core.errors import BudgetSpent
from cuecard.core.evaluation.play_setup import PlayOutcome
from cuecard.core.evaluation.sharing import Meter
from cuecard.core.scoring.measures import HEADLINES
from cuecard.core.verdicts import Measure
from cuecard.tui.app import CuecardApp
from cuecard.tui.present.keyboard import with_keys
from cuecard.tui.screens.play.ending import _ended
from cuecard.tui.widgets.text import fitted
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


@cache
def texts() -> tuple[tuple[str, int, str], ...]:
    """Every text of the package that is translated, with its file and line."""
    return tuple(
        (file, line, text)
        for file, line, message, _comments, _context in extract_from_dir(
            SCREENS.parent, [("**.py", "python")], keywords=KEYWORDS
        )
        for text in (message if isinstance(message, tuple) else (message,))
        if text
    )


@pytest.fixture
def kind_of_app() -> type[SteadyApp]:
    return SteadyApp


def test_no_screen_names_an_option():
    found = [
        text
        for file, _line, text in texts()
        if file.startswith("tui/") and not file.startswith("tui/commands")
        if re.search(r"(?<![\w-])--?[a-z]", text)
    ]
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
    lines = "\n".join(_ended(ENDED, Termination.USER_DONE, shares, None))
    assert all(label in lines for label in ("Success", "Row F1", "Item F1"))
    assert len(HEADLINES["table"]) == 3
    # One that is undefined says why.
    undefined = [Measure("det_f1", None, 0, reason="no ambiguity was reached")]
    told = "\n".join(_ended(ENDED, Termination.USER_DONE, undefined, None))
    assert "Detection F1: – (no ambiguity was reached)" in told


_A_KEY = re.compile(
    r"(?<![\w'’^.+`/%-])[b-jlmoq-z](?![\w'’=+`/%-])|(?<!\w)\^[a-z]\b|(?<=[,;] )\. \w"
)
NO_KEYS = (
    "Pearson's r",
    "t test",
    "Student's t",
    "with y and n",
    "With m sessions",
)
"""What has a letter of its own that is no key; n, k and p are figures."""


def test_no_text_of_the_app_names_a_key_as_it_is_now():
    """It would stay when the key of that meaning is another: `{ADD}` and `<trial.tell>` name keys."""
    found: list[str] = []
    for file, line, text in texts():
        if file.startswith(("tui/commands", "tui/present/keyboard")):
            continue
        bare = re.sub(r"\{[^}]*\}( [a-z]\b)?|<[a-z_.0-9]+>", "", text)
        if _A_KEY.search(bare) and not any(known in bare for known in NO_KEYS):
            found.append(f"{file}:{line}: {text}")
    assert found == []


def test_every_action_that_a_text_names_is_declared():
    named = {
        id for _file, _line, text in texts() for id in re.findall(r"<([a-z_]+\.[a-z_0-9]+)>", text)
    }
    assert named >= {"run.trials", "trial.tell", "label.all"}
    assert {id: with_keys(f"<{id}>") for id in named if with_keys(f"<{id}>") == f"<{id}>"} == {}


def test_a_text_names_keys_by_what_they_mean_and_do():
    assert with_keys("{PLAY} goes on, <run.budget> and {n} stay") == "p goes on, . b and {n} stay"
    assert with_keys("{ADD} adds", typing=True) == "^n adds"
    assert with_keys("{TOUR_LEAVE} <b.x>") == "^\\ <b.x>"


def test_a_title_is_cut_where_it_is_longest():
    title = "Three agents (made for demonstration) · Agent · Graph tasks · against alpha"
    assert fitted(title, 90) == title
    assert fitted(title, 60) == "Three agents (made fo… · Agent · Graph tasks · against alpha"
    assert cell_len(fitted(title, 30)) <= 30


def test_tables_of_help_begin_no_line_with_a_closing_mark() -> None:
    """Rich breaks them, which knows no Chinese."""
    said = Text("只显示未定的、有差异的、仅一方有的或一致的；再按切换到下一种", overflow="fold")
    lines = [line.plain for line in said.wrap(Console(width=40), 42)]
    assert "".join(lines) == said.plain
    assert not any(line.startswith("；") for line in lines)
