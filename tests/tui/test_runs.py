from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Select, SelectionList

from cuecard.annotate.samples import import_samples, load_samples
from cuecard.core.config import EMBEDDED, load_config
from cuecard.core.engine.events import AgentSpoke, Event, Limits, RunState, Termination, TrialEnded
from cuecard.core.engine.run_control import RunControl
from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_run
from cuecard.core.evaluation.runs import resume_run, start_run
from cuecard.core.evaluation.workers import Worker
from cuecard.core.records import TrialCell
from cuecard.store import leases
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.kit.forms import FormDialog
from cuecard.tui.preferences import Preferences
from cuecard.tui.screens.compare import CompareScreen
from cuecard.tui.screens.dialogs import AskLine, ConfirmDialog
from cuecard.tui.screens.labelling.screen import LabelScreen
from cuecard.tui.screens.run.list import RunsScreen
from cuecard.tui.screens.run.screen import RunScreen
from cuecard.tui.screens.run.start import RunStartDialog
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.services import Services
from cuecard.tui.widgets.inputs import FittedTable
from postgres_server import Databases
from steady_app import SteadyApp
from tui_rooms import live_agent, shown, until

SIZE = (80, 24)
TWO = ("facts-night-train", "espresso")


async def started(database: Path, *tasks: str, name: str = "") -> None:
    with Workspace.open(database) as workspace:
        await start_run(workspace, RunPlan(tasks=tasks, name=name), by="Ana")


async def test_an_empty_list_says_what_runs_are_for_and_n_starts_one(
    app_with_samples: CuecardApp,
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "No runs yet" in shown(app.screen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RunStartDialog))


async def test_two_tasks_are_run_watched_scored_and_a_trial_opened_by_keys_alone(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RunStartDialog))
        tasks = app.screen.query_one("#tasks", SelectionList)
        assert len(tasks.selected) == len(load_samples())
        await pilot.press("ctrl+a", "space", "down", "space")
        await until(pilot, lambda: "tasks: 2 · agents: 1 · trials: 2" in shown(app.screen))
        await pilot.press("ctrl+s")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await until(pilot, lambda: "2 of 2 trials" in shown(app.screen))
        await until(pilot, lambda: "● done" in shown(app.screen))
        await until(pilot, lambda: "Accuracy" in shown(app.screen))
        await pilot.press("v")
        await until(pilot, lambda: "Trials (shown)" in shown(app.screen))
        await pilot.press("s")
        await until(pilot, lambda: "offline baselines" in shown(app.screen))
        assert "Judge: lexical" in shown(app.screen)
        await pilot.press("v")
        await until(pilot, lambda: "Scores (shown)" in shown(app.screen))
        assert "t   Trials" in shown(app.screen)
        await pilot.press("t", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await pilot.press("escape")
        await until(pilot, lambda: "2/2" in shown(app.screen))
    with Workspace.open(database) as workspace:
        (run,) = workspace.runs.all()
        assert (run.state, run.finished, run.created_by) == (RunState.DONE, 2, "Ana")


async def test_a_run_is_offered_to_workers_where_there_can_be_any(
    app_with_samples: CuecardApp, postgres: Databases, home: Path
) -> None:
    async def offering(pilot: Pilot[Any], app: CuecardApp) -> None:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RunStartDialog))
        await pilot.press("ctrl+a", "space", "down", "space")
        app.screen.query_one("#played_by", Select).value = "workers"

    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await offering(pilot, app)
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "Workers need PostgreSQL" in shown(app.screen))
    with postgres.workspace() as url, Workspace.open(url) as workspace:
        import_samples(workspace, by="Ana")
        app = SteadyApp(Services(url), "Ana", Preferences())
        async with app.run_test(size=(120, 40)) as pilot:
            await offering(pilot, app)
            await until(pilot, lambda: "on any machine plays them" in shown(app.screen))
            await pilot.press("ctrl+s")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await until(pilot, lambda: "0 of 2 trials" in shown(app.screen))
            await until(pilot, lambda: "Resume" in shown(app.screen))
            await pilot.press("p")  # what waits for workers is taken from them by nobody unasked
            await until(pilot, lambda: "without workers?" in shown(app.screen))
            await pilot.press("n", "ctrl+g")
            await until(pilot, lambda: "Stop this run?" in shown(app.screen))
            await pilot.press("y")
            await until(pilot, lambda: "– stopped" in shown(app.screen))
            await pilot.press("p")  # offered to them again
            await until(pilot, lambda: workspace.workers.offered() == {1: 2})
            trial = workspace.runs.trials(1)[0]
            end = TrialEnded(termination=Termination.API_ERROR, detail="HTTP 503 from the server")
            workspace.runs.append_events([(trial.id, Event(seq=0, at=trial.created_at, body=end))])
            await Worker(workspace, EMBEDDED, "Bo", 2).work(RunControl(), until_done=True)
            await until(pilot, lambda: "● done" in shown(app.screen))
            assert "2 of 2 trials" in shown(app.screen)
            await pilot.press("v", "t", "f", "ctrl+r")
            await until(pilot, lambda: "Workers play them" in shown(app.screen))
            await pilot.press("w")
            await until(pilot, lambda: workspace.workers.offered() == {1: 1})
            await Worker(workspace, EMBEDDED, "Bo", 2).work(RunControl(), until_done=True)
            await until(pilot, lambda: "● 2 ended" in shown(app.screen))
        app.services.close()


async def test_what_goes_on_with_a_run_asks_for_a_larger_budget_where_it_is_spent(
    app_with_samples: CuecardApp, database: Path, home: Path
) -> None:
    app = app_with_samples
    with live_agent(home, "I am looking, please wait a moment."):
        file = home / "cuecard.yaml"
        priced = "retries: 0, price: {prompt: 1000000, completion: 0}"
        file.write_text(file.read_text("utf-8").replace("retries: 0", priced), encoding="utf-8")
        with Workspace.open(database) as workspace:
            plan = RunPlan(
                tasks=("facts-night-train",),
                agents=("live",),
                limits=Limits(max_turns=3),
                settings=RunSettings(budget=1),
            )
            await start_run(workspace, plan, by="Ana", config=load_config(file))
        async with app.run_test(size=SIZE) as pilot:
            await pilot.press("3")
            await until(pilot, lambda: "‖ paused" in shown(app.screen))
            await pilot.press("enter")
            await until(pilot, lambda: "of 1 USD" in shown(app.screen))
            for amount in ("5", "5000"):
                await pilot.press("p")
                await until(pilot, lambda: "with a larger one" in shown(app.screen))
                await pilot.press("home", "delete", *amount, "enter")
                await until(pilot, lambda: isinstance(app.screen, RunScreen))
            told = ["So much is spent already: the run stays paused."]
            assert [note.message for note in app._notifications] == told  # pyright: ignore
            await until(pilot, lambda: "● done" in shown(app.screen))


async def test_a_run_is_stopped_and_resumed_without_losing_what_was_played(
    app_with_samples: CuecardApp, database: Path, home: Path
) -> None:
    app = app_with_samples
    with live_agent(home, "I am looking, please wait a moment.", pause=0.05):
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("3")
            await until(pilot, lambda: isinstance(app.screen, RunsScreen))
            await pilot.press("a")
            await until(pilot, lambda: isinstance(app.screen, RunStartDialog))
            await pilot.press("ctrl+a", "down", "down", "space", "tab")
            await pilot.press("space", "end", "space")
            app.screen.query_one("#turns", Input).value = "3"
            await until(pilot, lambda: "trials: 1" in shown(app.screen))
            await pilot.press("ctrl+s")
            await until(pilot, lambda: "Start without a budget?" in shown(app.screen))
            await pilot.press("y")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await until(pilot, lambda: "1 playing" in shown(app.screen))
            await pilot.press("ctrl+q")
            await until(pilot, lambda: "Leave while a run is played?" in shown(app.screen))
            await pilot.press("n")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.press("ctrl+g")
            await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
            question = app.screen
            await pilot.press("ctrl+q")  # over another question it asks, too
            await until(pilot, lambda: "Leave while a run is played?" in shown(app.screen))
            await pilot.press("n")
            await until(pilot, lambda: app.screen is question)
            await pilot.press("y")
            await until(pilot, lambda: "– stopped" in shown(app.screen))
            assert "p plays on what is open." in shown(app.screen)
            with Workspace.open(database) as workspace:
                before = workspace.runs.events(1)
            await pilot.press("p")
            await until(pilot, lambda: "● done" in shown(app.screen))
            assert "turn limit" in shown(app.screen)
            assert "plays on" not in shown(app.screen)
            await pilot.press("ctrl+q")
            await until(pilot, lambda: not app.is_running)
    with Workspace.open(database) as workspace:
        after = workspace.runs.events(1)
    assert after[: len(before)] == before
    assert sum(isinstance(event.body, AgentSpoke) for event in after) == 3


async def test_a_run_is_gone_on_with_where_nobody_plays_it(
    app_with_samples: CuecardApp, database: Path
) -> None:
    app = app_with_samples
    with Workspace.open(database) as elsewhere:
        run = create_run(elsewhere, RunPlan(tasks=("facts-night-train",), name="far"), by="Ben")
        held = elsewhere.leases.take(run.id, "Ben")
        async with app.run_test(size=SIZE) as pilot:
            await pilot.press("3")
            await until(pilot, lambda: "▸ running" in shown(app.screen))
            app.push_screen(RunScreen(run.id))
            await until(
                pilot, lambda: "▸ running" in shown(app.screen) and "far" in shown(app.screen)
            )
            who = f"Ben plays it on {platform.node()}, process {os.getpid()}, since"
            await until(pilot, lambda: who in shown(app.screen))
            app.screen.action_resume()
            await until(pilot, lambda: any(who in n.message for n in app._notifications))  # pyright: ignore
            assert elsewhere.runs.trials(run.id)[0].events == 0
            # Killed, it is nobody's, which is seen without asking anybody.
            leases._HELD.discard(held.owner)  # pyright: ignore
            await until(pilot, lambda: "✗ interrupted" in shown(app.screen))
            assert who not in shown(app.screen)
            await pilot.press("p")
            await until(pilot, lambda: "● done" in shown(app.screen))


async def test_a_run_that_is_gone_on_with_is_not_called_paused(
    app_with_samples: CuecardApp, database: Path, home: Path
) -> None:
    app = app_with_samples
    with live_agent(home, "I am looking, please wait a moment.", pause=0.2):
        with Workspace.open(database) as workspace:
            plan = RunPlan(tasks=("facts-night-train",), agents=("live",))
            config = load_config(home / "cuecard.yaml")
            run = create_run(workspace, plan, by="Ana", config=config)
            workspace.runs.set_state(run.id, RunState.PAUSED, "the model had no credit")
        async with app.run_test(size=SIZE) as pilot:
            await pilot.press("3")
            await until(pilot, lambda: "‖ paused" in shown(app.screen))
            await pilot.press("enter")
            await until(pilot, lambda: "no credit" in shown(app.screen))
            await pilot.press("p")
            await until(pilot, lambda: "1 playing" in shown(app.screen))
            for _frame in range(20):
                now = shown(app.screen)
                if "1 playing" not in now:
                    break
                assert "‖ paused" not in now
                assert "▸ running" in now
                await pilot.pause(0.05)


async def test_a_figure_leads_to_its_trials_and_a_failed_one_is_played_again(
    app_with_samples: CuecardApp, database: Path
) -> None:
    with Workspace.open(database) as workspace:
        plan = RunPlan(tasks=("facts-night-train",), name="twice", samples=2)
        run = create_run(workspace, plan, by="Ana")
        failed = workspace.runs.trials(run.id)[1]
        end = TrialEnded(termination=Termination.API_ERROR, detail="HTTP 503 from the server")
        workspace.runs.append_events([(failed.id, Event(seq=0, at=failed.created_at, body=end))])
        await resume_run(workspace, run.id)
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "twice" in shown(app.screen))
        await pilot.press("enter")
        # A run that is over opens with its scores, and what failed stands beside them.
        await until(pilot, lambda: "◎ Pass@1" in shown(app.screen))
        assert "✗ 1 error: HTTP 503 from the server" in shown(app.screen)
        await pilot.press("enter")
        await until(pilot, lambda: "Behind" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: "◎ Pass@1" in shown(app.screen))
        await pilot.press("s")
        await until(pilot, lambda: "↓" in shown(app.screen))
        await pilot.press("v", "t", "f")
        await until(pilot, lambda: "failed trials · 1 of 2 trials" in shown(app.screen))
        await pilot.press("full_stop", "b")
        await until(pilot, lambda: isinstance(app.screen, FormDialog))
        await pilot.press("5", "enter")
        await until(pilot, lambda: "of 5 USD" in shown(app.screen))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("y")
        await until(pilot, lambda: "● 2 ended" in shown(app.screen))
        await until(pilot, lambda: "● done" in shown(app.screen))
        await pilot.press("escape")
        await until(pilot, lambda: "failed trials · " not in shown(app.screen))


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("samples", "0", "Samples per task"),
        ("samples", "", "Samples per task"),
        ("concurrency", "2000", "Trials at a time"),
        ("turns", "0", "Turns at most"),
    ],
)
async def test_a_plan_that_cannot_be_is_told_and_not_started(
    app_with_samples: CuecardApp, field: str, value: str, complaint: str
) -> None:
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, RunStartDialog))
        app.screen.query_one(f"#{field}", Input).value = value
        await pilot.press("ctrl+s")
        await until(pilot, lambda: f"✗ {complaint}: a number from 1 to" in shown(app.screen))
        assert isinstance(app.screen, RunStartDialog)


async def test_a_run_is_rescored_on_corrected_gold_once_it_is_told_what_that_takes(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await started(database, "facts-night-train")
    app = app_with_samples

    def told(words: str) -> bool:
        return any(words in note.message for note in app._notifications)  # pyright: ignore

    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter")
        await until(pilot, lambda: "Pass@1" in shown(app.screen))
        await pilot.press(".", "r")
        await until(pilot, lambda: told("No gold has changed since"))
        with Workspace.open(database) as workspace:
            task = workspace.tasks.revision("facts-night-train").task
            gold = task.gold.model_copy(update={"answer": "another"})
            workspace.tasks.save(task.model_copy(update={"gold": gold}), author="Ana")
        await pilot.press(".", "r")
        await until(pilot, lambda: "items to judge:" in shown(app.screen))
        assert "The gold of 1 task has changed" in shown(app.screen)
        assert "No model is called" in shown(app.screen)
        await pilot.press("h")
        await until(
            pilot, lambda: "1 of 1" in shown(app.screen) and "rescored" in shown(app.screen)
        )
        await pilot.press("escape")
        await until(pilot, lambda: "rescored" not in shown(app.screen))
        await pilot.press(".", "r")
        await until(pilot, lambda: told("The rescored trials are run 2"))
    with Workspace.open(database) as workspace:
        new, old = workspace.runs.all()
        assert (new.state, new.plan["rescored"], new.finished) == (RunState.DONE, old.uid, 1)


async def test_names_of_runs_and_tasks_are_text(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await started(database, "facts-night-train", name="[red]x[/] \x1b[31m[/]")
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "[red]x[/]" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await until(pilot, lambda: "[red]x[/]" in shown(app.screen))


async def test_a_play_session_opens_as_its_trial(
    app_with_samples: CuecardApp, database: Path
) -> None:
    from cuecard.core.engine.messages import PlayerRef

    human = PlayerRef(name="Ana", kind="human")
    with Workspace.open(database) as workspace:
        run = workspace.runs.create(
            name="by hand", kind="play", created_by="Ana", samples=1, limits=Limits()
        )
        workspace.runs.add_trials(
            run.id,
            [
                TrialCell(
                    task_id="espresso",
                    revision=1,
                    agent=human,
                    user=human,
                    world=human,
                    sample=0,
                    seed=0,
                )
            ],
        )[0]
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "by hand" in shown(app.screen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, TrialScreen))


async def test_the_list_keeps_its_cursor_and_shows_state_and_progress(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await started(database, "facts-night-train", name="older")
    await started(database, "facts-night-train", name="newer")
    app = app_with_samples
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: "newer" in shown(app.screen))
        table = app.screen.query_one(FittedTable)
        text = shown(app.screen)
        assert text.index("newer") < text.index("older")
        await pilot.press("down", "r")
        await until(pilot, lambda: table.cursor_row == 1)
        await until(pilot, lambda: "a New run" in shown(app.screen))
        for word in ("● done", "1/1", "Ana"):
            assert word in shown(app.screen)
        await pilot.press("space", "up", "space", "x")
        await until(pilot, lambda: "older-newer.html" in shown(app.screen))
        await pilot.press("escape", "w")
        await until(pilot, lambda: isinstance(app.screen, CompareScreen))
        await until(pilot, lambda: "older · newer" in shown(app.screen))


async def test_runs_are_tagged_named_archived_and_listed_again(
    app_with_samples: CuecardApp, database: Path
) -> None:
    for name in ("one", "two", "three"):
        await started(database, "espresso", name=name)
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.view.rows)
        screen = app.screen
        await pilot.press("space", "down", "space", "t")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"baseline", "enter")
        await until(pilot, lambda: shown(screen).count("baseline") == 2)
        await pilot.press("slash", *"base", "enter")
        assert len(screen.view.rows) == 2
        await pilot.press("escape", "escape", "e")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press("end", *" again", "enter")
        await until(pilot, lambda: "two again" in shown(screen))
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "two again" not in shown(screen))
        screen.view.grid.mark([0, 1])
        await pilot.press("d")
        await until(pilot, lambda: [run.name for run in screen.view.rows] == ["one"])
        assert "2 runs are archived; h shows what is." in shown(screen)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: len(screen.view.rows) == 3)
        screen.view.grid.mark([0, 1])
        await pilot.press("d")
        await until(pilot, lambda: [run.name for run in screen.view.rows] == ["one"])
        await pilot.press("h")
        await until(pilot, lambda: len(screen.view.rows) == 2)
        # That they are archived is no tag that people see or take away.
        assert all("archived" not in cell for cell in screen.view.grid.source.cells(0))
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        assert app.screen.query_one(Input).value == "baseline"
        await pilot.press("escape", "d")
        await until(pilot, lambda: len(screen.view.rows) == 1)
        await pilot.press("h")
        await until(pilot, lambda: len(screen.view.rows) == 2)


async def test_marked_trials_are_tagged_and_labelled(
    app_with_samples: CuecardApp, database: Path
) -> None:
    await started(database, *TWO)
    app = app_with_samples
    async with app.run_test(size=(120, 40)) as pilot:
        app.push_screen(RunScreen(1, over=True))
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        screen = app.screen
        await pilot.press("v", "t")
        await until(pilot, lambda: len(screen._trials.table.rows) == 2)
        await pilot.press("ctrl+a", "t")
        await until(pilot, lambda: isinstance(app.screen, AskLine) and app.screen.focused)
        await pilot.press(*"odd", "enter")
        await until(pilot, lambda: screen.is_current and shown(screen).count("odd") >= 2)
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, LabelScreen) and app.screen.step)
    with Workspace.open(database) as workspace:
        uids = [trial.uid for trial in workspace.runs.trials(1)]
        assert workspace.tags.of("trial", run=1) == dict.fromkeys(uids, ("odd",))
