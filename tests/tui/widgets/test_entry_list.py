"""A list of entries, drawn."""

import asyncio

from textual.app import App, ComposeResult
from textual.message import Message

from cuecard.tui.drawing import Vertical
from cuecard.tui.preferences import DARK
from cuecard.tui.present.entries import Entry, Paragraph, Piece
from cuecard.tui.widgets.entry_list import EntryList
from tui_rooms import until

TEXT = "Who first patented an espresso machine, and in which year was that?"


def entries(count: int) -> list[Entry]:
    body = (Paragraph(TEXT),)
    return [Entry("user", n, (Piece(f"Turn {n}"),), body) for n in range(count)]


class Busy(EntryList):
    """Handles one message until it is let go; what comes after that waits."""

    class PausedByPerson(Message):
        pass

    def __init__(self) -> None:
        super().__init__()
        self.let_go = asyncio.Event()

    async def on_busy_held(self) -> None:
        await self.let_go.wait()


class Shown(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = DARK.name

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Busy()


async def test_what_is_loaded_before_a_new_width_is_told_is_laid_out_at_that_width() -> None:
    app = Shown()
    async with app.run_test(size=(100, 30)) as pilot, asyncio.timeout(60):
        shown, around = app.query_one(Busy), app.query_one(Vertical)
        shown.load(entries(3))
        around.styles.width = 40
        await until(pilot, lambda: not any(TEXT in line for line in shown.lines))
        shown.post_message(Busy.PausedByPerson())
        around.styles.width = 100
        # A pause of the pilot would wait for the message that is held.
        while shown.size.width != 100:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        shown.load(entries(4))
        shown.let_go.set()
        await pilot.pause()
        assert sum(TEXT in line for line in shown.lines) == 4
