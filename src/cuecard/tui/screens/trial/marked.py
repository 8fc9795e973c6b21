"""What is done to the marked trials of any list of trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field
from textual.widget import Widget

from cuecard.core.formats.base import EXPORTS
from cuecard.core.i18n import N_, _, joined, plural
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.tui.app import guarded
from cuecard.tui.kit.bulk import ask_tags, to_each
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.list_screens import LiveScreen
from cuecard.tui.kit.lists import ListView
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.paths import path_of

if TYPE_CHECKING:
    from cuecard.core.evaluation.run_exports import RunExport
    from cuecard.store.workspace import Workspace

_MOST = 100_000
"""Items of one trial that are labelled in one go."""


class MarkedTrials(Widget):
    """A list of trials, of which the marked ones, or the one under the cursor, are tagged, named, labelled, exported and
    held against each other.
    """

    @property
    def trial_rows(self) -> ListView[Any]:
        """The list; each row has a `trial`."""
        return cast("ListView[Any]", self.query_one(ListView))

    @property
    def _around(self) -> LiveScreen:
        return cast("LiveScreen", self.screen)

    @property
    def _chosen(self) -> list[TrialRecord]:
        return [row.trial for row in self.trial_rows.chosen]

    def action_pair(self) -> None:
        from cuecard.tui.screens.trial.pair import show_pair, trials_to_pair

        show_pair(
            self._around, trials_to_pair(self._chosen, [row.trial for row in self.trial_rows.rows])
        )

    @guarded("tags")
    async def action_tags(self) -> None:
        rows = self.trial_rows.chosen
        if await ask_tags(
            self._around, "trial", rows, lambda row: row.trial.uid, lambda row: row.trial.title
        ):
            self._around.load()

    @guarded("tags")
    async def action_name(self) -> None:
        """Ask for a name of the trial under the cursor."""
        from cuecard.tui.screens.dialogs import AskLine

        screen, row = self._around, self.trial_rows.row
        if row is None:
            return
        uid, person = row.trial.uid, screen.person
        before = await screen.services.ask(lambda ws: ws.tags.name_of_trial(uid))
        told = _("Everybody sees it in lists of trials. Empty: the trial has no name.")
        dialog = AskLine(
            _("Name of the trial"), told, button=_("Save"), value=before, required=False
        )  # fmt: skip
        name = await screen.app.push_screen_wait(dialog)
        if name is not None and name.strip() != before:
            await to_each(
                screen,
                [row],
                lambda row: row.trial.title,
                lambda ws, _row: ws.tags.name_trial(uid, person, name.strip()),
                lambda _n: _("Its name was changed."),
                lambda ws, _row: ws.tags.name_trial(uid, person, before),
            )
            screen.load()

    @guarded("label")
    async def action_label(self) -> None:
        """Open what this person has not labelled of these trials, blind."""
        from cuecard.annotate.labelling.views import Target
        from cuecard.tui.screens.labelling.screen import LabelScreen

        screen, trials, person = self._around, self._chosen, self._around.person
        found = await screen.services.ask(
            lambda ws: [
                v for t in trials for v in ws.verdicts.queue(person, trial_id=t.id, limit=_MOST)
            ]
        )
        if not found:
            screen.cue_app.tell(_("Nothing is left for you to label in what is chosen."))
            return
        targets = [Target(trial_id=v.trial_id, item=v.item, verdict_id=v.verdict_id) for v in found]
        name = plural("{n} trial", "{n} trials", len(trials))
        screen.app.push_screen(LabelScreen(trials[0].run_id, name, targets=targets))

    @guarded("export")
    async def action_export(self) -> None:
        """Ask for a folder and a format, and write those of these trials that have ended."""
        report = await self.app.push_screen_wait(TrialExportDialog(self._chosen))
        if report is None:
            return
        told = [_("{what} written to {folder}.").format(what=plural("{n} trial", "{n} trials", report.trials), folder=report.folder)]  # fmt: skip
        told += [
            _("Left out: {what} ({n}).").format(what=_(what), n=n)
            for what, n in sorted(report.left_out.items())
        ]
        self._around.cue_app.tell(joined(told), title=_("Exported"))


class _Export(Frozen):
    path: Annotated[str, Field(title=N_("Into"), min_length=1), Row("path")] = "trials"
    format: Annotated[str, Field(title=N_("Format")), Row(remember=True)] = "jsonl"


class TrialExportDialog(AnswerDialog[_Export, "RunExport"]):
    """Answers with what was written. What the person is still to label blind is left out."""

    REMEMBERS = "export trials"
    BEGINS_AT = "path"

    def __init__(self, trials: Sequence[TrialRecord]) -> None:
        self._trials = tuple(trials)
        super().__init__(
            plural("Export {n} trial", "Export {n} trials", len(trials)),
            _Export(),
            ask=_("Into a folder that is new or empty. Trials of which you are still to label something are left out."),
            button=_("Export"),
            options={"format": [(name, name) for name in EXPORTS]},
        )  # fmt: skip

    async def answer(self, model: _Export) -> RunExport:
        from cuecard.core.evaluation.run_exports import export_runs
        from cuecard.store.workspace import Sight

        person, trials = self.person, self._trials
        folder = path_of(model.path)

        def write(ws: Workspace) -> RunExport:
            runs = list(dict.fromkeys(trial.run_id for trial in trials))
            only = {trial.id for trial in trials}
            return export_runs(ws, runs, folder, model.format, only=only, sight=Sight(ws, person))

        return await self.services.ask(write)
