"""Begin a task: what it is called, in which language, of which family."""

from __future__ import annotations

from typing import Any, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Button, Footer, Input, Label, Select

from cuecard.annotate.authoring.blank import blank_task
from cuecard.core.i18n import N_, _
from cuecard.core.tasks import FAMILIES, Family, TaskLanguage
from cuecard.core.tasks.ids import id_problem
from cuecard.core.text import slug
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog
from cuecard.tui.glyphs import FAMILY
from cuecard.tui.screens.task.choices import LANGUAGE
from cuecard.tui.screens.task.fields import LineEditor

ABOUT: dict[Family, str] = {
    "graph": N_("graph: triples, disclosed in stages"),
    "table": N_("table: rows and columns"),
    "checkpoints": N_("checkpoints: ambiguous sub-questions"),
    "facts": N_("facts: a closed world and one answer"),
}


class NewTaskDialog(CuecardDialog[dict[str, Any] | None]):
    """Answers with the data of a blank task. Without an id one is made from the title."""

    BINDINGS = keys(
        Key("new.begin", "ctrl+s", "begin", N_("Begin"), N_("Begin this task"), shown_as="^s"),
    )

    def __init__(self, language: TaskLanguage) -> None:
        super().__init__()
        self._language: TaskLanguage = language

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="dialog", can_focus=False) as box:
            box.border_title = Text(_("New task"))
            with Horizontal(classes="new-field"):
                yield Label(_("Title"))
                yield LineEditor(id="title", compact=True)
            with Horizontal(classes="new-field"):
                yield Label(_("Id"))
                yield LineEditor(id="id", placeholder=_("from the title"), compact=True)
            with Horizontal(classes="new-field"):
                yield Label(_("Family"))
                families = [(Text(f"{FAMILY[f][0]} {_(ABOUT[f])}"), f) for f in FAMILIES]
                yield Select(families, value="graph", allow_blank=False, id="family", compact=True)
            with Horizontal(classes="new-field"):
                yield Label(_("Language"))
                languages = [(label, code) for code, label in LANGUAGE.items()]
                yield Select(
                    languages,
                    value=self._language,
                    allow_blank=False,
                    id="language",
                    compact=True,
                )
            with Horizontal(classes="buttons"):
                yield Button(_("Begin"), variant="primary")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one("#title", Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input.id == "title":
            proposal = slug(event.value) if event.value.strip() else _("from the title")
            self.query_one("#id", Input).placeholder = proposal

    def on_input_submitted(self) -> None:
        self.action_begin()

    def on_button_pressed(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        title = self.query_one("#title", Input).value.strip()
        task_id = self.query_one("#id", Input).value.strip() or slug(title)[:120]
        if not title:
            self.notify(_("Please give it a title."), severity="warning", markup=False)
        elif reason := id_problem(task_id):
            told = _("The id {id} {reason}.").format(id=task_id, reason=reason)
            self.notify(told, severity="warning", markup=False)
        else:
            family = cast(Family, self.query_one("#family", Select).value)
            language = cast(TaskLanguage, self.query_one("#language", Select).value)
            self.dismiss(blank_task(task_id, title, family, language))
