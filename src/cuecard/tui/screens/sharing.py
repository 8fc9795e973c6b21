"""Dialogs for exporting one's work as a bundle and merging others' bundles."""

import asyncio
from datetime import datetime
from typing import Annotated

from pydantic import Field, field_validator
from textual import on

from cuecard.annotate.sharing.bundle import WrittenBundle, preview_bundle, write_bundle
from cuecard.annotate.sharing.reading import BundleFile, read_bundles
from cuecard.core.errors import FileProblems
from cuecard.core.i18n import N_, _
from cuecard.core.tasks.base import Frozen
from cuecard.core.text import one_line
from cuecard.store.bundle_records import MergeReport
from cuecard.tui.actions import Key, keys
from cuecard.tui.kit.forms import AnswerDialog, FormPane
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.entries import Entry
from cuecard.tui.present.files import (
    entries_of_bundle,
    entries_of_merge,
    entries_of_problems,
    path_of,
    since_of,
    summary_of,
)


class _Pack(Frozen):
    path: Annotated[
        str, Field(title=N_("Into"), description=N_("your name and the day")), Row("path")
    ] = ""
    since: Annotated[datetime | None, Field(title=N_("Since"))] = None

    @field_validator("since", mode="before")
    @classmethod
    def _day(cls, typed: object) -> object:
        try:
            return since_of(typed) if isinstance(typed, str) else typed
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
        return entries_of_bundle(preview)

    async def answer(self, model: _Pack) -> WrittenBundle:
        person, since = self.person, model.since
        path = path_of(model.path) if model.path else None
        return await self.services.ask(
            lambda ws: write_bundle(
                ws,
                person,
                path / preview_bundle(ws, person, since).name if path and path.is_dir() else path,
                since=since,
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
        Key("merge_packs.close", "escape", "close", N_("Close"), N_("Close; what was merged stays merged")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__(_("Merge packs"), _Packs(), ask=_introduction(), button=_("Look"))
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
            self.say(_("These packs cannot be merged."), entries_of_problems(error.problems))
            return None
        self._bundles = read
        self._tell(_("Would be: {counts}"), read, report)
        self.call_it(_("Merge"))
        return None

    def _tell(self, text: str, bundles: list[BundleFile], report: MergeReport) -> None:
        self.say(text.format(counts=summary_of(report)), entries_of_merge(bundles, report))


def _introduction() -> str:
    return _(
        "Nothing is merged before you have seen what would be, and merging overwrites nothing: what does"
        " not go together stays side by side, and is listed."
    )
