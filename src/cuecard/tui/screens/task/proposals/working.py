"""A draft under way: how far it is, and a way to stop it."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from time import monotonic

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Footer, Label, ProgressBar

from cuecard.annotate.assist.drafting import Drafting
from cuecard.annotate.assist.proposal import Proposal
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog, guarded
from cuecard.tui.widgets.plain import PlainText


@dataclass
class _Told(Message):
    """So many parts are done, of so many."""

    done: int
    parts: int


class WorkingDialog(CuecardDialog[Proposal | None]):
    """Answers the proposal; None where there was none to be had. Escape keeps what is done so far,
    a second one drops it.
    """

    CSS_PATH = "proposals.tcss"
    BINDINGS = keys(
        Key("working.stop", "escape", "stop", N_("Stop"), N_("Keep what is done; once more: drop it all")),
    )  # fmt: skip

    def __init__(self, title: str, drafting: Drafting) -> None:
        super().__init__()
        self._title = title
        self._drafting = drafting
        self._draft: Future[Proposal] | None = None
        self._stopping = False
        self._parts: _Told | None = None
        self._began = monotonic()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = _("The model is drafting")
            yield PlainText(self._title)
            yield ProgressBar(show_eta=False, show_percentage=False, id="progress")
            yield Label("", id="far", classes="muted")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self._drafting.told = self._hear
        self.set_interval(1, self._tick)
        self.run_draft()

    def on_unmount(self) -> None:
        if self._draft is not None:
            self._draft.cancel()

    @guarded("draft", background=True)
    async def run_draft(self) -> None:
        """Draft on the engine, and answer what came of it."""
        self._draft = self.services.engine.submit(self._drafting.run())
        proposal: Proposal | None = None
        try:
            proposal = await asyncio.wrap_future(self._draft)
        finally:
            self.dismiss(proposal)

    def _hear(self, done: int, parts: int) -> None:
        """Called on the engine's thread."""
        self.post_message(_Told(done, parts))

    def on__told(self, event: _Told) -> None:
        bar = self.query_one(ProgressBar)
        # One part has no progress to show but that it goes on.
        if event.parts > 1:
            bar.update(total=event.parts, progress=event.done)
        self._parts = event
        self._tick()

    def action_stop(self) -> None:
        if self._draft is None or self._stopping:
            self.dismiss(None)
            return
        self._stopping = True
        self.services.engine.submit(self._drafting.stop())
        self.query_one("#far", Label).update(_("Stopping…"))

    def _tick(self) -> None:
        if self._stopping:
            return
        parts, seconds = self._parts, round(monotonic() - self._began)
        if parts is not None and parts.parts > 1:
            text = _("Part {n} of {all}, {seconds} s").format(
                n=min(parts.done + 1, parts.parts), all=parts.parts, seconds=seconds
            )
        else:
            text = _("Asking, {seconds} s").format(seconds=seconds)
        self.query_one("#far", Label).update(text)
