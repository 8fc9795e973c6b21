"""Tasks in and out: importing from a path after a preview, and exporting into a folder in a chosen format."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Annotated, cast

from pydantic import Field
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Label, Select, Static

from cuecard.annotate.task_files import (
    AUTO,
    ExportPreview,
    ExportReport,
    ImportReport,
    export_tasks,
    import_path,
    preview_export,
)
from cuecard.core.formats.registry import FORMATS, detect
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.files import counts_of, entries_of_export, entries_of_report, path_of
from cuecard.tui.present.tasks import TaskLine
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import PathInput


class ImportDialog(CuecardDialog[ImportReport | None]):
    """Answers with the report of what was imported, None when nothing was."""

    CSS_PATH = "transfer.tcss"
    BINDINGS = keys(
        Key("import.go", "ctrl+s", "go", N_("Go on"), N_("Look at the files; then import them"), shown_as="^s", priority=True),
        Key("import.close", "escape", "close", N_("Close"), N_("Stop what goes on, or close")),
    )  # fmt: skip

    def __init__(self, start: str = "") -> None:
        super().__init__()
        self._start = start
        self._looked: tuple[str, str] | None = None
        self._preview: ImportReport | None = None
        self._done: ImportReport | None = None
        self._stop: threading.Event | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Import tasks"))
            with Horizontal(classes="transfer-path"):
                yield Label(_("From"))
                yield PathInput(self._start, placeholder=_("a file or a folder"), id="path")
            with Horizontal(classes="transfer-field"):
                yield Label(_("Format"))
                formats = [(Text(_(found.title)), name) for name, found in FORMATS.items()]
                choices = [(Text(_("told from the files")), AUTO), *formats]
                yield Select(choices, value=AUTO, allow_blank=False, compact=True, id="format")
            yield Static("", id="status", markup=False)
            yield EntryList(id="found")
            with Horizontal(classes="buttons"):
                yield Button(_("Look"), variant="primary", id="go", compact=True)
                yield Button(_("Close"), id="close", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(PathInput).focus_input()
        self._say(_introduction())

    @property
    def _chosen(self) -> tuple[str, str]:
        format_ = cast("Select[str]", self.query_one("#format", Select)).value
        return self.query_one(PathInput).value.strip(), str(format_)

    @property
    def _ready(self) -> bool:
        """Whether what would happen is shown, and something would."""
        preview = self._preview if self._looked == self._chosen else None
        return preview is not None and preview.count("new") + preview.count("revised") > 0

    @on(PathInput.Changed)
    def path_changed(self, event: PathInput.Changed) -> None:
        event.stop()
        self._recognise()
        self._show_button()

    @on(PathInput.Submitted)
    def path_submitted(self, event: PathInput.Submitted) -> None:
        event.stop()
        self.action_go()

    @on(Select.Changed, "#format")
    def format_changed(self) -> None:
        self._show_button()

    @on(Button.Pressed, "#go")
    def go_pressed(self) -> None:
        self.action_go()

    @on(Button.Pressed, "#close")
    def close_pressed(self) -> None:
        self.action_close()

    def action_go(self) -> None:
        if self._stop is not None:
            return
        if self._done is not None and self._looked == self._chosen:
            self.action_close()
        elif not self._chosen[0]:
            self.notify(_("Please write a path first."), severity="warning", markup=False)
        else:
            self.run_import(dry=not self._ready)

    def action_close(self) -> None:
        if self._stop is not None:
            self._stop.set()
            self._say(_("Stopping after the file at hand…"))
        else:
            self.dismiss(self._done)

    @guarded("recognise", background=True)
    async def _recognise(self) -> None:
        """Say which format the path is in, once it is a path."""
        await asyncio.sleep(0.2)
        path = path_of(self._chosen[0])
        name = await asyncio.to_thread(detect, path) if self._chosen[0] else None
        if self._stop is None and self._looked != self._chosen:
            text = _("Format: {title}").format(title=_(FORMATS[name].title)) if name else ""
            self._say(text or _introduction())

    @guarded("import")
    async def run_import(self, *, dry: bool) -> None:
        """Look at the files, or import them; Escape stops it after the file at hand."""
        chosen = self._chosen
        person, stop = self.person, threading.Event()
        path, format_ = path_of(chosen[0]), chosen[1]

        def progress(done: int, of: int) -> bool:
            if not stop.is_set() and done % 20 == 0:
                self.app.call_from_thread(self._progress, done, of)
            return not stop.is_set()

        self._stop = stop
        self._say(_("Reading…"))
        self._show_button()
        try:
            report = await self.services.ask(
                lambda ws: import_path(
                    ws, path, format=format_, by=person, dry=dry, progress=progress
                )
            )
        except BaseException:
            self._say("")
            raise
        finally:
            stop.set()
            self._stop = None
            self._show_button()
        self._looked = chosen
        self._preview = report if dry else None
        if not dry:
            self._done = report
            if not report.problems and not report.stopped:
                self.dismiss(report)
                return
        self._show(report)

    def _show(self, report: ImportReport) -> None:
        head = _("Would be: {counts}") if report.dry else _("Imported: {counts}")
        text = head.format(counts=counts_of(report))
        if report.stopped:
            text += " · " + _("stopped after {n} files").format(n=report.files)
        elif report.dry and not self._ready:
            text += " · " + _("nothing to import")
        self._say(f"{report.format}. {text}")
        entries = self.query_one("#found", EntryList)
        entries.load(entries_of_report(report))
        self._show_button()
        if entries.entries:
            entries.focus()

    def _progress(self, done: int, of: int) -> None:
        text = ngettext("{done} of {n} file", "{done} of {n} files", of)
        self._say(text.format(done=done, n=of))

    def _say(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#status", Static).update(text)

    def _show_button(self) -> None:
        go, close = self.query_one("#go", Button), self.query_one("#close", Button)
        preview = self._preview
        if self._ready and preview is not None:
            count = preview.count("new") + preview.count("revised")
            go.label = ngettext("Import {n} task", "Import {n} tasks", count).format(n=count)
        else:
            go.label = _("Look")
        go.display = self._stop is None and not (self._done and self._looked == self._chosen)
        close.label = _("Stop") if self._stop is not None else _("Close")


def _introduction() -> str:
    return _(
        "Nothing is saved before you have seen what would be. A task that is here already gets a new"
        " revision if it differs; drafts stay as they are."
    )


MARKED, SHOWN, HERE, ALL = "marked", "shown", "here", "all"


class _Export(Frozen):
    which: Annotated[str, Field(title=N_("Tasks"))] = ALL
    format: Annotated[str, Field(title=N_("Format")), Row(remember=True)] = "cuecard"
    path: Annotated[
        str, Field(title=N_("Into"), description=N_("a folder"), min_length=1), Row("folder")
    ] = "export/"


class ExportDialog(AnswerDialog[_Export, ExportReport]):
    """Answers with what was written. `groups` are lines by MARKED, SHOWN, HERE and ALL; the first that
    there is is chosen to begin with.
    """

    DEFAULT_CLASSES = "-large"
    REMEMBERS = "export"
    BEGINS_AT = "path"

    def __init__(self, groups: dict[str, Sequence[TaskLine]]) -> None:
        self._groups = {name: lines for name, lines in groups.items() if lines}
        self._preview: ExportPreview | None = None
        super().__init__(
            _("Export tasks"),
            _Export(which=next(iter(self._groups))),
            button=_("Export"),
            options={
                "which": [(self._label(name), name) for name in self._groups],
                "format": [(_(found.title), name) for name, found in FORMATS.items()],
            },
        )

    def problem(self, model: _Export) -> str:
        nothing = self._preview is not None and not self._preview.task_ids
        return _("None of these tasks fits.") if nothing else ""

    async def summary(self, model: _Export) -> list[Entry]:
        """What would be written, and what would be left out."""
        self._preview = None
        lines = self._groups[model.which]
        ids = [line.id for line in lines if line.revision]
        self._preview = found = await self.services.ask(
            lambda ws: preview_export(ws, ids, model.format)
        )
        unsaved = len(lines) - len(ids)
        return entries_of_export(len(found.task_ids), found.others, unsaved, found.left_out)

    async def answer(self, model: _Export) -> ExportReport:
        ids = [line.id for line in self._groups[model.which] if line.revision]
        return await self.services.ask(
            lambda ws: export_tasks(
                ws,
                path_of(model.path),
                format=model.format,
                task_ids=preview_export(ws, ids, model.format, load=False).task_ids,
            )
        )

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
