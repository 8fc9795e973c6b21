"""`cuecard run` and `cuecard runs`: play a grid of trials, go on with one, list them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, example, note, table
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.cli.run_problems import Problem
    from cuecard.core.config import Config
    from cuecard.lab.scores import RunScores
    from cuecard.store.records import RunRecord
    from cuecard.store.workspace import Workspace

_PLANNED = ("targets", "agents", "samples", "max_turns", "seed", "name")


def register(app: typer.Typer) -> None:
    app.command(
        "run",
        help=_("Play tasks with agents, judge and score them."),
        epilog=example("cuecard run espresso --agent live --samples 3"),
    )(run)
    app.command("runs", help=_("List the runs of the workspace, newest first."))(runs)


def run(
    context: typer.Context,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TASK|PATH", help=_("Task ids, or files to import first; none means all")
        ),
    ] = None,
    agents: Annotated[
        list[str] | None, typer.Option("--agent", help=_("Agent of cuecard.yaml; may be repeated"))
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help=_("Trials of each task and agent"))
    ] = 1,
    concurrency: Annotated[
        int, typer.Option(min=1, max=256, help=_("Trials at the same time"))
    ] = 4,
    max_turns: Annotated[
        int, typer.Option(min=1, max=1000, help=_("Agent turns before a trial is ended"))
    ] = 60,
    seed: Annotated[int, typer.Option(help=_("Seed of the first sample"))] = 0,
    name: Annotated[str, typer.Option(help=_("Name of the run"))] = "",
    resume: Annotated[
        int | None, typer.Option(metavar="RUN", help=_("Go on with this run instead"))
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.cli.run_plan import plan_run
    from cuecard.cli.run_problems import problems_of
    from cuecard.lab.scores import score_run

    if resume is not None and any(_given(context, option) for option in _PLANNED):
        raise typer.BadParameter(
            _("a run goes on as it was planned; give nothing else but --concurrency"),
            param_hint="--resume",
        )
    ours = Context.of(context)
    config = ours.config()
    with ours.workspace() as workspace:
        person = ours.person(workspace)
        if resume is None:
            record = plan_run(
                workspace,
                targets or [],
                agents=agents or ["offline"],
                samples=samples,
                max_turns=max_turns,
                seed=seed,
                name=name,
                person=person,
                config=config,
            )
        else:
            record = workspace.runs.get(resume)
        played = _play(workspace, record, config, concurrency)
        scores = score_run(workspace, record.id)
        problems = problems_of(scores, workspace.runs.trials(record.id), played.failures)
    raise typer.Exit(_report(ours, scores, problems, stopped=played.stopped, json=json))


def _given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


@dataclass(frozen=True)
class _Played:
    """`failures`: why a trial could not begin or was not judged, by its id."""

    stopped: bool
    failures: Mapping[int, str]


def _play(workspace: Workspace, run: RunRecord, config: Config, concurrency: int) -> _Played:
    from cuecard.cli.interrupt import stopping
    from cuecard.cli.progress import watching
    from cuecard.cli.run_problems import trial_name
    from cuecard.core.run import RunControl
    from cuecard.core.run_events import RunEvent, TrialFinished
    from cuecard.lab.runs import resume_run

    names = {str(trial.id): trial_name(trial) for trial in workspace.runs.trials(run.id)}
    failures: dict[int, str] = {}
    control = RunControl()

    async def play() -> None:
        title = _("Run {id}").format(id=run.id)
        with stopping(control), watching(title, names) as show:

            def told(event: RunEvent) -> None:
                if isinstance(event, TrialFinished) and event.problem:
                    failures[int(event.cell)] = event.problem
                show(event)

            outcome = await resume_run(
                workspace,
                run.id,
                config=config,
                concurrency=concurrency,
                on_event=told,
                control=control,
            )
        failures.update({failure.trial_id: failure.reason for failure in outcome.unjudged})

    try:
        asyncio.run(play())
    except (asyncio.CancelledError, KeyboardInterrupt):
        return _Played(True, failures)
    return _Played(control.cancelled, failures)


def _report(
    ours: Context, scores: RunScores, problems: Sequence[Problem], *, stopped: bool, json: bool
) -> int:
    """Scores on stdout, what went wrong on stderr; the exit code."""
    from cuecard.cli.interrupt import EXIT_INTERRUPTED
    from cuecard.cli.run_problems import summary_of
    from cuecard.cli.score_json import scores_json
    from cuecard.cli.score_tables import print_scores

    if json:
        told = [problem._asdict() for problem in problems]
        as_json({**scores_json(scores), "stopped": stopped, "problems": told})
    else:
        print_scores(scores)
    for line in summary_of(problems):
        note(line)
    run = scores.run
    left = run.trials - run.finished
    if left:
        note(
            _("Run {run}: {n} of {all} trials are open. Go on with: {command}").format(
                run=run.id,
                n=left,
                all=run.trials,
                command=ours.command("run", "--resume", str(run.id)),
            )
        )
        return EXIT_INTERRUPTED if stopped else 1
    note(
        ngettext(
            "Run {run}: {n} trial ended. See it again with: {command}",
            "Run {run}: {n} trials ended. See them again with: {command}",
            run.finished,
        ).format(run=run.id, n=run.finished, command=ours.command("score", str(run.id)))
    )
    return 1 if problems else 0


def runs(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    with Context.of(context).workspace() as workspace:
        found = workspace.runs.all()
    if json:
        from cuecard.cli.score_json import run_json

        as_json({"runs": [run_json(record) for record in found]})
        return
    if not found:
        note(_("No runs yet; `cuecard run` starts one."))
        return
    from cuecard.cli.labels import RUN_STATE

    kinds = {"grid": _("grid"), "play": _("play")}
    table(
        "",
        (_("run"), _("ended"), _("of"), _("state"), _("kind"), _("name"), _("by"), _("begun")),
        [
            (
                record.id,
                record.finished,
                record.trials,
                _(RUN_STATE[record.state]),
                kinds[record.kind],
                record.name,
                record.created_by,
                f"{record.created_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for record in found
        ],
        numbers=range(3),
    )
