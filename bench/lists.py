"""How fast a list of the kit opens and pages: python bench/lists.py [rows]. Processor time until the screen is painted."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from textual.app import App, ComposeResult

from cuecard.tui.kit.columns import Column
from cuecard.tui.kit.lists import ListView
from cuecard.tui.preferences import DARK


@dataclass(frozen=True)
class Line:
    number: int
    title: str
    state: str


COLUMNS = (
    Column[Line]("#", lambda line: f"{line.number:,}", right=True, raw=True),
    Column[Line]("Title", lambda line: line.title, grow=2, raw=True),
    Column[Line]("State", lambda line: line.state, raw=True),
    Column[Line]("Twice", lambda line: line.title * 2, grow=1, raw=True),
)


class PayloadCache(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        yield ListView(COLUMNS, lambda line: line.number, marking=True)


def paint(app: PayloadCache) -> None:
    app.screen._refresh_layout() if app.screen._layout_required else None
    app.screen._compositor.render_strips()


async def main(count: int) -> None:
    lines = [Line(n, f"The dialogue number {n} about a thing", "●○◐"[n % 3]) for n in range(count)]
    app = PayloadCache()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(ListView)
        view.focus()
        await pilot.pause()
        times: dict[str, list[float]] = {}

        async def clocked(
            name: str, work: Callable[..., object], *args: object, **named: object
        ) -> None:
            began = time.process_time()
            work(*args, **named)
            paint(app)
            times.setdefault(name, []).append(1000 * (time.process_time() - began))
            await pilot.pause()

        for _again in range(5):
            view.load(())
            await clocked("open", view.load, lines)
            await clocked("read again, cursor kept", view.load, list(lines))
        for _again in range(200):
            await clocked("page", view.grid.action_page, 1)
        for _again in range(3):
            await clocked("sort by title", view.sort_by, 1)
            await clocked("sort by number", view.sort_by, 0, down=True)
        view.sort_by(None)
        for words in ("7", "77", "777", ""):
            view._words = words
            await clocked(f"filter {words!r}", view._show)
        print(f"{count:,} rows, milliseconds")
        for name, found in times.items():
            p95 = sorted(found)[int(len(found) * 0.95)]
            print(f"{name:24} median {statistics.median(found):8.1f}  p95 {p95:8.1f}")


if __name__ == "__main__":
    asyncio.run(main(int((*sys.argv, "100000")[1])))
