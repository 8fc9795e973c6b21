"""The tab of the brief, with the guidelines for authors beside it or, where it is narrow, on demand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll

from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.guidelines import guidelines
from cuecard.annotate.authoring.trees import Path
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import current_language
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.forms import BRIEF
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.plain import PlainText
from cuecard.tui.widgets.prose import Prose

if TYPE_CHECKING:
    from cuecard.tui.app import CuecardApp


class Guidelines(VerticalScroll, can_focus=True):
    """What a good task of a family is; read when it is shown first."""

    def __init__(self) -> None:
        super().__init__(classes="guidelines")
        self._family = ""

    def compose(self) -> ComposeResult:
        yield PlainText(classes="problem")
        yield Prose()

    def load(self, edit: TaskEdit) -> None:
        if edit.family != self._family:
            self._family = edit.family
            self.run_worker(self._read(edit), group="guidelines", exclusive=True)

    async def _read(self, edit: TaskEdit) -> None:
        language, family = current_language(), edit.family
        problem = ""
        try:
            config = await cast("CuecardApp", self.app).services.config()
            text = await asyncio.to_thread(guidelines, family, language, config)
        except CuecardError as error:
            problem = str(error)
            text = await asyncio.to_thread(guidelines, family, language)
        told = self.query_one(".problem", PlainText)
        told.load(problem)
        told.display = bool(problem)
        self.query_one(Prose).load(text)


class BriefPane(TaskPane):
    """A wide terminal shows the guidelines beside the form, a narrow one instead of it."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._was_writing = False

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Form(BRIEF)
            yield Guidelines()

    @property
    def form(self) -> Form:
        return self.query_one(Form)

    @property
    def panel(self) -> Guidelines:
        return self.query_one(Guidelines)

    def load(self, edit: TaskEdit) -> None:
        self.form.load(edit, ())
        self.panel.load(edit)

    def commit(self) -> None:
        self.form.commit()

    def locate(self, path: Path) -> None:
        self.form.locate(path)

    def reveal(self, path: Path) -> None:
        hidden = self.has_class("-reading")
        self.remove_class("-reading")
        if hidden:
            # What is hidden takes no focus.
            self.call_after_refresh(self.form.reveal, path)
        else:
            self.form.reveal(path)

    @property
    def writing(self) -> bool:
        return super().writing and not self.panel.has_focus

    def step_back(self) -> bool:
        if self.panel.has_focus and self._was_writing:
            self.reveal(())
            return True
        self.remove_class("-reading")
        return False

    def show_guidelines(self) -> None:
        """Go to the guidelines; Escape goes back to where the person was."""
        self._was_writing = self.writing
        self.add_class("-reading")
        self.call_after_refresh(self.panel.focus)
