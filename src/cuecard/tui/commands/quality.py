"""`cuecard check`, `submit`, `qc` and `datasheet`: whether tasks are right, and how they were made."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import N_, _, headed, listed, plural
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.judging import confirm_calls
from cuecard.tui.commands.output import note, say
from cuecard.tui.commands.verb import STDOUT, Help, Result, verb

if TYPE_CHECKING:
    from cuecard.annotate.quality.decision_table import StageName
    from cuecard.annotate.quality.pipeline import Planned
    from cuecard.annotate.task_files import CheckReport
    from cuecard.core.config import Config


_STAGES = "cuecard.annotate.quality.decision_table:STAGES"


@verb("cuecard check tasks/ --strict", "json")
def check(
    _ours: Context,
    paths: Annotated[Sequence[Path], Help(N_("Task files or folders"), metavar="PATH")],
    *,
    strict: Annotated[bool, N_("Count warnings as errors")] = False,
    everything: Annotated[
        bool, Help(N_("Show silenced findings too, with the reasons"), "--all")
    ] = False,
) -> Result:
    from cuecard.annotate.task_files import check_paths

    report = check_paths(paths)
    found = report.open if strict else report.errors
    empty = not report.tasks and not report.problems
    return Result(
        lambda: _print_check(report, everything=everything, empty=empty),
        lambda: {
            "tasks": report.tasks,
            "errors": len(report.errors),
            "warnings": len(report.warnings),
            "silenced": len(report.silenced),
            "problems": [problem.model_dump(mode="json") for problem in report.problems],
        },
        code=1 if found or empty else 0,
    )


def _print_check(report: CheckReport, *, everything: bool, empty: bool) -> None:
    from cuecard.annotate.lint.codes import Severity

    for problem in report.problems if everything else report.open:
        kind = _("warning") if problem.severity is Severity.WARNING else _("error")
        after = f" — {problem.hint}" if problem.hint else ""
        if problem.silenced:
            kind, after = _("silenced"), f" — {problem.silenced}"
        say(f"{problem} [{kind} {problem.code}]{after}")
    counts = [
        plural("{n} task read", "{n} tasks read", report.tasks),
        plural("{n} error", "{n} errors", len(report.errors)),
        plural("{n} warning", "{n} warnings", len(report.warnings)),
    ]
    if report.silenced:
        counts.append(_("{n} silenced").format(n=len(report.silenced)))
    note(_(", ").join(counts))
    if empty:
        note(_("There are no task files (*.yaml) there."))


@verb('cuecard submit espresso --reason "the map is the only source"', "json")
def submit(
    ours: Context,
    tasks: Annotated[Sequence[str], Help(N_("Ids of tasks"), metavar="TASK")],
    *,
    reason: Annotated[str, N_("Why warnings may stay; recorded with the task")] = "",
) -> Result:
    from cuecard.annotate.review.submitting import NotClean, submit_checked

    protocol = ours.protocol
    done: list[tuple[str, int]] = []
    refused: list[tuple[str, CuecardError]] = []
    for task in dict.fromkeys(tasks):
        try:
            move = submit_checked(ours.workspace, task, ours.reader, protocol, reason)
        except CuecardError as error:
            refused.append((task, error))
        else:
            done.append((task, move.revision))

    def show() -> None:
        for task, error in refused:
            parts = (headed(task, error.title), error.message, error.hint)
            note("\n  ".join("\n".join(filter(None, parts)).splitlines()))
        for task, n in done:
            say(_("{task}: revision {n} is in review.").format(task=task, n=n))

    def told(error: CuecardError) -> list[object]:
        findings = error.findings if isinstance(error, NotClean) else ()
        return [finding.model_dump(mode="json") for finding in findings]

    return Result(
        show,
        lambda: {
            "submitted": [{"task": task, "revision": n} for task, n in done],
            "refused": [
                {"task": task, "why": error.title, "findings": told(error)}
                for task, error in refused
            ],
            "protocol": protocol.stamp,
        },
        code=1 if refused else 0,
    )


@verb("cuecard qc espresso --stage closed_book --budget 2", "json")
def qc(
    ours: Context,
    tasks: Annotated[Sequence[str], Help(N_("Ids of tasks in the workspace"), metavar="TASK")] = (),
    *,
    everything: Annotated[
        bool, Help(N_("All tasks of the workspace that are in use"), "--all")
    ] = False,
    stages: Annotated[
        Sequence[str], Help(N_("Only this stage; may be repeated"), "--stage", one_of=(_STAGES,))
    ] = (),
    known: Annotated[bool, N_("Only show what is known; play nothing")] = False,
    yes: Annotated[bool, N_("Call models without asking")] = False,
    budget: Annotated[
        float | None,
        Help(N_("Call models without asking, until they have cost so much"), min=0.000001),
    ] = None,
    rules: Annotated[bool, N_("Print the decision table instead")] = False,
    workers: Annotated[
        bool, N_("Leave the trials to `cuecard worker` on any machines; needs PostgreSQL")
    ] = False,
) -> Result:
    from cuecard.annotate.quality.decision_table import STAGES
    from cuecard.annotate.quality.pipeline import plan_stages, qc_report
    from cuecard.tui.commands.qc_output import reports_json, rules_json, show_reports, show_rules

    if rules:
        return Result(show_rules, rules_json)
    if bool(tasks) == everything:
        raise typer.BadParameter(_("give ids of tasks, or --all"), param_hint="TASK")
    wanted: tuple[StageName, ...] = tuple(stage for stage in STAGES if stage in (stages or STAGES))
    config = ours.config()
    workspace, person = ours.workspace, ours.person
    if workers:
        workspace.workers.check()
    ids = tuple(dict.fromkeys(tasks or (line.id for line in workspace.tasks.summaries())))
    stopped = ""
    if not known:
        planned = plan_stages(workspace, ids, wanted, config=config, by=person)
        if not planned.free and not yes and budget is None:
            _ask(planned)
        if workers and planned.trials:
            note(_("Start workers with: {command}").format(command=ours.command("worker")))
        stopped = _Work(ours, ids, wanted, config, budget, workers).perform()
    # Who waited for workers waits for the database, too.
    report = partial(ours.outlasting, qc_report) if workers else qc_report
    reports = [report(workspace, task_id, person, config) for task_id in ids]

    def remarks() -> None:
        if stopped:
            note(_("Not everything was played: {why}").format(why=stopped))

    flagged = any(report.stage(name).state == "flagged" for report in reports for name in wanted)
    return Result(
        lambda: show_reports(reports, wanted, config.currency),
        lambda: reports_json(reports, wanted, stopped),
        code=1 if flagged or stopped else 0,
        remarks=remarks,
    )


def _ask(planned: Planned) -> None:
    """Ask before models are called."""
    text = plural(
        "{n} trial is to be played, with {models}.",
        "{n} trials are to be played, with {models}.",
        planned.trials,
        models=listed(planned.models),
    )
    confirm_calls(text)


@dataclass(frozen=True)
class _Work:
    """What is to be played."""

    ours: Context
    tasks: Sequence[str]
    stages: Collection[StageName]
    config: Config
    budget: float | None
    workers: bool

    def perform(self) -> str:
        """Play it; returns why it stopped before its end, "" if it did not."""
        import asyncio

        try:
            return asyncio.run(self._play())
        except (asyncio.CancelledError, KeyboardInterrupt):
            return _("it was interrupted")

    async def _play(self) -> str:
        from cuecard.annotate.quality.pipeline import run_stages
        from cuecard.core.engine.run_control import RunControl
        from cuecard.tui.commands.qc_output import Watch
        from cuecard.tui.commands.run_output import stopping

        control = RunControl(0) if self.workers else RunControl()
        with stopping(control, plays=not self.workers), Watch(self.config.currency) as watch:
            outcomes = await run_stages(
                self.ours.workspace,
                self.tasks,
                self.stages,
                config=self.config,
                by=self.ours.person,
                control=control,
                budget=self.budget,
                on_probe=watch.begins,
                on_event=watch.on_event,
                workers=self.workers,
            )
        if control.cancelled:
            return _("it was interrupted")
        halts = [outcome.halt for outcome in outcomes if outcome.halt]
        return str(control.halt) if control.halt else next(iter(halts), "")


@verb("cuecard datasheet -o datasheet.md", "json", json=N_("JSON rather than Markdown"))
def datasheet(
    ours: Context,
    *,
    output: Annotated[
        Path | None, Help(N_("Write to this file; .json is written as JSON"), "-o", "--output")
    ] = None,
    names: Annotated[bool, N_("People's names rather than pseudonyms")] = False,
) -> Result:
    from cuecard.annotate.quality.datasheet import as_markdown, datasheet_of

    protocol = ours.protocol
    sheet = datasheet_of(ours.workspace, protocol=protocol, named=names)
    return Result(
        json=lambda: sheet.model_dump(mode="json"),
        document=as_markdown(sheet),
        output=output or STDOUT,
    )
