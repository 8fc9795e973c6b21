"""What quality control found about a task, beside its review."""

from __future__ import annotations

from typing import Any, cast

from cuecard.tui.base import CuecardScreen, guarded
from cuecard.tui.widgets.paragraphs import Paragraphs


class QcSummary(Paragraphs):
    """Told which task it is about; looks by itself."""

    DEFAULT_CSS = """
    QcSummary { margin-top: 1; }
    """

    _task_id = ""

    def look(self, task_id: str) -> None:
        """Look at this task, unless that was done."""
        if task_id != self._task_id:
            self._task_id = task_id
            self.look_again()

    @guarded("qc_summary", background=True)
    async def look_again(self) -> None:
        from cuecard.annotate.qc.pipeline import qc_report
        from cuecard.tui.state.qc import summary

        screen = cast("CuecardScreen[Any]", self.screen)
        person, task_id = screen.person, self._task_id
        config = await screen.services.config()
        report = await screen.services.ask(lambda ws: qc_report(ws, task_id, person, config))
        self.load(summary(report))
