"""What is done to the marked trials of any list of trials: they are labelled, exported, and one is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cuecard.core.formats.base import EXPORTS
from cuecard.core.i18n import N_, _, joined, plural
from cuecard.core.records import TrialRecord
from cuecard.core.tasks.base import Frozen
from cuecard.tui.app import CuecardScreen
from cuecard.tui.kit.forms import AnswerDialog
from cuecard.tui.kit.rows import Row
from cuecard.tui.present.paths import path_of

if TYPE_CHECKING:
    from cuecard.core.evaluation.run_exports import RunExport
    from cuecard.store.workspace import Workspace

_MOST = 100_000
"""Items of one trial that are labelled in one go."""


async def name_trial(screen: CuecardScreen[Any], trial: TrialRecord) -> bool:
    """Ask for a name of this trial; gives whether it has another one from now on. Raises `CuecardError`."""
    from cuecard.tui.screens.dialogs import AskLine

    before = await screen.services.ask(lambda ws: ws.tags.name_of_trial(trial.uid))
    told = _("Everybody sees it in lists of trials. Empty: the trial has no name.")
    dialog = AskLine(
        _("Name of the trial"), told, button=_("Save"), value=before, required=False
    )  # fmt: skip
    name, person = await screen.app.push_screen_wait(dialog), screen.person
    if name is None or name.strip() == before:
        return False
    await screen.services.ask(lambda ws: ws.tags.name_trial(trial.uid, person, name.strip()))
    return True


async def label_trials(screen: CuecardScreen[Any], trials: Sequence[TrialRecord]) -> None:
    """Open what this person has not labelled of these trials, blind. Raises `CuecardError`."""
    from cuecard.annotate.labelling.views import Target
    from cuecard.tui.screens.labelling.screen import LabelScreen

    person = screen.person
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


async def export_trials(screen: CuecardScreen[Any], trials: Sequence[TrialRecord]) -> None:
    """Ask for a folder and a format, and write those of these trials that have ended. Raises `CuecardError`."""
    report = await screen.app.push_screen_wait(TrialExportDialog(trials))
    if report is None:
        return
    told = [_("{what} written to {folder}.").format(what=plural("{n} trial", "{n} trials", report.trials), folder=report.folder)]  # fmt: skip
    told += [
        _("Left out: {what} ({n}).").format(what=_(what), n=n)
        for what, n in sorted(report.left_out.items())
    ]
    screen.cue_app.tell(joined(told), title=_("Exported"))


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
