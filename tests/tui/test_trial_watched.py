"""A trial's raw calls, a trial under way that is followed, and panes that fill the screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard.annotate.results.pool import gather
from cuecard.annotate.samples import import_samples
from cuecard.core.config import load_config
from cuecard.core.engine.events import AgentSpoke, Event, EventBody, Limits, UserSpoke
from cuecard.core.engine.messages import AgentReply, PlayerRef, UserReply
from cuecard.core.evaluation.plans import RunPlan
from cuecard.core.evaluation.runs import start_run
from cuecard.core.records import TrialCell
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.screens.errors import TrialListScreen
from cuecard.tui.screens.trial.calls import CallsScreen
from cuecard.tui.screens.trial.screen import TrialScreen
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.transcript import Transcript
from tui_rooms import live_agent, shown, transcript, until

AppMaker = Callable[..., CuecardApp]
PLAYER = PlayerRef(name="offline", kind="offline", baseline=True)


async def test_raw_calls_show_request_and_reply(
    home: Path, database: Path, make_app: AppMaker
) -> None:
    with live_agent(home, "It is from Turin.") as server:
        with Workspace.open(database) as workspace:
            config = load_config(home / "cuecard.yaml")
            plan = RunPlan(tasks=("espresso",), agents=("live",), limits=Limits(max_turns=2))
            await start_run(workspace, plan, by="Ana", config=config)
            (trial,) = workspace.runs.trials(1)
        asked = len(server.requests)
        app = make_app(database)
        async with app.run_test(size=(80, 24)) as pilot:
            screen = TrialScreen(trial.id)
            await app.push_screen(screen)
            await until(pilot, lambda: "Turin" in transcript(screen))
            await pilot.press("full_stop", "R")
            await until(pilot, lambda: isinstance(app.screen, CallsScreen) and app.screen.row)
            calls = app.screen
            assert isinstance(calls, CallsScreen)
            pane = calls.query_one("#call", EntryList)
            await until(pilot, lambda: '"content":' in "\n".join(pane.lines))
            told = "\n".join(pane.lines)
            assert f"POST {server.url}" in told
            assert '"text": "It is from Turin."' in told
            await pilot.press("y")
            await until(pilot, lambda: '"scripted-1"' in app.clipboard)
            assert '"latency_ms"' in app.clipboard or '"text"' in app.clipboard
            await pilot.press("enter")
            await until(pilot, lambda: pane.has_focus)
            await pilot.press("escape")
            await until(pilot, lambda: not pane.has_focus)
            assert app.screen is calls
        assert len(server.requests) == asked


def said(seq: int, body: EventBody) -> Event:
    return Event(seq=seq, at=datetime.now(UTC), body=body)


def turn(number: int) -> list[EventBody]:
    words = " ".join(f"word{number}-{n}" for n in range(60))
    return [
        UserSpoke(turn=number, reply=UserReply(text=f"Question {number}. {words}")),
        AgentSpoke(turn=number, reply=AgentReply(text=f"Reply {number}. {words}")),
    ]


async def test_a_trial_under_way_is_followed(database: Path, make_app: AppMaker) -> None:
    app = make_app(database)
    with Workspace.open(database) as workspace:
        run = workspace.runs.create(
            name="under way", kind="play", created_by="Ana", samples=1, limits=Limits()
        )
        human = PlayerRef(name="Ana", kind="human")
        cell = TrialCell(task_id="espresso", revision=1, agent=PLAYER, user=human, world=PLAYER)
        (trial,) = workspace.runs.add_trials(run.id, [cell])
        count = 0

        def goes_on(number: int) -> None:
            nonlocal count
            events = [said(count + at, body) for at, body in enumerate(turn(number))]
            count += len(events)
            workspace.runs.append_events([(trial.id, event) for event in events])

        for number in range(4):
            goes_on(number)
        async with app.run_test(size=(80, 24)) as pilot:
            screen = TrialScreen(trial.id)
            await app.push_screen(screen)
            await until(pilot, lambda: "word3-59" in shown(screen))
            goes_on(4)
            await until(pilot, lambda: "word4-59" in shown(screen))
            await pilot.press("home")
            await until(pilot, lambda: "Question 0" in shown(screen))
            goes_on(5)
            await until(pilot, lambda: "Reply 5" in transcript(screen))
            assert "Question 0" in shown(screen)
            assert screen.query_one(Transcript).cursor == 0
            await pilot.press("end")
            await until(pilot, lambda: "word5-59" in shown(screen))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_pane_fills_the_screen_and_comes_back(
    database: Path, make_app: AppMaker, size: tuple[int, int]
) -> None:
    with Workspace.open(database) as workspace:
        import_samples(workspace, by="Ana")
        await start_run(workspace, RunPlan(tasks=("espresso",)), by="Ana")
        (trial,) = workspace.runs.trials(1)
        rows = gather(workspace, (1,)).rows
    app = make_app(database)
    async with app.run_test(size=size) as pilot:
        screen = TrialScreen(trial.id)
        await app.push_screen(screen)
        await until(pilot, lambda: screen.query_one(Transcript).lines)
        await until(pilot, lambda: screen.check_action("judge", ()))
        await pilot.press("v", "s")
        await until(pilot, lambda: screen.query("#stages"))
        stages = screen.query_one("#stages")
        await until(pilot, lambda: stages.has_focus_within)
        before = stages.region
        await pilot.press("z")
        await until(pilot, lambda: stages.region.width == size[0])
        assert stages.region.height >= size[1] - 2
        await until(pilot, lambda: "esc" in shown(screen).splitlines()[-1])
        await pilot.press("down", "escape")
        await until(pilot, lambda: screen.maximized is None and stages.region == before)
        assert app.screen is screen
        listed = TrialListScreen("all", rows)
        await app.push_screen(listed)
        await until(pilot, lambda: listed.row is not None)
        for wanted in (listed.view, listed.query_one("#detail")):
            await pilot.press("z")
            await until(
                pilot,
                lambda wanted=wanted: (
                    wanted.region.width == size[0] and wanted.region.height >= size[1] - 2
                ),
            )
        await pilot.press("z")
        await until(pilot, lambda: listed.maximized is None)
        assert app.screen is listed
