"""Forms made of models: kinds of rows, what is said as one types, keys, what is remembered, and values there and back."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, model_validator
from textual.app import App
from textual.widgets import Button, Input, Select, TextArea

from budget import examples
from cuecard.core.tasks.base import Frozen
from cuecard.core.verdicts import Decision
from cuecard.tui.kit import forms
from cuecard.tui.kit.forms import FormDialog, FormPane
from cuecard.tui.kit.rows import Options, Row, Values
from cuecard.tui.screens.dialogs import ConfirmDialog, LongTextDialog
from cuecard.tui.widgets.inputs import TickList
from tui_rooms import shown, until

CITIES = {"de": ["Ulm", "Trier"], "fr": ["Nice"]}


def cities(values: Values) -> Options:
    return [(city, city) for city in CITIES[values["country"]]]


class Trip(Frozen):
    """One of every kind of row."""

    name: Annotated[str, Field(title="Name", min_length=1)] = "Trip"
    days: Annotated[int, Field(title="Days", ge=1, le=30)] = 3
    budget: Annotated[float | None, Field(title="Budget", gt=0)] = None
    country: Annotated[Literal["de", "fr"], Field(title="Country"), Row(remember=True)] = "de"
    city: Annotated[str, Field(title="City"), Row(options=cities, remember=True)] = "Ulm"
    decision: Annotated[Decision | None, Field(title="Decision")] = None
    sights: Annotated[tuple[str, ...], Field(title="Sights"), Row(options={"m": "Minster", "r": "River"}, remember=True)] = ()  # fmt: skip
    friends: Annotated[tuple[str, ...], Field(title="Friends", description="One a line")] = ()
    notes: Annotated[str, Field(title="Notes"), Row("text")] = ""
    train: Annotated[bool, Field(title="By train")] = True
    seat: Annotated[str, Field(title="Seat"), Row(shown=lambda values: values["train"])] = ""
    ticket: Annotated[Path | None, Field(title="Ticket"), Row("path")] = None
    kept: int = 7

    @model_validator(mode="after")
    def _pays(self) -> Trip:
        if self.days > 20 and self.budget is None:
            raise ValueError("So long a trip needs a budget.")
        return self


TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
TRIPS = st.builds(
    Trip,
    name=TEXT.filter(bool),
    days=st.integers(1, 20),
    budget=st.none() | st.floats(0.001, 1e9),
    country=st.just("de"),
    city=st.sampled_from(CITIES["de"]),
    decision=st.none() | st.sampled_from(Decision),
    sights=st.sets(st.sampled_from("mr")).map(lambda found: tuple(sorted(found))),
    friends=st.lists(TEXT, max_size=3).map(tuple),
    notes=TEXT,
    train=st.booleans(),
    seat=TEXT,
    ticket=st.none() | st.just(Path("a/b")),
    kept=st.integers(),
)


class Bare(App[None]):
    """Nothing but forms, one after the other."""

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return {"muted": "#888888", "typing": "#444444"}


def test_any_model_comes_back_equal() -> None:
    # Many in one app, which takes longer to start than a form does.
    @given(st.lists(TRIPS, min_size=4, max_size=8))
    @settings(max_examples=examples(4), deadline=None)
    def check(trips: list[Trip]) -> None:
        async def scenario() -> None:
            app = Bare()
            async with app.run_test() as pilot:
                for trip in trips:
                    pane = FormPane(trip)
                    await app.screen.mount(pane)
                    await pilot.pause()
                    assert pane.read() == trip
                    await pane.remove()

        asyncio.run(scenario())

    check()


async def opened(
    pilot: Any,
) -> tuple[FormDialog[Trip], list[Any]]:
    answers: list[Any] = []
    dialog = FormDialog("A trip", Trip(), button="Book")
    pilot.app.push_screen(dialog, answers.append)
    await until(pilot, lambda: dialog.is_mounted and dialog.focused)
    return dialog, answers


async def test_what_is_typed_is_the_model(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        dialog, answers = await opened(pilot)
        await pilot.press("W", "e", "e", "k", "tab", "7", "tab", "1", "2", ",", "5")
        dialog.query_one("#decision", Select).value = Decision.YES
        dialog.query_one("#sights", TickList).focus()
        await pilot.press("end", "space", "home", "space", "tab", "A", "enter", "B")
        dialog.query_one("#notes", TextArea).text = "one\ntwo"
        await until(pilot, lambda: "[x] Minster" in shown(dialog))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: answers)
        assert answers == [
            Trip(name="Week", days=7, budget=12.5, decision=Decision.YES, sights=("m", "r"), friends=("A", "B"), notes="one\ntwo")
        ]  # fmt: skip


async def test_what_is_wrong_is_said_as_one_types(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        dialog, answers = await opened(pilot)
        dialog.query_one("#days", Input).focus()
        await pilot.press("4", "0")
        await until(pilot, lambda: "✗ Days: a number from 1 to 30, please." in shown(dialog))
        await pilot.press("backspace", "backspace", "2", "5")
        await until(pilot, lambda: "✗ So long a trip needs a budget." in shown(dialog))
        await pilot.press("ctrl+s")
        assert dialog.is_current
        assert answers == []
        await pilot.press("tab", "minus")
        await until(pilot, lambda: "✗ Budget: must be a number" in shown(dialog))
        await pilot.press("backspace", "9")
        await until(pilot, lambda: "✗" not in shown(dialog))


async def test_confirming_goes_to_what_is_wrong(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        dialog, answers = await opened(pilot)
        dialog.query_one("#name", Input).value = " "
        dialog.query_one("#notes").focus()
        await pilot.press("ctrl+s")
        await until(pilot, lambda: dialog.focused is dialog.query_one("#name"))
        await until(pilot, lambda: "✗ Name: must not be empty" in shown(dialog))
        assert answers == []


async def test_rows_follow_others(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        dialog, answers = await opened(pilot)
        await until(pilot, lambda: "Seat" in shown(dialog))
        dialog.query_one("#train").focus()
        await pilot.press("space")
        await until(pilot, lambda: "[ ] By train" in shown(dialog))
        await until(pilot, lambda: "Seat" not in shown(dialog))
        dialog.query_one("#country", Select).value = "fr"
        await pilot.pause()
        assert dialog.query_one("#city", Select).value == "Nice"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: answers)
        assert answers == [Trip(train=False, country="fr", city="Nice")]


class Note(Frozen):
    text: Annotated[str, Field(title="Note")] = ""


async def test_enter_in_a_line_confirms_and_escape_cancels(app_with_samples: Any) -> None:
    async with app_with_samples.run_test() as pilot:
        answers: list[Any] = []
        pilot.app.push_screen(FormDialog("A note", Note()), answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press("h", "i", "enter")
        pilot.app.push_screen(FormDialog("A note", Note()), answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        await pilot.press("h", "o", "escape")
        assert answers == [Note(text="hi"), None]


async def test_the_button_and_the_key_are_called_alike(app_with_samples: Any) -> None:
    async with app_with_samples.run_test() as pilot:
        dialog, _answers = await opened(pilot)
        button = dialog.query_one("#accept", Button)
        assert (str(button.label), button.variant) == ("Book", "primary")
        await until(pilot, lambda: "^s Book" in shown(dialog))


async def test_the_label_of_where_the_cursor_is_stays_in_view(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 20)) as pilot:
        dialog, _answers = await opened(pilot)
        for label, keys in (("Name", ()), ("Notes", ["tab"] * 8), ("Sights", ["shift+tab"] * 2)):
            await pilot.press(*keys)
            await until(pilot, lambda label=label: f" {label} " in shown(dialog))
        assert dialog.focused is dialog.query_one("#sights")


class Remembering(FormDialog[Trip]):
    REMEMBERS = "trip"


@pytest.mark.parametrize("offered", [None, [("The river", "r")]])
async def test_the_last_choice_is_remembered(app_with_samples: Any, offered: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        answers: list[Any] = []
        pilot.app.push_screen(Remembering("", Trip(sights=("m", "r"), days=9)), answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        pilot.app.screen.query_one("#country", Select).value = "fr"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: answers)
        again = Remembering("", Trip(), options={"sights": offered} if offered else None)
        pilot.app.push_screen(again, answers.append)
        await until(pilot, lambda: isinstance(pilot.app.focused, Input))
        sights = ("r",) if offered else ("m", "r")
        assert again.pane.read() == Trip(country="fr", city="Nice", sights=sights)


class PromptUpdates(FormDialog[Trip]):
    async def summary(self, model: Trip) -> str:
        return f"{model.days} days in {model.city}"

    def problem(self, model: Trip) -> str:
        return "Closed." if model.city == "Trier" else ""


async def test_a_summary_follows_and_a_form_may_refuse(app_with_samples: Any) -> None:
    async with app_with_samples.run_test(size=(80, 50)) as pilot:
        answers: list[Any] = []
        dialog = PromptUpdates("", Trip())
        pilot.app.push_screen(dialog, answers.append)
        await until(pilot, lambda: "3 days in Ulm" in shown(dialog))
        dialog.query_one("#city", Select).value = "Trier"
        await until(
            pilot, lambda: "3 days in Trier" in shown(dialog) and "✗ Closed." in shown(dialog)
        )
        await pilot.press("ctrl+s")
        assert dialog.is_current
        assert answers == []


async def test_the_page_has_an_example_that_works(app_with_samples: Any) -> None:
    page = (Path(__file__).parents[3] / "docs" / "forms.md").read_text(encoding="utf-8")
    made: dict[str, Any] = {"__name__": "page"}
    code = page.split("```python\n")[1].split("```")[0]
    exec(compile(code, "forms.md", "exec", dont_inherit=True), made)
    async with app_with_samples.run_test(size=(80, 30)) as pilot:
        answers: list[Any] = []
        dialog = made["draw_dialog"]([("first run", 1), ("second run", 2)])
        pilot.app.push_screen(dialog, answers.append)
        await until(pilot, lambda: dialog.is_mounted and dialog.focused)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "✗ Runs: choose at least one, please." in shown(dialog))
        await pilot.press("end", "space")
        await until(pilot, lambda: "[x] second run" in shown(dialog) and "1 run" in shown(dialog))
        dialog.query_one("#by", Select).value = "trials"
        await until(pilot, lambda: "Seed" not in shown(dialog))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: answers)
        assert answers == [made["Draw"](by="trials", runs=(2,))]


async def test_a_long_text_is_written_on_the_whole_screen(
    app_with_samples: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    app = app_with_samples
    async with app.run_test(size=(100, 30)) as pilot:
        dialog, _answers = await opened(pilot)
        field = dialog.query_one("#notes", TextArea)
        field.load_text("One day")
        field.focus()
        await until(pilot, lambda: field.cursor_location == (0, 7))
        assert "$EDITOR" not in shown(app.screen)
        await pilot.press("f11")
        await until(pilot, lambda: isinstance(app.screen, LongTextDialog))
        await pilot.press(*" in", "space", "乌", "尔", "姆")
        await until(pilot, lambda: "6 words · 14 characters" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, LongTextDialog))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: field.text == "One day in 乌尔姆")
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: field.text == "One day")
        await pilot.press("f11", "escape")
        await until(pilot, lambda: app.screen is dialog)


def test_buttons_have_one_style() -> None:
    screens = Path(forms.__file__).parents[1]
    found = [
        f"{file.name}:{call.lineno}"
        for file in screens.rglob("*.py")
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Button"
        if not any(word.arg == "compact" for word in call.keywords)
    ]
    assert found == []
