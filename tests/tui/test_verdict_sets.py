"""Drawing a set in the app, how far it is, and the list of verdicts behind it."""

from __future__ import annotations

import re
from pathlib import Path

from textual.widgets import Input

from cuecard.annotate.labelling.labelling_sets import make_set
from cuecard.annotate.labelling.sampling import SamplingPlan
from cuecard.core.label_records import LabelValue, RunLabels
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.lists import ListView
from cuecard.tui.screens.dialogs import AskLine
from cuecard.tui.screens.labelling.dialogs import LabelImportDialog, SampleScreen
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.labelling.verdicts import VerdictListScreen, VerdictsScreen
from tui_rooms import shown, until


async def test_a_set_is_drawn_and_opened_and_verdicts_are_listed(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "No labelling set yet" in shown(app.screen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, SampleScreen))
        await until(pilot, lambda: "items of" in shown(app.screen))
        # Refused while it stands, then mended.
        await pilot.press("backspace", "backspace", "backspace", "x")
        await until(pilot, lambda: "How many: must be a whole number" in shown(app.screen))
        await pilot.press("backspace", "4")
        await until(pilot, lambda: "4 items of" in shown(app.screen))
        assert "covered" in shown(app.screen)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
        await until(pilot, lambda: "0/5" in shown(app.screen))
        with Workspace.open(judged) as workspace:
            [made] = workspace.label_sets.all()
            [first, *_rest] = workspace.label_sets.items(made.id)
        assert (made.name, made.items, made.created_by) == ("first run", 4, "Ben")
        assert made.plan["strata"] == ["decision"]
        await until(pilot, lambda: app.screen.query_one("#sets ListGrid").has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LabelScreen))
        await until(pilot, lambda: "Gold item" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
        with Workspace.open(judged) as workspace:
            workspace.verdicts.label_item(first.trial_id, first.item, "Ben", LabelValue.UNSURE)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, VerdictListScreen))
        await until(pilot, lambda: " verdicts · all" in shown(app.screen))
        # The task by its title; what is kept by the words of the screen, whose key for it is told.
        assert "Espresso,…" in shown(app.screen)
        await pilot.press("F")
        told = "Nothing is filtered. f filters"
        await until(pilot, lambda: any(told in n.message for n in app._notifications))
        await pilot.press("f", "F")
        await until(pilot, lambda: isinstance(app.screen, AskLine))
        assert "not labelled by me" in shown(app.screen)
        await pilot.press("escape", "f", "f")
        await until(pilot, lambda: " verdicts · all" in shown(app.screen))
        # Mine alone: the judge's decision comes on a key, and is remembered as seen.
        await pilot.press("f", "f")
        await until(pilot, lambda: "1 verdict · labelled by me" in shown(app.screen))
        line = next(line for line in shown(app.screen).splitlines() if "cannot tell" in line)
        assert "covered" not in line
        await pilot.press("h")
        await until(
            pilot,
            lambda: any(
                "cannot tell" in line and "covered" in line
                for line in shown(app.screen).splitlines()
            ),
        )
        await pilot.press("full_stop", "f")
        await until(pilot, lambda: "No verdict is like that" in shown(app.screen))
        await pilot.press("full_stop", "f", "enter")
        await until(pilot, lambda: isinstance(app.screen, LabelScreen))
    with Workspace.open(judged) as workspace:
        again = workspace.verdicts.label_item(first.trial_id, first.item, "Ben", LabelValue.YES)
    assert again.phase == "revealed"


async def test_a_long_list_is_read_where_it_is_looked_at(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 12)) as pilot:
        await app.services.ask(lambda ws: setattr(ws.verdict_pages, "size", 5))
        await pilot.press("5")
        await until(pilot, lambda: "first run" in shown(app.screen))
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, VerdictListScreen))
        await until(pilot, lambda: " verdicts · all" in shown(app.screen))
        count = len(app.screen.view.rows)
        assert count > 20
        for key in ("end", "home", "pagedown"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen.row.line is not None)
            await until(pilot, lambda: " … " not in shown(app.screen))
        await pilot.press("greater_than_sign", "slash")
        assert len(app.screen.view.rows) == count


async def test_the_cursor_stands_on_the_set_that_was_drawn(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        for count in (1, 2):
            await until(pilot, lambda: "first run" in shown(app.screen))
            await pilot.press("a")
            await until(pilot, lambda: isinstance(app.screen, SampleScreen))
            await until(pilot, lambda: "items of" in shown(app.screen))
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
            sets = app.screen.query_one("#sets", ListView)
            await until(pilot, lambda n=count, of=sets: len(of.every) == n and of.grid.has_focus)
            assert sets.row is sets.every[0]


async def test_of_several_judges_each_trials_first_is_offered(judged: Path, make_app) -> None:
    app: CuecardApp = make_app(judged, person="Ben")
    run = RunLabels(
        run_id=1, name="first run", judges=("lexical", "strict"), verdicts=9, mine=0, labels=0
    )
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(SampleScreen([run]))
        await until(pilot, lambda: "items of" in shown(app.screen))
        assert re.search(r"Whose verdicts +first of each", shown(app.screen))


async def test_whoever_has_no_label_to_give_is_told_so(judged: Path, make_app) -> None:
    with Workspace.open(judged) as workspace:
        [run] = workspace.runs.all()
        drawn = make_set(workspace, SamplingPlan(runs=(run.id,), n=3), name="done", by="Ana")
        for item in workspace.label_sets.items(drawn.id):
            workspace.verdicts.label_item(item.trial_id, item.item, "Ana", LabelValue.YES)
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: "done" in shown(app.screen))
        app.screen.query_one("#sets", ListView).focus()
        await pilot.press("enter")
        await until(pilot, lambda: "Nothing here waits for your label" in shown(app.screen))
        assert "Back to your last item" not in shown(app.screen)
        assert "Agreement of judge and people" in shown(app.screen)


async def test_labels_in_a_file_are_taken_in_and_what_is_wrong_with_it_is_told(
    judged: Path, make_app, tmp_path: Path
) -> None:
    with Workspace.open(judged) as workspace:
        [trial, *_rest] = workspace.runs.trials(workspace.runs.all()[0].id)
        [verdict, *_rest] = workspace.verdicts.of_trial(trial.id)[0].judgement.verdicts
    head, line = "trial,item,label,person", f"{trial.uid},{verdict.item.key},{{}},Eve"
    path = tmp_path / "labels.csv"
    path.write_text(f"{head}\n{line.format('perhaps')}\n", encoding="utf-8")
    app: CuecardApp = make_app(judged, person="Ben")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
        await until(pilot, lambda: "first run" in shown(app.screen))
        await pilot.press("m")
        await until(pilot, lambda: isinstance(app.screen, LabelImportDialog))
        app.screen.query_one("#path Input", Input).value = str(path)
        await until(pilot, lambda: "line 2, label perhaps" in shown(app.screen))
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, LabelImportDialog)
        path.write_text(f"{head}\n{line.format('yes')}\n", encoding="utf-8")
        await pilot.press("end", "space", "backspace")
        await until(pilot, lambda: "New labels: 1, known: 0; by Eve" in shown(app.screen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, VerdictsScreen))
        with Workspace.open(judged) as workspace:
            assert [label.person for label in workspace.verdicts.labels(trial_id=trial.id)] == [
                "Eve"
            ]
