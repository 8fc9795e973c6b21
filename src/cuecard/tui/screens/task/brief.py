"""The tab of the brief with the guidelines for authors, and the tab of the persona."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.session import guidelines
from cuecard.annotate.authoring.task_data import Path, blank_persona
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, current_language
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.fields import Form
from cuecard.tui.screens.task.forms import BRIEF, PERSONA
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.nav import EmptyState
from cuecard.tui.widgets.text import PlainText, Prose

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


class NoPersona(EmptyState, can_focus=True):
    """Says what a persona is for; the key that adds one works here."""


class PersonaPane(TaskPane):
    BINDINGS = keys(
        Key("persona.add", "a", "add_persona", N_("Add"), N_("Give this task a persona")),
        Key(
            "persona.remove",
            "f8",
            "remove_persona",
            N_("Remove"),
            N_("Take the persona and its stages away; ^z brings them back"),
        ),
    )

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._edit: TaskEdit | None = None

    def compose(self) -> ComposeResult:
        yield Form(PERSONA)
        yield NoPersona(
            _("This task has no persona"),
            _(
                "A persona is whom the user plays: an identity, a vague first query, and stages in"
                " which the rest is disclosed. Without one the user simply asks the query."
            ),
            ("a", _("add a persona")),
        )

    def load(self, edit: TaskEdit) -> None:
        form, absent = self.query_one(Form), self.query_one(NoPersona)
        self._edit = edit
        form.display = self._present
        absent.display = not self._present
        if self._present:
            form.load(edit, ops.PERSONA)
        else:
            form.unload()
        self.refresh_bindings()

    def commit(self) -> None:
        self.query_one(Form).commit()

    def locate(self, path: Path) -> None:
        if self._present:
            self.query_one(Form).locate(path[1:])

    def reveal(self, path: Path) -> None:
        if self._present:
            self.query_one(Form).reveal(path[1:])
        else:
            self.query_one(NoPersona).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "add_persona":
            return not self._present
        return self._present if action == "remove_persona" else True

    def action_add_persona(self) -> None:
        if self._edit is not None:
            ops.add_persona(self._edit, blank_persona())
            self.load(self._edit)
            self.reveal(())

    def action_remove_persona(self) -> None:
        if self._edit is not None:
            self.commit()
            self.query_one(Form).unload()
            ops.remove_persona(self._edit)
            self.load(self._edit)
            self.reveal(())

    @property
    def _present(self) -> bool:
        return self._edit is not None and isinstance(self._edit.get(ops.PERSONA), dict)
