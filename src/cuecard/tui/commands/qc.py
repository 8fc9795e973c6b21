"""`cuecard qc`: run stages of quality control over tasks of the workspace."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _, ngettext
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import note

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cuecard.annotate.quality.decision_table import StageName
    from cuecard.annotate.quality.pipeline import Planned
    from cuecard.core.config import Config
    from cuecard.store.workspace import Workspace


class StageChoice(StrEnum):
    """The stages of `annotate.quality.decision_table`."""

    STRUCTURE = "structure"
    CLOSED_BOOK = "closed_book"
    OPEN_BOOK = "open_book"
    AMBIGUITY = "ambiguity"
    LAWS = "laws"
    DIFFICULTY = "difficulty"
    AGREEMENT = "agreement"
    VERDICT = "verdict"


def qc(
    context: typer.Context,
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="TASK", help=_("Ids of tasks in the workspace"))
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help=_("All tasks of the workspace that are in use"))
    ] = False,
    stages: Annotated[
        list[StageChoice] | None,
        typer.Option("--stage", help=_("Only this stage; may be repeated")),
    ] = None,
    known: Annotated[
        bool, typer.Option("--known", help=_("Only show what is known; play nothing"))
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help=_("Call models without asking"))] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0.000001, help=_("Call models without asking, until they have cost so much")
        ),
    ] = None,
    rules: Annotated[
        bool, typer.Option("--rules", help=_("Print the decision table instead"))
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.quality.decision_table import STAGES
    from cuecard.annotate.quality.pipeline import plan_stages, qc_report
    from cuecard.tui.commands.qc_output import reports_json, show_reports, show_rules

    if rules:
        show_rules(json=json)
        return
    if bool(tasks) == everything:
        raise typer.BadParameter(_("give ids of tasks, or --all"), param_hint="TASK")
    chosen = {choice.value for choice in stages} if stages else set(STAGES)
    wanted: tuple[StageName, ...] = tuple(stage for stage in STAGES if stage in chosen)
    ours = Context.of(context)
    config = ours.config()
    with ours.workspace() as workspace:
        person = ours.person(workspace)
        ids = tuple(dict.fromkeys(tasks or (line.id for line in workspace.tasks.summaries())))
        stopped = ""
        if not known:
            planned = plan_stages(workspace, ids, wanted, config=config, by=person)
            if not planned.free and not yes and budget is None:
                _ask(planned)
            work = _Work(workspace, ids, wanted, config, person, budget)
            stopped = work.perform()
        reports = [qc_report(workspace, task_id, person, config) for task_id in ids]
    if json:
        reports_json(reports, wanted, stopped)
    else:
        show_reports(reports, wanted, config.currency)
    if stopped:
        note(_("Not everything was played: {why}").format(why=stopped))
    flagged = any(report.stage(name).state == "flagged" for report in reports for name in wanted)
    raise typer.Exit(1 if flagged or stopped else 0)


def _ask(planned: Planned) -> None:
    """Ask before models are called. Wrong usage if nobody can answer."""
    text = ngettext(
        "{n} trial is to be played, with {models}.",
        "{n} trials are to be played, with {models}.",
        planned.trials,
    ).format(models=", ".join(planned.models), n=planned.trials)
    if not sys.stdin.isatty():
        raise typer.BadParameter(
            text + " " + _("Say so with --yes or --budget; --known shows what is known."),
            param_hint="--yes",
        )
    if not typer.confirm(text + " " + _("Go on?"), err=True):
        raise typer.Exit(0)


@dataclass(frozen=True)
class _Work:
    """What is to be played."""

    workspace: Workspace
    tasks: Sequence[str]
    stages: Collection[StageName]
    config: Config
    person: str
    budget: float | None

    def perform(self) -> str:
        """Play it; returns why it stopped before its end, "" if it did not."""
        try:
            return asyncio.run(self._play())
        except (asyncio.CancelledError, KeyboardInterrupt):
            return _("it was interrupted")

    async def _play(self) -> str:
        from cuecard.annotate.quality.pipeline import run_stages
        from cuecard.core.engine.run import RunControl
        from cuecard.tui.commands.qc_output import Watch
        from cuecard.tui.commands.run_output import stopping

        control = RunControl()
        with stopping(control), Watch(self.config.currency) as watch:
            outcomes = await run_stages(
                self.workspace,
                self.tasks,
                self.stages,
                config=self.config,
                by=self.person,
                control=control,
                budget=self.budget,
                on_probe=watch.begins,
                on_event=watch.told,
            )
        if control.cancelled:
            return _("it was interrupted")
        halts = [outcome.halt for outcome in outcomes if outcome.halt]
        return str(control.halt) if control.halt else next(iter(halts), "")
