"""Ask the closed world of a draft what an agent might ask it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Label

from cuecard.annotate.authoring.world_trial import WorldTrial
from cuecard.core.i18n import _
from cuecard.tui.screens.task.fields import LineEditor
from cuecard.tui.state.entries import Paragraph
from cuecard.tui.state.world_answer import answer_said, explained, numbered
from cuecard.tui.widgets.paragraphs import Paragraphs

_AFTER = 0.2


class WorldPane(Vertical):
    """The answer follows every key and every change of the draft."""

    DEFAULT_CSS = """
    WorldPane { height: 1fr; padding: 0 1; }
    WorldPane > Label { color: $muted; width: 1fr; height: 1; text-style: bold; }
    WorldPane > VerticalScroll { height: 1fr; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._trial = WorldTrial()
        self._one = asyncio.Lock()
        self._data: Mapping[str, Any] | None = None

    def compose(self) -> ComposeResult:
        yield Label(_("Ask the world"), markup=False)
        yield LineEditor(
            placeholder=_("one entity and one attribute…"), compact=True, classes="editor"
        )
        with VerticalScroll(can_focus=False):
            yield Paragraphs()

    @property
    def query_line(self) -> Input:
        return self.query_one(LineEditor)

    def load(self, data: Mapping[str, Any]) -> None:
        """The draft as it stands; asked again what was asked."""
        first, self._data = self._data is None, data
        if first or self.query_line.value.strip():
            self._ask()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._ask()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()

    def _ask(self) -> None:
        self.run_worker(self._answer(), group="world", exclusive=True)

    async def _answer(self) -> None:
        data, query = self._data, self.query_line.value.strip()
        if data is None or not query:
            self.query_one(Paragraphs).load([Paragraph(explained(), "muted")])
            return
        await asyncio.sleep(_AFTER)
        async with self._one:
            answer = await asyncio.to_thread(lambda: asyncio.run(self._trial.ask(data, query)))
        # The pane may be gone by the time the world has answered.
        for paragraphs in self.query(Paragraphs):
            paragraphs.load(answer_said(answer, numbered(data)))
