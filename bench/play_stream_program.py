"""The two programs that `play_stream.py` measures: `python play_stream_program.py stock|play FOLDER`.

`play` is Cuecard, with a session against an agent on the model at the port in FOLDER/port. `stock` is a TextArea under a
Markdown widget that a MarkdownStream fills, as Textual's documentation has it; Enter asks the same model.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import aiohttp
from textual import events, work
from textual.app import App, ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Markdown, TextArea

from cuecard import tui
from cuecard.annotate.samples import import_samples
from cuecard.store.workspace import Workspace
from cuecard.tui.app import CuecardApp
from cuecard.tui.preferences import DARK, Preferences
from cuecard.tui.services import Services

PERSON, TASK = "Bo", "espresso"
CONFIG = """
models:
  bench: {{base_url: 'http://127.0.0.1:{port}/v1', model: bench, retries: 0}}
agents:
  live: {{kind: react, model: bench}}
"""


def ready() -> None:
    os.write(sys.__stdout__.fileno() if sys.__stdout__ else 1, b"\x1b]0;ready\x07")


class PlayProgram(CuecardApp):
    CSS_PATH = Path(tui.__file__).parent / "styles" / "app.tcss"

    def on_ready(self) -> None:
        self.begin_playing()

    @work
    async def begin_playing(self) -> None:
        from cuecard.tui.screens.play.screen import PlayScreen

        await self.push_screen(PlayScreen(TASK, agent="live"))
        await asyncio.sleep(2.0)  # the session's ground is read from the workspace
        ready()


class Area(TextArea):
    async def _on_key(self, event: events.Key) -> None:
        if event.key != "enter":
            await super()._on_key(event)
            return
        event.prevent_default()
        assert isinstance(self.app, StockProgram)
        self.app.ask(self.text)
        self.text = ""


class StockProgram(App[None]):
    CSS = "VerticalScroll { height: 1fr; } TextArea { height: 5; }"

    def __init__(self, port: str) -> None:
        super().__init__()
        self.url = f"http://127.0.0.1:{port}/v1/chat/completions"
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Markdown()
        yield Area()

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).anchor()
        self.query_one(TextArea).focus()
        self.call_after_refresh(ready)

    @work
    async def ask(self, text: str) -> None:
        view = self.query_one(Markdown)
        await view.update("")
        stream = Markdown.get_stream(view)
        async with aiohttp.ClientSession() as session:
            body = {"messages": [{"role": "user", "content": text}], "stream": True}
            async with session.post(self.url, json=body) as answer:
                async for line in answer.content:
                    if line.startswith(b"data: {"):
                        delta = json.loads(line[6:])["choices"][0]["delta"]
                        if said := delta.get("content"):
                            await stream.write(said)
        await stream.stop()


def play(folder: Path, port: str) -> PlayProgram:
    file, config = folder / "bench.db", folder / "cuecard.yaml"
    config.write_text(CONFIG.format(port=port), encoding="utf-8")
    with Workspace.open(file) as workspace:
        workspace.people.add(PERSON)
        import_samples(workspace, by=PERSON)
    return PlayProgram(Services(f"sqlite:///{file}", config), PERSON, Preferences())


if __name__ == "__main__":
    kind, place = sys.argv[1:]
    number = Path(place, "port").read_text(encoding="utf-8")
    (StockProgram(number) if kind == "stock" else play(Path(place), number)).run()
