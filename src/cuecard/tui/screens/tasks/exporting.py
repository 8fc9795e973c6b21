"""Write tasks into a folder: which, in which format, and what that format cannot hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Footer, Label, Select

from cuecard.core.formats.registry import FORMATS
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.lab.exporting import ExportPreview, ExportReport, export_tasks, preview_export
from cuecard.tui.actions import Key, keys
from cuecard.tui.base import CuecardDialog, guarded
from cuecard.tui.state.paths import path_of
from cuecard.tui.state.task_list import TaskLine
from cuecard.tui.state.transfer import entries_of_export
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.path_input import PathInput

MARKED, SHOWN, HERE, ALL = "marked", "shown", "here", "all"


class ExportDialog(CuecardDialog[ExportReport | None]):
    """Answers with what was written. `groups` are lines by MARKED, SHOWN, HERE and ALL; the first that
    there is is chosen to begin with.
    """

    CSS_PATH = "transfer.tcss"
    BINDINGS = keys(
        Key("export.go", "ctrl+s", "go", N_("Export"), N_("Write these files"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self, groups: dict[str, Sequence[TaskLine]]) -> None:
        super().__init__()
        self._groups = {name: lines for name, lines in groups.items() if lines}
        self._preview: ExportPreview | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Export tasks"))
            with Horizontal(classes="transfer-field"):
                yield Label(_("Tasks"))
                groups = [(Text(self._label(name)), name) for name in self._groups]
                yield Select(groups, allow_blank=False, compact=True, id="which")
            with Horizontal(classes="transfer-field"):
                yield Label(_("Format"))
                formats = [(Text(_(found.title)), name) for name, found in FORMATS.items()]
                yield Select(formats, value="cuecard", allow_blank=False, compact=True, id="format")
            with Horizontal(classes="transfer-path"):
                yield Label(_("Into"))
                yield PathInput("export/", folders=True, placeholder=_("a folder"), id="path")
            yield EntryList(id="found")
            with Horizontal(classes="buttons"):
                yield Button(_("Export"), variant="primary", id="go", compact=True)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        self.query_one(PathInput).focus_input()
        self.preview()

    @on(Select.Changed)
    def chosen_changed(self) -> None:
        self.preview()

    @on(PathInput.Submitted)
    @on(Button.Pressed, "#go")
    def go_pressed(self) -> None:
        self.action_go()

    def action_go(self) -> None:
        if not self.query_one(PathInput).value.strip():
            self.notify(_("Please name a folder first."), severity="warning", markup=False)
        elif self._preview is not None and not self._preview.task_ids:
            self.notify(_("None of these tasks fits."), severity="warning", markup=False)
        else:
            self.write()

    @guarded("preview", background=True)
    async def preview(self) -> None:
        """Show what would be written, and what would be left out."""
        self._preview = None
        lines, format_ = self._lines, self._format
        ids = [line.id for line in lines if line.revision]
        found = await self.services.ask(lambda ws: preview_export(ws, ids, format_))
        self._preview = found
        unsaved = len(lines) - len(ids)
        entries = entries_of_export(len(found.task_ids), found.others, unsaved, found.left_out)
        self.query_one("#found", EntryList).load(entries)

    @guarded("write")
    async def write(self) -> None:
        """Write the files, in a thread."""
        lines, format_ = self._lines, self._format
        folder = path_of(self.query_one(PathInput).value)
        ids = [line.id for line in lines if line.revision]

        report = await self.services.ask(
            lambda ws: export_tasks(
                ws,
                folder,
                format=format_,
                task_ids=preview_export(ws, ids, format_, look=False).task_ids,
            )
        )
        self.dismiss(report)

    @property
    def _lines(self) -> Sequence[TaskLine]:
        which = cast("Select[str]", self.query_one("#which", Select)).value
        return self._groups[str(which)]

    @property
    def _format(self) -> str:
        return str(cast("Select[str]", self.query_one("#format", Select)).value)

    def _label(self, name: str) -> str:
        lines = self._groups[name]
        labels = {
            MARKED: _("the marked ones ({n})"),
            SHOWN: _("those in the list ({n})"),
            ALL: _("all in use ({n})"),
        }
        if name == HERE:
            return _("only {task}").format(task=one_line(lines[0].id, 40))
        return labels[name].format(n=len(lines))
