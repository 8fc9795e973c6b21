"""The tab of the persona, for a task that has one and for a task that has none."""

from __future__ import annotations

from textual.app import ComposeResult

from cuecard.annotate.authoring import ops
from cuecard.annotate.authoring.blank import blank_persona
from cuecard.annotate.authoring.edit import TaskEdit
from cuecard.annotate.authoring.trees import Path
from cuecard.core.i18n import N_, _
from cuecard.tui.actions import Key, keys
from cuecard.tui.screens.task.form import Form
from cuecard.tui.screens.task.forms import PERSONA
from cuecard.tui.screens.task.pane import TaskPane
from cuecard.tui.widgets.empty import EmptyState


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
