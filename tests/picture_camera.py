"""A camera for pictures of screens: it waits until the running app rests, and takes what is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from textual._compositor import visible_screen_stack
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, TextArea
from textual.widgets._toast import Toast

from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services
from picture_text import Picture, picture_of

PATIENCE = 60.0
"""Seconds until an app that does not come to rest fails its test."""
SHORT = 0.01
THEMES = {"dark": "cuecard-dark", "light": "cuecard-light"}
SMALL, LARGE = (80, 24), (120, 40)


@dataclass
class Camera:
    """One running app, and what steps of scenes do with it."""

    app: CuecardApp
    pilot: Pilot[Any]
    goes_on: set[str] = field(default_factory=set)
    """Names of workers that are not waited for."""

    @property
    def screen(self) -> Any:
        return self.app.screen

    async def ask(self, call: Callable[[Workspace], Any]) -> Any:
        return await self.app.services.ask(call)

    async def push(self, screen: Screen[Any]) -> None:
        self.app.push_screen(screen)
        await self.rest()

    async def press(self, *keys: str) -> None:
        """Each key once the one before is done."""
        for key in keys:
            await self.pilot.press(key)
            await self.rest()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for what other threads do."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "what was waited for did not happen"
            await self.pilot.pause(SHORT)
        await self.rest()

    async def rest(self) -> None:
        """Wait until nothing is under way: no key, message, worker or timer that runs once."""
        deadline, calm = time.monotonic() + PATIENCE, 0
        while calm < 2:
            await asyncio.sleep(SHORT)
            busy = self._busy()
            calm = 0 if busy else calm + 1
            assert time.monotonic() < deadline, f"{self.screen} does not rest: {busy}"

    async def take(self) -> Picture:
        """What is shown, once two looks at it are alike."""
        await self.rest()
        # They go by themselves after seconds, be the machine fast or slow.
        self.app.clear_notifications()
        await self.rest()
        deadline, before = time.monotonic() + PATIENCE, None
        while (picture := self._seen()) != before:
            before = picture
            assert time.monotonic() < deadline, f"{self.screen} does not stand still"
            await asyncio.sleep(2 * SHORT)
            await self.rest()
        return picture

    def _busy(self) -> str:
        app, screen = self.app, self.app.screen
        if app._held or screen._callbacks or screen._layout_required:
            return "keys or layout"
        for worker in app.workers:
            rests = app._errands.get(worker)
            waits = (rests is not None and rests()) or worker.name in self.goes_on
            if not worker.is_finished and not waits:
                return f"worker {worker.name}"
        for pump in (app, screen, *screen.walk_children(with_self=False)):
            if pump._message_queue is not None and pump._message_queue.qsize():
                return f"messages of {pump}"
            if pump is app or isinstance(pump, Toast):
                continue
            for timer in list(pump._timers):
                once = timer._repeat == 0 and timer._active.is_set()
                if once and timer._task is not None and not timer._task.done():
                    return f"timer {timer.name} of {pump}"
        return ""

    def _seen(self) -> Picture:
        for widget in self.screen.query("Input, TextArea"):
            if isinstance(widget, Input | TextArea):
                widget.cursor_blink = False
            if isinstance(widget, TextArea):
                # A line that was drawn while the cursor was out would be taken for one with a cursor that does not blink.
                widget._line_cache.clear()
                widget.refresh()
        visible_screen_stack.set(list(self.app._background_screens))
        return picture_of(self.screen._compositor.render_strips())

    def strips(self) -> list[Strip]:
        """What is to be read: of a dialog, nothing behind it."""
        visible_screen_stack.set(list(self.app._background_screens))
        strips = self.screen._compositor.render_strips()
        if not self.screen.is_modal:
            return strips
        shown = [widget.region for widget in self.screen.children if widget.display]
        return [
            strip.crop(region.x, region.right)
            for region in shown
            for strip in strips[max(region.y, 0) : max(region.bottom, 0)]
        ]


Step = Callable[[Camera], Awaitable[None]]


@dataclass(frozen=True)
class Scene:
    """A place on a walk where pictures are taken. `shows`: the class of the screen on top."""

    name: str
    shows: type[Screen[Any]]


@dataclass(frozen=True)
class Walk:
    """Through one running app, from Home. `person`: who works; "" before a first start. `empty`: in a workspace
    without anything. `files`: what lies in the working folder.
    """

    way: tuple[Step | Scene, ...]
    person: str = "Ann"
    empty: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def scenes(self) -> list[Scene]:
        return [stop for stop in self.way if isinstance(stop, Scene)]

    @property
    def name(self) -> str:
        return self.scenes[0].name


def walk(*way: Step | Scene, **more: Any) -> Walk:
    return Walk(way, **more)


def go(mode: str) -> Step:
    """To one of the app's six places."""

    async def step(camera: Camera) -> None:
        camera.app.action_go(mode)
        await camera.rest()

    return step


def push(make: Callable[[Workspace], Screen[Any]]) -> Step:
    """Onto a screen that is made from what stands in the workspace."""

    async def step(camera: Camera) -> None:
        await camera.push(await camera.ask(make))

    return step


async def back(camera: Camera) -> None:
    """Take the screen on top away, whatever its keys say."""
    camera.screen.dismiss()
    await camera.rest()


def keys(pressed: str) -> Step:
    """Keys, with spaces between them, each once the one before is done."""

    async def step(camera: Camera) -> None:
        await camera.press(*pressed.split())

    return step


def typed(text: str) -> Step:
    async def step(camera: Camera) -> None:
        await camera.pilot.press(*text)
        await camera.rest()

    return step


def until(condition: Callable[[Any], object]) -> Step:
    """Until something is so of the screen on top."""

    async def step(camera: Camera) -> None:
        await camera.until(lambda: condition(camera.screen))

    return step


async def taken(
    walk: Walk,
    size: tuple[int, int],
    language: str,
    theme: str,
    look: Callable[[Camera, str], Awaitable[None]] | None = None,
) -> dict[str, Picture]:
    """The pictures of a walk through a workspace in the working folder, by scene. `look`: what is done in each scene instead."""
    preferences = Preferences(language=language, theme=theme)
    app = CuecardApp(Services("sqlite:///cuecard.db"), walk.person, preferences)
    app.animation_level = "none"
    found: dict[str, Picture] = {}
    async with app.run_test(size=size) as pilot:
        camera = Camera(app, pilot)
        # After two seconds the app collects garbage again: not in the middle of a walk.
        for timer in list(app._timers):
            timer.stop()
        await camera.rest()
        for step in walk.way:
            if not isinstance(step, Scene):
                await step(camera)
                continue
            assert type(app.screen) is step.shows, step.name
            if look is not None:
                await look(camera, step.name)
                assert type(app.screen) is step.shows, step.name
                continue
            found[step.name] = await camera.take()
    return found
