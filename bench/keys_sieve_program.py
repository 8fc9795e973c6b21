"""The real app for `keys_sieve.py`, with a line to the driver: where it is, what stands in every field, which
actions ran. What is observed is Textual's own (actions, fields, message queues), so that any revision of the app
can be sieved.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual import events
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.widget import Widget
from textual.widgets import Input, OptionList, Select, TextArea
from textual.widgets._toggle_button import ToggleButton

import cuecard.tui
from cuecard.tui.actions import registry
from cuecard.tui.app import CuecardApp
from cuecard.tui.grid.grid import Grid
from cuecard.tui.preferences import Preferences
from cuecard.tui.services import Services

LONG_LIVED = 0.4
"""Seconds after which a worker that still runs counts as one that goes on and on."""
TASKS = ("espresso", "table-us-states", "checkpoints-highest-mountain", "facts-night-train")
PERSON = "Ben"
SETTLED = 0.06


def build(file: Path) -> None:
    """Samples, four of them submitted, the others to be written, a judged run of these, labels of two people, a labelling set."""
    from cuecard.annotate.labelling.labelling_sets import make_set
    from cuecard.annotate.labelling.sampling import SamplingPlan
    from cuecard.annotate.review.workflow import submit
    from cuecard.annotate.samples import import_samples
    from cuecard.core.evaluation.plans import RunPlan
    from cuecard.core.evaluation.runs import start_run
    from cuecard.core.label_records import LabelValue
    from cuecard.store.workspace import Workspace

    with Workspace.open(file) as workspace:
        for name in ("Ana", "Ben", "Chen"):
            workspace.people.add(name)
        import_samples(workspace, by="Ana")
        for task_id in TASKS:
            submit(workspace, task_id, "Ana")
        for name in ("first run", "second run"):
            asyncio.run(start_run(workspace, RunPlan(tasks=TASKS, name=name), by="Ana"))
        for record in workspace.verdicts.records(1)[::2]:
            for person, value in (("Ana", LabelValue.YES), ("Chen", LabelValue.NO)):
                workspace.verdicts.label_item(
                    record.trial_id, record.item, person, value, f"{person} says", seconds=4
                )
        make_set(workspace, SamplingPlan(runs=(1,), n=12, seed=3), name="a set", by="Ana")


def warm_up(file: Path) -> None:
    """Import the screens and read the style sheets, for all apps that are forked from here."""
    parse, known = Stylesheet._parse_rules, dict[Any, Any]()

    def parsed(sheet: Any, *args: Any, **named: Any) -> Any:
        key = (frozenset(sheet._variables.items()), args, *named.items())
        if key not in known:
            known[key] = parse(sheet, *args, **named)
        return known[key]

    Stylesheet._parse_rules = parsed  # pyright: ignore[reportAttributeAccessIssue]

    for module in pkgutil.walk_packages(cuecard.tui.__path__, "cuecard.tui."):
        importlib.import_module(module.name)

    async def look_at_one() -> None:
        app = CuecardApp(Services(f"sqlite:///{file}"), PERSON, Preferences())
        async with app.run_test(size=(120, 40)) as pilot:
            await scenes()["graph-astronomy-zh/graph"](app)
            await pilot.pause(0.3)

    asyncio.run(look_at_one())


async def _go(app: CuecardApp, mode: str) -> None:
    app.action_go(mode)


def _mode(mode: str) -> Callable[[CuecardApp], Awaitable[None]]:
    return lambda app: _go(app, mode)


def _pushed(make: Callable[[], Any]) -> Callable[[CuecardApp], Awaitable[None]]:
    async def push(app: CuecardApp) -> None:
        await app.push_screen(make())

    return push


def _tab(task_id: str, tab: str) -> Callable[[CuecardApp], Awaitable[None]]:
    async def open_tab(app: Any) -> None:
        from cuecard.tui.screens.task.screen import TaskScreen

        screen = TaskScreen(task_id)
        quiet = getattr(app, "_quiet", lambda _: asyncio.sleep(0.05))
        await app.push_screen(screen)
        while not screen.loaded or screen.editor.tabs.active != tab:
            await quiet(0)
            if screen.loaded:
                await screen.editor.enter(tab)  # pyright: ignore[reportArgumentType]
                await quiet(0)

    return open_tab


def scenes() -> dict[str, Callable[[CuecardApp], Awaitable[None]]]:
    """Where the sieve begins; the keys lead to all other screens and dialogs."""
    from cuecard.tui.screens.agreement import AgreementScreen
    from cuecard.tui.screens.board import BoardScreen
    from cuecard.tui.screens.compare import CompareScreen
    from cuecard.tui.screens.errors import ErrorsScreen
    from cuecard.tui.screens.fidelity import FidelityScreen
    from cuecard.tui.screens.fidelity_replay import ReplayScreen
    from cuecard.tui.screens.fidelity_replay_choice import ReplayChoiceScreen
    from cuecard.tui.screens.independent_gold_build import BuildGoldScreen
    from cuecard.tui.screens.labelling.adjudicate import AdjudicateScreen
    from cuecard.tui.screens.labelling.screen import LabelScreen
    from cuecard.tui.screens.play.screen import PlayScreen
    from cuecard.tui.screens.plots import PlotsScreen
    from cuecard.tui.screens.quality import QcScreen
    from cuecard.tui.screens.review import ReviewTaskScreen
    from cuecard.tui.screens.run.screen import RunScreen
    from cuecard.tui.screens.trial.screen import TrialScreen

    tabs = {
        "graph-astronomy-zh": (
            "brief",
            "persona",
            "stages",
            "graph",
            "nodes",
            "sources",
            "history",
        ),
        "table-solar-terms-zh": ("columns", "table"),
        "checkpoints-old-bridge-zh": ("steps", "chain"),
        "facts-lunar-station-zh": ("facts", "answer", "problems"),
    }
    both = (1, 2)
    found: dict[str, Callable[[CuecardApp], Awaitable[None]]] = {
        mode: _mode(mode) for mode in ("home", "tasks", "runs", "review", "verdicts", "settings")
    }
    for task_id, names in tabs.items():
        found |= {f"{task_id}/{tab}": _tab(task_id, tab) for tab in names}
    found |= {f"trial {n}": _pushed(lambda n=n: TrialScreen(n)) for n in (1, 2, 3)}
    return found | {
        "run": _pushed(lambda: RunScreen(1)),
        "label": _pushed(lambda: LabelScreen(1, "first run")),
        "adjudicate": _pushed(lambda: AdjudicateScreen("first run", (1,))),
        "agreement": _pushed(lambda: AgreementScreen(1, "first run")),
        "compare": _pushed(lambda: CompareScreen(both, "both")),
        "errors": _pushed(lambda: ErrorsScreen(both, "both")),
        "plots": _pushed(lambda: PlotsScreen(both, "both")),
        "fidelity": _pushed(lambda: FidelityScreen((1,), "first run")),
        "replay choice": _pushed(lambda: ReplayChoiceScreen((1,), "first run")),
        "replay": _pushed(lambda: ReplayScreen(1)),
        "quality": _pushed(lambda: QcScreen("espresso")),
        "play": _pushed(lambda: PlayScreen("espresso", 1)),
        "play facts": _pushed(lambda: PlayScreen("facts-night-train", 1)),
        "review task": _pushed(lambda: ReviewTaskScreen("espresso")),
        "board": _pushed(BoardScreen),
        "independent gold": _pushed(lambda: BuildGoldScreen("table-us-states")),
    }


class Probed(CuecardApp):
    """The app, counting the keys it hears and the actions it runs."""

    CSS_PATH = [str(Path(cuecard.tui.__file__).parent / "styles" / "app.tcss")]
    heard = 0

    def __init__(self, db: Path, fd: int) -> None:
        super().__init__(Services(f"sqlite:///{db}"), PERSON, Preferences())
        self._fd = fd
        self.acts: list[str] = []

    def post_message(self, message: Any) -> bool:
        if isinstance(message, events.Key | events.Paste) and not message.is_forwarded:
            self.heard += 1
        return super().post_message(message)

    async def _dispatch_action(self, namespace: Any, action_name: str, params: Any) -> bool:
        done = await super()._dispatch_action(namespace, action_name, params)
        if done:
            self.acts.append(f"{type(namespace).__name__}.{action_name}{params or ''}")
        return done

    def on_mount(self) -> None:
        super().on_mount()
        self._told = asyncio.create_task(self._answer())

    async def _answer(self) -> None:
        reader, writer = await asyncio.open_unix_connection(sock=_socket(self._fd))
        while line := await reader.readline():
            asked = json.loads(line)
            answer: Any = None
            try:
                with self._context():
                    if "scene" in asked:
                        await self._quiet(0)
                        await scenes()[asked["scene"]](self)
                    await self._quiet(asked.get("heard", 0), asked.get("long", LONG_LIVED))
                    answer = self._snapshot()
                    if asked.get("forget"):
                        self.acts.clear()
            except Exception as error:  # noqa: BLE001 - told to the driver
                answer = {"error": f"{type(error).__name__}: {error}"}
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()

    async def _quiet(self, heard: int, long: float = LONG_LIVED) -> None:
        """Until so many keys came in and nothing has happened for a while."""
        loop = asyncio.get_running_loop()
        begun = calm = loop.time()
        working: dict[Any, float] = {}
        while loop.time() - begun < 15:
            await asyncio.sleep(0.01)
            now = loop.time()
            working = {w: working.get(w, now) for w in self.workers if not w.is_finished}
            late = any(now - since < long for since in working.values())
            if self.heard < heard or late or not self._resting():
                calm = now
            elif now - calm >= SETTLED:
                return

    def _resting(self) -> bool:
        if getattr(self, "_held", ()) or self.screen._callbacks:
            return False
        pumps = [self, self.screen, *self.screen.walk_children()]
        return all(
            not p._message_queue.values and p._message_queue.ready_event._waiters for p in pumps
        )

    def _snapshot(self) -> dict[str, Any]:
        screen = self.screen
        stack = [f"{type(s).__name__}" for s in self.screen_stack]
        focus = _path(screen.focused) if screen.focused else ""
        return {
            "place": [self.current_mode, *stack, _shown(screen), focus],
            "kind": _kind(screen.focused),
            "fields": self._fields(),
            "acts": list(self.acts),
            "keys": sorted(
                {
                    active.binding.key
                    for active in screen.active_bindings.values()
                    if active.enabled and active.binding.id in registry()
                }
            ),
            "heard": self.heard,
        }

    def _fields(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for at, screen in enumerate(self.screen_stack):
            for widget in screen.walk_children(Widget):
                if not widget.display:
                    continue
                name = f"{at}{_path(widget)}"
                if isinstance(widget, Input):
                    found[name] = widget.value
                elif isinstance(widget, TextArea):
                    found[name] = widget.text
                elif isinstance(widget, Select | ToggleButton):
                    found[name] = repr(widget.value)
                elif isinstance(widget, OptionList):
                    found[name] = repr(widget.highlighted)
                elif isinstance(widget, Grid):
                    found[name] = f"{widget.cursor_row},{widget.cursor_column}"
            edit = getattr(screen, "_edit", None)
            if edit is not None:
                _flatten(f"{at}gold", edit.data, found)
        return found


def _socket(fd: int) -> Any:
    import socket

    return socket.socket(fileno=fd)


def _path(widget: Widget) -> str:
    parts: list[str] = []
    node: Any = widget
    while node is not None and node.parent is not None and not isinstance(node.parent, App):
        same = [child for child in node.parent.children if type(child) is type(node)]
        number = f".{same.index(node)}" if len(same) > 1 and node in same else ""
        parts.append(f"{type(node).__name__}{number}")
        node = node.parent
    return "/" + "/".join(reversed(parts))


def _kind(widget: Widget | None) -> str:
    """What typing means there: "text", "cells" or "keys"."""
    if isinstance(widget, Input | TextArea):
        return "text"
    return "cells" if type(widget).__name__ == "CellGrid" else "keys"


def _shown(screen: Any) -> str:
    """The tab or pane that is shown."""
    from textual.widgets import ContentSwitcher

    from cuecard.tui.widgets.nav import TabRow

    parts = [tabs.active for tabs in screen.query(TabRow)]
    parts += [str(switcher.current) for switcher in screen.query(ContentSwitcher)]
    return " ".join([*parts, str(getattr(screen, "_pane", ""))])


def _flatten(name: str, value: Any, found: dict[str, str]) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            _flatten(f"{name}.{key}", one, found)
    elif isinstance(value, list | tuple):
        for at, one in enumerate(value):
            _flatten(f"{name}.{at}", one, found)
    elif value is not None:
        found[name] = str(value)


def run(db: Path, fd: int) -> None:
    os.environ["EDITOR"] = os.environ["VISUAL"] = os.environ["BROWSER"] = "true"
    Probed(db, fd).run()
    sys.stdout.flush()
