"""`cuecard rescore`: update a run's scores after its gold was corrected."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cuecard.core.i18n import _
from cuecard.core.players import all_embedded
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.judge import Progress
from cuecard.tui.commands.output import as_json, note, prose, say, table, tell_sight

if TYPE_CHECKING:
    from cuecard.annotate.results.rescored import RescoreReport
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import Judge
    from cuecard.core.evaluation.rescoring import RescoreOutcome, RescorePlan
    from cuecard.store.workspace import Workspace

_SHOWN = 10
Done = TypeVar("Done")


def rescore(
    context: typer.Context,
    run: Annotated[int, typer.Argument(metavar="RUN", help=_("The run"))],
    revisions: Annotated[
        list[str] | None,
        typer.Option(
            "--revision",
            metavar="[TASK@]N",
            help=_("Judge on this revision instead of the newest; may be repeated"),
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option("--judge", help=_("Only this judge's verdicts; may be repeated")),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help=_("Judge everything again; nothing is kept"))
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help=_("Say what would be judged; call and save nothing"))
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
    reveal: Annotated[
        bool,
        typer.Option(
            "--reveal",
            help=_("Also what I am still to label; labels that I give on it later are not blind"),
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON, with every item"))] = False,
) -> None:
    from cuecard.annotate.results.rescored import report_on
    from cuecard.core.evaluation.rescoring import plan_rescoring
    from cuecard.store.workspace import Sight

    if json and markdown:
        raise typer.BadParameter(_("choose one"), param_hint="--json / --markdown")
    ours = Context.of(context)
    with ours.workspace() as workspace:
        targets = _targets(workspace, run, revisions or ())
        plan = plan_rescoring(workspace, run, targets=targets, judges=tuple(names or ()))
        if not plan.changed:
            if plan.left:
                _print(report_on(workspace, plan, None), markdown=markdown, json=json)
                raise typer.Exit(1)
            _nothing(plan, json=json)
            return
        outcome = None
        if not dry_run:
            outcome = _perform(ours, workspace, plan, anew=anew)
        elif not anew:
            _check(ours, workspace, plan)
        sight = Sight(workspace, ours.reader, reveal=reveal)
        run_now = outcome.run if outcome else None
        report = report_on(workspace, plan, run_now, anew=anew, sight=sight)
        sight.record()
        tell_sight(sight)
    _print(report, markdown=markdown, json=json)
    if outcome:
        _tell(outcome, quiet=json or markdown)
    raise typer.Exit(1 if plan.left or (outcome and outcome.failed) else 0)


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


def _perform(
    ours: Context, workspace: Workspace, plan: RescorePlan, *, anew: bool
) -> RescoreOutcome:
    from cuecard.core.evaluation.judging import OnProgress
    from cuecard.core.evaluation.rescoring import rescore_run

    config = _config(ours, plan)
    person = ours.person(workspace)
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

        outcome = _with_judges(config, plan, work)
    progress.report()
    return outcome


def _check(ours: Context, workspace: Workspace, plan: RescorePlan) -> None:
    """Raises `NotAllowed` and `ConfigError` as the rescoring itself would."""
    from cuecard.core.evaluation.rescoring import check_judges

    async def work(judges: Sequence[Judge]) -> None:
        await asyncio.to_thread(check_judges, workspace, plan, [judge.ref for judge in judges])

    _with_judges(_config(ours, plan), plan, work)


def _config(ours: Context, plan: RescorePlan) -> Config:
    """The configuration; embedded judges need none. Raises `ConfigError`."""
    from cuecard.core.config import EMBEDDED

    return EMBEDDED if all_embedded("judge", plan.judges) else ours.config()


def _with_judges(
    config: Config, plan: RescorePlan, work: Callable[[Sequence[Judge]], Awaitable[Done]]
) -> Done:
    """What `work` gives with the plan's judges. Raises `ConfigError` where one cannot be made."""
    from cuecard.core.engine.players import build_judge
    from cuecard.core.llm.hub import ModelHub

    async def perform() -> Done:
        hub = ModelHub(config)
        try:
            return await work([build_judge(name, config, hub) for name in plan.judges])
        finally:
            await hub.close()

    return asyncio.run(perform())


def _nothing(plan: RescorePlan, *, json: bool) -> None:
    if json:
        as_json({"changed": False, "run": {"name": plan.run.name, "uid": plan.run.uid}})
    else:
        say(_("No gold has changed since {run}.").format(run=plan.run.name))


def _print(report: RescoreReport, *, markdown: bool, json: bool) -> None:
    from cuecard.annotate.results.rescored_tables import figure_tables, item_tables
    from cuecard.tui.commands.table_output import print_tables

    if json:
        as_json({"changed": True, **report.model_dump(mode="json")})
        return
    print_tables(figure_tables(report), markdown=markdown)
    for each in item_tables(report):
        if markdown:
            print_tables([each], markdown=True)
            continue
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
