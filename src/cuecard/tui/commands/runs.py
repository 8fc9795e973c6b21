"""`cuecard run` and `cuecard runs`: play a grid of trials, resume a run, list runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.errors import FileProblem, FileProblems, NotFound
from cuecard.core.i18n import _, ngettext, pgettext
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_JUDGE, DEFAULT_USER, DEFAULT_WORLD
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import OutputLost, after_loss, as_json, note, table

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.errors import Halt
    from cuecard.core.evaluation.plans import RunSettings
    from cuecard.core.records import RunRecord
    from cuecard.store.workspace import Workspace


_PLANNED = ("targets", "agents", "user", "world", "judges", "samples", "max_turns", "seed", "name")


class Rerun(StrEnum):
    """Which ended trials are played again."""

    FAILED = "failed"


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
    user: Annotated[
        str, typer.Option(help=_("Who plays the user: a user of cuecard.yaml"))
    ] = DEFAULT_USER,
    world: Annotated[
        str, typer.Option(help=_("What answers the agent's tools: a world of cuecard.yaml"))
    ] = DEFAULT_WORLD,
    judges: Annotated[
        list[str] | None, typer.Option("--judge", help=_("Judge of cuecard.yaml; may be repeated"))
    ] = None,
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help=_("Trials of each task and agent"))
    ] = 1,
    concurrency: Annotated[
        int, typer.Option(min=1, max=1024, help=_("Trials at the same time"))
    ] = 4,
    max_turns: Annotated[
        int, typer.Option(min=1, max=1000, help=_("Agent turns before a trial is ended"))
    ] = 60,
    seed: Annotated[int, typer.Option(help=_("Seed of the first sample"))] = 0,
    name: Annotated[str, typer.Option(help=_("Name of the run"))] = "",
    resume: Annotated[
        int | None, typer.Option(metavar="RUN", help=_("Go on with this run instead"))
    ] = None,
    rerun: Annotated[
        Rerun | None,
        typer.Option(help=_("With --resume: play these trials again, too")),
    ] = None,
    replay: Annotated[
        int | None,
        typer.Option(metavar="RUN", help=_("Play this run again from its records, without a call")),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(min=0.000001, help=_("Stop when the calls have cost so much")),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    json_lines: Annotated[
        bool, typer.Option("--json-lines", help=_("Print what happens, a JSON object a line"))
    ] = False,
) -> None:
    from cuecard.core.evaluation.plans import RunSettings, create_replay
    from cuecard.core.evaluation.scores import score_as_judged
    from cuecard.tui.commands.run_output import Report, Shown, print_report, problems_of

    _check_options(context, resume=resume, replay=replay, rerun=rerun)
    if json and json_lines:
        raise typer.BadParameter(_("give one of them"), param_hint=["--json", "--json-lines"])
    ours = Context.of(context)
    config = ours.config()
    with ours.workspace() as workspace:
        person = ours.person(workspace)
        if replay is not None:
            record = create_replay(workspace, replay, by=person, name=name)
        elif resume is None:
            record = plan_run(
                workspace,
                targets or [],
                agents=agents or [DEFAULT_AGENT],
                samples=samples,
                max_turns=max_turns,
                seed=seed,
                name=name,
                person=person,
                config=config,
                settings=RunSettings(
                    user=user,
                    world=world,
                    judges=tuple(dict.fromkeys(judges or [DEFAULT_JUDGE])),
                    budget=budget,
                ),
            )
        else:
            record = workspace.runs.get(resume)
        way = _Way(
            concurrency, json_lines, rerun is Rerun.FAILED, budget if resume else None, person
        )
        played = _play(workspace, record, config, way)
        scores = score_as_judged(workspace, record.id)
        problems = problems_of(scores, workspace.runs.trials(record.id), played.failures)
    show = Shown.NOTHING if json_lines else Shown.JSON if json else Shown.TABLES
    report = Report(scores, problems, config.currency, played.stopped, played.halt)
    raise typer.Exit(print_report(ours, report, show))


def _check_options(
    context: typer.Context, *, resume: int | None, replay: int | None, rerun: Rerun | None
) -> None:
    if resume is not None and any(_given(context, option) for option in (*_PLANNED, "replay")):
        raise typer.BadParameter(
            _(
                "a run goes on as it was planned; only --concurrency, --budget and --rerun can be given"
            ),
            param_hint="--resume",
        )
    planned = [option for option in (*_PLANNED, "budget") if option != "name"]
    if replay is not None and any(_given(context, option) for option in planned):
        raise typer.BadParameter(
            _("a run is replayed as it was played; only --name can be given"), param_hint="--replay"
        )
    if rerun is not None and resume is None:
        raise typer.BadParameter(_("tell which run, with --resume RUN"), param_hint="--rerun")


def _given(context: typer.Context, option: str) -> bool:
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


@dataclass(frozen=True)
class _Way:
    """How a run is played."""

    concurrency: int
    json_lines: bool
    rerun_failed: bool
    budget: float | None
    by: str


@dataclass(frozen=True)
class _Played:
    """`failures`: why a trial could not begin or was not judged, by its id."""

    stopped: bool
    failures: Mapping[int, str]
    halt: Halt | None = None


def _play(workspace: Workspace, run: RunRecord, config: Config, way: _Way) -> _Played:
    from cuecard.core.engine.events import RunEvent, TrialFinished, TrialLeftOpen
    from cuecard.core.engine.run import RunControl
    from cuecard.core.errors import Halt
    from cuecard.core.evaluation.runs import resume_run
    from cuecard.tui.commands.run_output import JsonLines, stopping, trial_name, watching

    trials = {str(trial.id): trial for trial in workspace.runs.trials(run.id)}
    names = {cell: trial_name(trial) for cell, trial in trials.items()}
    failures: dict[int, str] = {}
    cut: list[str] = []
    control = RunControl()

    async def play() -> None:
        title = _("Run {id}").format(id=run.id)
        with stopping(control), ExitStack() as stack:
            if way.json_lines:
                show = JsonLines(run.id, trials).told
            else:
                show = stack.enter_context(watching(title, names, config.currency))

            def told(event: RunEvent) -> None:
                if isinstance(event, TrialFinished) and event.problem:
                    failures[int(event.cell)] = event.problem
                elif isinstance(event, TrialLeftOpen):
                    cut.extend(event.cut)
                try:
                    show(event)
                except OutputLost as lost:
                    # No failure of the trial; and what nobody reads is not to be paid for.
                    after_loss(lost)
                    control.pause(Halt(_("The output takes no more"), str(lost)))

            outcome = await resume_run(
                workspace,
                run.id,
                config=config,
                concurrency=way.concurrency,
                on_event=told,
                control=control,
                rerun_failed=way.rerun_failed,
                budget=way.budget,
                by=way.by,
            )
        failures.update({failure.trial_id: failure.reason for failure in outcome.unjudged})

    try:
        asyncio.run(play())
    except (asyncio.CancelledError, KeyboardInterrupt):
        return _Played(True, failures)
    if cut:
        told = ngettext(
            "{n} call was cut off without an answer; it is made again when the run goes on.",
            "{n} calls were cut off without an answer; they are made again when the run goes on.",
            len(cut),
        )
        note(told.format(n=len(cut)))
    return _Played(control.cancelled or control.halt is not None, failures, control.halt)


def runs(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.task_feedback import disputed_runs

    with Context.of(context).workspace() as workspace:
        found, disputed = workspace.runs.all(), disputed_runs(workspace)
    if json:
        from cuecard.tui.commands.score_json import run_json

        listed = [{**run_json(r), "gold_disputed": disputed.get(r.id, 0)} for r in found]
        as_json({"runs": listed})
        return
    if not found:
        note(_("No runs yet; `cuecard run` starts one."))
        return
    kinds = {"grid": _("grid"), "play": _("play"), "probe": _("probe")}
    table(
        "",
        (
            *(_("run"), _("ended"), _("of")),
            *((_("gold disputed"),) if disputed else ()),
            *(_("state"), _("kind"), _("name"), _("by"), pgettext("when", "begun")),
        ),
        [
            (
                record.id,
                record.finished,
                record.trials,
                *((disputed.get(record.id, ""),) if disputed else ()),
                record.state.label,
                kinds[record.kind],
                record.name,
                record.created_by,
                f"{record.created_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for record in found
        ],
        numbers=range(4 if disputed else 3),
    )


_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")


def plan_run(
    workspace: Workspace,
    targets: Sequence[str],
    *,
    agents: Sequence[str],
    samples: int,
    max_turns: int,
    seed: int,
    name: str,
    person: str,
    config: Config,
    settings: RunSettings,
) -> RunRecord:
    """Save a new run; files among the targets are imported first. Raises `NotFound`, `ConfigError`, and `FileProblems`
    if anything is wrong with a file, before anything is played.
    """
    from cuecard.core.engine.events import Limits
    from cuecard.core.evaluation.plans import RunPlan, create_run

    tasks = [task for target in targets for task in _tasks_of(workspace, target, person)]
    if not targets:
        tasks = [summary.id for summary in workspace.tasks.summaries()]
    if not tasks:
        raise NotFound(
            _("There are no tasks to run"),
            workspace.public_url,
            _("`cuecard import` brings tasks in, `cuecard init` the sample tasks"),
        )
    plan = RunPlan(
        name=name,
        tasks=tuple(tasks),
        agents=tuple(agents),
        samples=samples,
        limits=Limits(max_turns=max_turns),
        seed=seed,
        settings=settings,
    )
    return create_run(workspace, plan, by=person, config=config)


def _tasks_of(workspace: Workspace, target: str, person: str) -> list[str]:
    path = Path(target)
    known = {summary.id for summary in workspace.tasks.summaries(include_retired=True)}
    if target in known:
        return [target]

    from cuecard.annotate.task_files import import_path

    if not (path.exists() or path.suffix.lower() in _SUFFIXES or len(path.parts) > 1):
        raise NotFound(
            _("There is no such task"),
            target,
            _("give the id of a task in the workspace, or a file to import"),
        )
    report = import_path(workspace, path, by=person)
    if report.problems:
        raise FileProblems(
            _("These tasks cannot be run"),
            [FileProblem(p.file, p.place, p.reason, p.line) for p in report.problems],
            _("Nothing was run."),
        )
    return [task.task_id for task in report.tasks]
