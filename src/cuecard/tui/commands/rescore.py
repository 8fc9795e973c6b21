"""`cuecard rescore`: update a run's scores after its gold was corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.judge import Progress, config_for, with_judges
from cuecard.tui.commands.output import note, prose, say, table
from cuecard.tui.commands.verb import TABLES, Help, Page, Result, Reveal, verb

if TYPE_CHECKING:
    from cuecard.annotate.results.rescored import RescoreReport
    from cuecard.core.engine.messages import PlayerRef
    from cuecard.core.engine.step_context import Judge
    from cuecard.core.evaluation.rescoring import RescoreOutcome, RescorePlan
    from cuecard.store.workspace import Workspace

_SHOWN = 10


@verb("cuecard rescore 2 --dry-run", *TABLES, json=N_("Print JSON, with every item"))
def rescore(
    ours: Context,
    run: Annotated[int, Help(N_("The run"), metavar="RUN")],
    *,
    revisions: Annotated[
        Sequence[str],
        Help(
            N_("Judge on this revision instead of the newest; may be repeated"),
            "--revision",
            metavar="[TASK@]N",
        ),
    ] = (),
    names: Annotated[
        Sequence[str], Help(N_("Only this judge's verdicts; may be repeated"), "--judge")
    ] = (),
    anew: Annotated[bool, N_("Judge everything again; nothing is kept")] = False,
    dry_run: Annotated[bool, N_("Say what would be judged; call and save nothing")] = False,
    reveal: Reveal = False,
) -> Result:
    from cuecard.annotate.results.rescored import report_on
    from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
    from cuecard.core.evaluation.rescoring import plan_rescoring

    workspace = ours.workspace
    targets = _targets(workspace, run, revisions)
    plan = plan_rescoring(workspace, run, targets=targets, judges=tuple(names))
    if not plan.changed and not plan.left:
        return Result(
            _("No gold has changed since {run}.").format(run=plan.run.name),
            lambda: {"changed": False, "run": {"name": plan.run.name, "uid": plan.run.uid}},
        )
    outcome = None
    if not plan.changed:
        report = report_on(workspace, plan, None)
    else:
        if not dry_run:
            outcome = _perform(ours, plan, anew=anew)
        elif not anew:
            _check(ours, plan)
        run_now = outcome.run if outcome else None
        report = report_on(workspace, plan, run_now, anew=anew, sight=ours.sight(reveal=reveal))

    def remarks() -> None:
        if outcome:
            _tell(outcome, quiet=bool(ours.form))

    return Result(
        Page([*figure_tables(report), *item_tables(report)])
        if ours.form
        else lambda: _print(report),
        lambda: {"changed": True, **report.model_dump(mode="json")},
        code=1 if plan.left or (outcome and outcome.failed) else 0,
        remarks=remarks,
    )


def _targets(workspace: Workspace, run: int, revisions: Sequence[str]) -> dict[str, int]:
    """`3` for a run of one task, `TASK@3` for any. Raises `BadParameter`, and `NotFound` for the run."""
    found: dict[str, int] = {}
    for text in revisions:
        task, at, number = text.rpartition("@")
        if not number.isdecimal() or int(number) < 1:
            what = _("{text!r} names no revision; it reads like 3 or task@3").format(text=text)
            raise typer.BadParameter(what, param_hint="--revision")
        if not at:
            tasks = {trial.task_id for trial in workspace.runs.trials(run)}
            if len(tasks) != 1:
                what = _("the run has several tasks: write task@{n}").format(n=number)
                raise typer.BadParameter(what, param_hint="--revision")
            (task,) = tasks
        found[task] = int(number)
    return found


def _perform(ours: Context, plan: RescorePlan, *, anew: bool) -> RescoreOutcome:
    from cuecard.core.evaluation.judging import OnProgress
    from cuecard.core.evaluation.rescoring import rescore_run

    config, workspace, person = config_for(ours, plan.judges), ours.workspace, ours.person
    with Progress(config.currency) as progress:

        def begin(judge: str) -> OnProgress:
            progress.begin(judge)
            return progress.moved

        async def work(judges: Sequence[Judge]) -> RescoreOutcome:
            return await rescore_run(
                workspace,
                plan,
                judges,
                by=person,
                anew=anew,
                on_progress=begin,
                on_call=progress.called,
            )

        outcome = with_judges(config, plan.judges, work)
    progress.report()
    return outcome


def _check(ours: Context, plan: RescorePlan) -> None:
    """Raises `NotAllowed` and `ConfigError` as the rescoring itself would."""
    from cuecard.core.evaluation.rescoring import check_judges

    refs = with_judges(config_for(ours, plan.judges), plan.judges, _refs)
    check_judges(ours.workspace, plan, refs)


async def _refs(judges: Sequence[Judge]) -> list[PlayerRef]:
    return [judge.ref for judge in judges]


def _print(report: RescoreReport) -> None:
    from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
    from cuecard.tui.commands.table_output import print_tables

    print_tables(figure_tables(report))
    for each in item_tables(report):
        # Texts, not figures: they wrap.
        table(each.title, each.headings, [[cell.text for cell in line] for line in each.lines])
        for remark in each.notes:
            prose(remark)


def _tell(outcome: RescoreOutcome, *, quiet: bool) -> None:
    for failure in outcome.failed[:_SHOWN]:
        note(
            _("trial {id} is not judged: {reason}").format(
                id=failure.trial_id, reason=failure.reason
            )
        )
    if not quiet:
        say(
            _("The rescored trials are run {id}, “{name}”.").format(
                id=outcome.run.id, name=outcome.run.name
            )
        )
