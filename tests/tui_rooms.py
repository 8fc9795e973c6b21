"""Helpers for tests of Play, Runs and Trial: waiting, and what is on the screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

import openai_server
from cuecard.core.engine.events import Event, UserSpoke
from cuecard.core.engine.messages import UserReply
from cuecard.store.workspace import Workspace
from cuecard.tui.screens.play.form import SessionFormPane
from cuecard.tui.screens.play.screen import PlayScreen
from cuecard.tui.screens.play.session import Composer
from cuecard.tui.widgets.transcript import Transcript
from openai_server import OpenAIServer, Request, running

LONGEST = 60.0
"""Seconds that `until` waits: a busy machine takes twenty times as long as an idle one."""
HOSTILE = (
    "[red]x[/] and [/] then \x1b[31mred\x1b[0m \x1b]0;title\x07 and \u202eright to left\u202c,"
    " nul\x00 bell\x07 [link=https://evil.example]click[/link] [@click=app.quit]quit[/]"
    " שלום 中文\n" + "y" * 10_000 + "\nend of the hostile text"
)


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait for what the person would see next. A widget, or a line of one, that is not there yet is waited for, too."""
    end, wait = time.monotonic() + LONGEST, 0.005
    while time.monotonic() < end:
        await pilot.pause()
        with suppress(NoMatches, LookupError):
            if condition():
                return
        # Looking costs more than most of what is waited for: the longer that takes, the less often.
        await pilot.pause(wait)
        wait = min(2 * wait, 0.08)
    raise AssertionError(f"what was waited for did not happen on {pilot.app.screen}")


def shown(screen: Screen[Any]) -> str:
    """Everything that is on the screen now, as text."""
    strips = screen._compositor.render_strips()
    return "\n".join(strip.text for strip in strips)


def status(screen: Screen[Any]) -> str:
    """The line above the input of Play."""
    return str(screen.query_one("#status", Static).content)


def transcript(screen: Screen[Any]) -> str:
    """The whole dialogue, in view or not."""
    return "\n".join(screen.query_one(Transcript).lines)


async def enter_play(pilot: Pilot[Any], screen: PlayScreen) -> Composer:
    """Push the screen and wait until the person can type."""
    pilot.app.push_screen(screen)
    await until(pilot, lambda: screen.is_mounted and screen.play)
    return screen.query_one(Composer)


async def agent_spoke(pilot: Pilot[Any], screen: PlayScreen, turns: int) -> None:
    """Wait for the agent's reply number `turns`, counting from 1."""
    await until(
        pilot,
        lambda: (
            screen.play
            and len(screen.play.dialogue.of("agent")) >= turns
            and screen.play.phase == "yours"
        ),
    )


@contextmanager
def live_agent(folder: Path, *replies: str, pause: float = 0.0) -> Iterator[OpenAIServer]:
    """A model on loopback that gives `replies` in turn (the last one again and again), and a
    configuration in `folder` that names it `live`.
    """

    def script(request: Request) -> openai_server.Reply:
        said = replies[min(request.number, len(replies) - 1)]
        return openai_server.text(said, pause=pause)

    with running(script) as server:
        (folder / "cuecard.yaml").write_text(
            "models:\n"
            f"  scripted: {{base_url: '{server.url}', model: scripted-1, retries: 0}}\n"
            "agents:\n"
            "  live: {kind: react, model: scripted}\n",
            encoding="utf-8",
        )
        yield server


def events_of(database: Path, run: int = 1) -> list[Event]:
    with Workspace.open(database) as workspace:
        (trial,) = workspace.runs.trials(run)
        return workspace.runs.events(trial.id)


def whole_log(database: Path) -> list[Event]:
    with Workspace.open(database) as workspace:
        return workspace.runs.log(1)


def said(database: Path) -> list[UserReply]:
    bodies = [event.body for event in events_of(database)]
    return [body.reply for body in bodies if isinstance(body, UserSpoke)]


async def fill_form(pilot: Pilot[Any], screen: PlayScreen) -> None:
    """Answer the form that comes before the scores."""
    form = screen.query_one(SessionFormPane)
    await until(pilot, lambda: form.display and screen.focused in form.query("*"))
    await pilot.press(*"54321", "ctrl+s")
