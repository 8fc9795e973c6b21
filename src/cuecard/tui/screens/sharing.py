"""Dialogs for exporting one's work as a bundle and merging others' bundles."""

import asyncio
from datetime import datetime

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Label, Static

from cuecard.annotate.sharing.reading import BundleFile, read_bundles
from cuecard.annotate.sharing.writing import Preview, WrittenBundle, preview_bundle, write_bundle
from cuecard.core.errors import FileProblems
from cuecard.core.i18n import N_, _
from cuecard.core.text import one_line
from cuecard.store.bundle_records import MergeReport
from cuecard.tui.actions import Key, KeyBar, keys
from cuecard.tui.app import CuecardDialog, guarded
from cuecard.tui.present.files import (
    entries_of_bundle,
    entries_of_merge,
    entries_of_problems,
    path_of,
    since_of,
    summary_of,
)
from cuecard.tui.widgets.entry_list import EntryList
from cuecard.tui.widgets.inputs import LineEditor, PathInput


class BundleDialog(CuecardDialog[WrittenBundle | None]):
    """Answers with the bundle that was written."""

    CSS_PATH = "sharing.tcss"
    BINDINGS = keys(
        Key("pack.go", "ctrl+s", "go", N_("Pack"), N_("Write the pack"), shown_as="^s", priority=True),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._preview: Preview | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(
                _("Pack what {person} did").format(person=one_line(self.person, 40))
            )
            with Horizontal(classes="transfer-path"):
                yield Label(_("Into"))
                yield PathInput("", placeholder=_("your name and the day"), id="path")
            with Horizontal(classes="transfer-field"):
                yield Label(_("Since"))
                yield LineEditor(
                    "",
                    placeholder=_("everything; or a day, such as {day}").format(
                        day=datetime.now().astimezone().strftime("%Y-%m-%d")
                    ),
                    compact=True,
                    id="since",
                )
            yield EntryList(id="found")
            with Horizontal(classes="buttons"):
                yield Button(_("Pack"), variant="primary", id="go", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(PathInput).focus_input()
        self.preview()

    @on(Input.Changed, "#since")
    def since_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.preview()

    @on(PathInput.Submitted)
    @on(Input.Submitted, "#since")
    @on(Button.Pressed, "#go")
    def go_pressed(self) -> None:
        self.action_go()

    def action_go(self) -> None:
        try:
            since = since_of(self.query_one("#since", Input).value)
        except ValueError:
            text = _("Please write the day as 2026-01-31, or leave it empty.")
            self.notify(text, severity="warning", markup=False)
            return
        self.write(since)

    @guarded("preview", background=True)
    async def preview(self) -> None:
        """Say what the bundle would hold, once what is typed is a day."""
        await asyncio.sleep(0.2 if self._preview else 0)
        try:
            since = since_of(self.query_one("#since", Input).value)
        except ValueError:
            return
        person = self.person
        self._preview = await self.services.ask(lambda ws: preview_bundle(ws, person, since))
        self.query_one("#found", EntryList).load(entries_of_bundle(self._preview))

    @guarded("write")
    async def write(self, since: datetime | None) -> None:
        person, typed = self.person, self.query_one(PathInput).value.strip()
        path = path_of(typed) if typed else None
        written = await self.services.ask(
            lambda ws: write_bundle(
                ws,
                person,
                path / preview_bundle(ws, person, since).name if path and path.is_dir() else path,
                since=since,
            )
        )
        self.dismiss(written)


class MergeDialog(CuecardDialog[MergeReport | None]):
    """Shows what merging would do, then does it. Answers with the report of what was merged."""

    CSS_PATH = "sharing.tcss"
    BINDINGS = keys(
        Key("merge_packs.go", "ctrl+s", "go", N_("Go on"), N_("Look at the packs; then merge them"), shown_as="^s", priority=True),
        Key("merge_packs.close", "escape", "close", N_("Close"), N_("Close; what was merged stays merged")),
    )  # fmt: skip

    def __init__(self, start: str = "") -> None:
        super().__init__()
        self._start = start
        self._looked = ""
        self._bundles: list[BundleFile] = []
        self._busy = False
        self._done: MergeReport | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Text(_("Merge packs"))
            with Horizontal(classes="transfer-path"):
                yield Label(_("From"))
                yield PathInput(
                    self._start, placeholder=_("a pack, or a folder with packs"), id="path"
                )
            yield Static("", id="status", markup=False)
            yield EntryList(id="found")
            with Horizontal(classes="buttons"):
                yield Button(_("Look"), variant="primary", id="go", compact=True)
        yield KeyBar()

    def on_mount(self) -> None:
        self.query_one(PathInput).focus_input()
        self._say(_introduction())

    @property
    def _typed(self) -> str:
        return self.query_one(PathInput).value.strip()

    @on(PathInput.Changed)
    def path_changed(self, event: PathInput.Changed) -> None:
        event.stop()
        self._show_button()

    @on(PathInput.Submitted)
    @on(Button.Pressed, "#go")
    def go_pressed(self) -> None:
        self.action_go()

    def action_go(self) -> None:
        if self._busy:
            return
        if not self._typed:
            self.notify(_("Please write a path first."), severity="warning", markup=False)
        elif self._done is not None:
            self.dismiss(self._done)
        elif self._bundles and self._looked == self._typed:
            self.merge()
        else:
            self.load()

    def action_close(self) -> None:
        self.dismiss(self._done)

    @guarded("merge")
    async def load(self) -> None:
        """Read the bundles and say what would happen, or what is wrong with them."""
        typed, person = self._typed, self.person
        self._bundles = []
        self._busy = True
        self._say(_("Reading…"))
        try:
            read = await asyncio.to_thread(read_bundles, [path_of(typed)])
            report = await self.services.ask(
                lambda ws: ws.exchange.import_(read, by=person, dry=True)
            )
        except FileProblems as error:
            self._say(_("These packs cannot be merged."))
            self._list().load(entries_of_problems(error.problems))
            return
        finally:
            self._busy = False
        self._bundles, self._looked = read, typed
        self._say(_("Would be: {counts}").format(counts=summary_of(report)))
        self._list().load(entries_of_merge(read, report))
        self._show_button()

    @guarded("merge")
    async def merge(self) -> None:
        """Take what was looked at; clashes stay on the screen until they are read."""
        bundles, person = self._bundles, self.person
        self._busy = True
        try:
            report = await self.services.ask(lambda ws: ws.exchange.import_(bundles, by=person))
        finally:
            self._busy = False
        self._done = report
        if not report.clashes and not report.left_out:
            self.dismiss(report)
            return
        self._say(_("Merged: {counts}").format(counts=summary_of(report)))
        self._list().load(entries_of_merge(bundles, report))
        self._show_button()

    def _list(self) -> EntryList:
        return self.query_one("#found", EntryList)

    def _say(self, text: str) -> None:
        if self.is_attached:
            self.query_one("#status", Static).update(text)

    def _show_button(self) -> None:
        ready = bool(self._bundles) and self._looked == self._typed
        label = _("Close") if self._done else _("Merge") if ready else _("Look")
        self.query_one("#go", Button).label = label


def _introduction() -> str:
    return _(
        "Nothing is merged before you have seen what would be, and merging overwrites nothing: what does"
        " not go together stays side by side, and is listed."
    )
