"""Tasks in and out: importing from a path after a preview, exporting into a folder in a chosen format, one's work as a
bundle, and merging others' bundles.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol

from pydantic import Field, field_validator
from textual import on
from textual.widgets import Button

from cuecard.annotate.sharing.bundle import (
    WrittenBundle,
    packing_line,
    preview_bundle,
    write_bundle,
)
from cuecard.annotate.sharing.reading import BundleFile, read_bundles
from cuecard.annotate.task_files import (
    AUTO,
    ExportPreview,
    ExportReport,
    ImportReport,
    export_tasks,
    import_path,
    preview_export,
)
from cuecard.core.errors import FileProblems
from cuecard.core.formats.base import FORMATS, detect
from cuecard.core.i18n import N_, _, ngettext
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.store.bundle_records import MergeReport
from cuecard.tui.actions import Key, Means, keys
from cuecard.tui.app import CuecardScreen
from cuecard.tui.kit.forms import AnswerDialog, FormPane
from cuecard.tui.kit.rows import Row
from cuecard.tui.present import files as present
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.paths import path_of


class _Import(Frozen):
    path: Annotated[
        str,
        Field(title=N_("From"), description=N_("a file or a folder"), min_length=1),
        Row("path"),
    ] = ""
    format: Annotated[str, Field(title=N_("Format"))] = AUTO


class ImportDialog(AnswerDialog[_Import, ImportReport]):
    """Looks at the files, then imports them. Answers with the report of what was imported, None when nothing was."""

    DEFAULT_CLASSES = "-large"
    BINDINGS = keys(
        Key("import.close", Means.UP_ONE, "close", N_("Close"), N_("Stop what goes on, or close")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(
            _("Import tasks"),
            _Import(),
            ask=_introduction(),
            button=_("Look"),
            options={
                "format": [
                    (_("told from the files"), AUTO),
                    *((_(found.title), name) for name, found in FORMATS.items()),
                ]
            },
        )
        self._next: Literal["look", "import", "close"] = "look"
        self._done: ImportReport | None = None
        self._stop: threading.Event | None = None

    @on(FormPane.Changed)
    def other_files(self) -> None:
        self._next = "look"
        self.call_it(_("Look"))

    def action_close(self) -> None:
        if self._stop is None:
            self.dismiss(self._done)
        else:
            self._stop.set()
            self.say(_("Stopping after the file at hand…"))

    async def summary(self, model: _Import) -> str:
        """Which format the path is in."""
        name = await asyncio.to_thread(detect, path_of(model.path))
        return _("Format: {title}").format(title=_(FORMATS[name].title)) if name else ""

    async def answer(self, model: _Import) -> ImportReport | None:
        """Look at the files, or import what was looked at; problems stay on the screen until they are read."""
        if self._next == "close":
            return self._done
        self.workers.cancel_group(self, "summary")
        dry, person, stop = self._next == "look", self.person, threading.Event()

        def progress(done: int, of: int) -> bool:
            if not stop.is_set() and done % 20 == 0:
                text = ngettext("{done} of {n} file", "{done} of {n} files", of)
                self.app.call_from_thread(self.say, text.format(done=done, n=of))
            return not stop.is_set()

        self._stop = stop
        self.say(_("Reading…"))
        button = self.query_one("#accept", Button)
        button.display = False
        try:
            report = await self.services.ask(
                lambda ws: import_path(
                    ws,
                    path_of(model.path),
                    format=model.format,
                    by=person,
                    dry=dry,
                    progress=progress,
                )
            )
        except BaseException:
            self.say("")
            raise
        finally:
            stop.set()
            self._stop = None
            button.display = True
        if not dry:
            self._done = report
            if not report.problems and not report.stopped:
                return report
        self._tell(report)
        return None

    def _tell(self, report: ImportReport) -> None:
        count = report.count("new") + report.count("revised")
        head = _("Would be: {counts}") if report.dry else _("Imported: {counts}")
        text = head.format(counts=present.counts_of(report))
        if report.stopped:
            text += " · " + _("stopped after {n} files").format(n=report.files)
        elif report.dry and not count:
            text += " · " + _("nothing to import")
        self.say(f"{report.format} · {text}", present.entries_of_report(report))
        self.query_one("#found").focus()
        if not report.dry:
            self._next = "close"
            self.call_it(_("Close"))
        elif count:
            self._next = "import"
            self.call_it(ngettext("Import {n} task", "Import {n} tasks", count).format(n=count))


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


class Exportable(Protocol):
    """A task in a list. `revision`: its newest, 0 for one that was never saved."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def revision(self) -> int: ...


async def export_tasks_of(
    screen: CuecardScreen[Any], groups: Mapping[str, Sequence[Exportable]]
) -> None:
    """Ask which of `groups` to write, and where; write them and tell. Raises `CuecardError`."""
    report = await screen.app.push_screen_wait(ExportDialog(groups))
    if report is not None:
        written = len(report.files)
        text = ngettext("{n} file written to {folder}.", "{n} files written to {folder}.", written)
        folder = min(report.files, key=lambda file: len(file.parts)).parent
        screen.cue_app.tell(text.format(n=written, folder=folder), title=_("Exported"))


class ExportDialog(AnswerDialog[_Export, ExportReport]):
    """Answers with what was written. `groups` are lines by MARKED, SHOWN, HERE and ALL; the first that
    there is is chosen to begin with.
    """

    DEFAULT_CLASSES = "-large"
    REMEMBERS = "export"
    BEGINS_AT = "path"

    def __init__(self, groups: Mapping[str, Sequence[Exportable]]) -> None:
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
        return present.entries_of_export(len(found.task_ids), found.others, unsaved, found.left_out)

    async def answer(self, model: _Export) -> ExportReport:
        ids = [line.id for line in self._groups[model.which] if line.revision]
        canary = (await self.services.config()).contamination.canary
        return await self.services.ask(
            lambda ws: export_tasks(
                ws,
                path_of(model.path),
                format=model.format,
                task_ids=preview_export(ws, ids, model.format, load=False).task_ids,
                canary=canary,
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


class _Pack(Frozen):
    path: Annotated[
        str, Field(title=N_("Into"), description=N_("your name and the day")), Row("path")
    ] = ""
    since: Annotated[datetime | None, Field(title=N_("Since"))] = None
    sealed: Annotated[bool, Field(title=N_("Sealed: no text stands in the file as it is"))] = False

    @field_validator("since", mode="before")
    @classmethod
    def _day(cls, typed: object) -> object:
        try:
            return present.since_of(typed) if isinstance(typed, str) else typed
        except ValueError:
            said = _("Please write the day as 2026-01-31, or leave it empty.")
            raise ValueError(said) from None


class BundleDialog(AnswerDialog[_Pack, WrittenBundle]):
    """Answers with the bundle that was written."""

    DEFAULT_CLASSES = "-large"

    def __init__(self, person: str) -> None:
        today = datetime.now().astimezone().strftime("%Y-%m-%d")
        super().__init__(
            _("Pack what {person} did").format(person=one_line(person, 40)),
            _Pack(),
            button=_("Pack"),
            tips={"since": _("everything; or a day, such as {day}").format(day=today)},
        )

    async def summary(self, model: _Pack) -> list[Entry]:
        person = self.person
        preview = await self.services.ask(lambda ws: preview_bundle(ws, person, model.since))
        return present.entries_of_bundle(preview)

    async def answer(self, model: _Pack) -> WrittenBundle:
        person, since = self.person, model.since
        path = path_of(model.path) if model.path else None
        canary = (await self.services.config()).contamination.canary

        def told(records: int) -> None:
            if records and records % 1000 == 0 and self.is_attached:
                self.app.call_from_thread(self.say, packing_line(records))

        return await self.services.ask(
            lambda ws: write_bundle(
                ws,
                person,
                path / preview_bundle(ws, person, since).name if path and path.is_dir() else path,
                since=since,
                canary=canary,
                seal=model.sealed,
                told=told,
            )
        )


class _Packs(Frozen):
    path: Annotated[
        str,
        Field(title=N_("From"), description=N_("a pack, or a folder with packs"), min_length=1),
        Row("path"),
    ] = ""


class MergeDialog(AnswerDialog[_Packs, MergeReport]):
    """Shows what merging would do, then does it. Answers with the report of what was merged."""

    DEFAULT_CLASSES = "-large"
    BINDINGS = keys(
        Key("merge_packs.close", Means.UP_ONE, "close", N_("Close"), N_("Close; what was merged stays merged")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(_("Merge packs"), _Packs(), ask=_bundle_introduction(), button=_("Look"))
        self._bundles: list[BundleFile] = []
        self._done: MergeReport | None = None
        self._closes = False

    @on(FormPane.Changed)
    def other_path(self) -> None:
        self._bundles, self._closes = [], False
        self.call_it(_("Look"))

    def action_close(self) -> None:
        self.dismiss(self._done)

    async def answer(self, model: _Packs) -> MergeReport | None:
        """Look at the packs, then take what was looked at; clashes stay on the screen until they are read."""
        person, bundles = self.person, self._bundles
        if self._closes:
            return self._done
        if bundles:
            done = await self.services.ask(lambda ws: ws.exchange.import_(bundles, by=person))
            self._done = done
            if not done.clashes and not done.left_out:
                return done
            self._tell(_("Merged: {counts}"), bundles, done)
            self._closes = True
            self.call_it(_("Close"))
            return None
        self.say(_("Reading…"), ())
        try:
            read = await asyncio.to_thread(read_bundles, [path_of(model.path)])
            report = await self.services.ask(
                lambda ws: ws.exchange.import_(read, by=person, dry=True)
            )
        except FileProblems as error:
            last = _("Nothing was merged. Ask for a new file, or leave this one out.")
            told = present.entries_of_problems(error.problems, last)
            self.say(_("These packs cannot be merged."), told)
            return None
        self._bundles = read
        self._tell(_("Would be: {counts}"), read, report)
        self.call_it(_("Merge"))
        return None

    def _tell(self, text: str, bundles: list[BundleFile], report: MergeReport) -> None:
        self.say(
            text.format(counts=present.summary_of(report)),
            present.entries_of_merge(bundles, report),
        )


def _bundle_introduction() -> str:
    return _(
        "Nothing is merged before you have seen what would be, and merging overwrites nothing: what does"
        " not go together stays side by side, and is listed."
    )
