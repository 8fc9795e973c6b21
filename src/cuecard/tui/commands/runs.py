"""`cuecard run` and `cuecard runs`: play a grid of trials, resume a run, list runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.errors import FileProblem, FileProblems, NotFound, near
from cuecard.core.i18n import N_, _, ngettext, pgettext
from cuecard.core.players import DEFAULT_AGENT, DEFAULT_JUDGE, DEFAULT_USER, DEFAULT_WORLD
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import OutputLost, exit_code_after, live_progress, note, table
from cuecard.tui.commands.verb import Budget, Help, Result, verb

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.errors import Halt
    from cuecard.core.records import OrderKind, RunRecord
    from cuecard.store.workspace import Workspace


_PLANNED = {"targets", "agents", "user", "world", "judges", "samples", "max_turns", "seed"}
_SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")


@verb("cuecard run espresso --agent live --samples 3", "json")
def run(
    ours: Context,
    targets: Annotated[
        Sequence[str],
        Help(N_("Task ids, or files to import first; none means all"), metavar="TASK|PATH"),
    ] = (),
    *,
    agents: Annotated[
        Sequence[str], Help(N_("Agent of cuecard.yaml; may be repeated"), "--agent")
    ] = (),
    user: Annotated[str, N_("Who plays the user: a user of cuecard.yaml")] = DEFAULT_USER,
    world: Annotated[
        str, N_("What answers the agent's tools: a world of cuecard.yaml")
    ] = DEFAULT_WORLD,
    judges: Annotated[
        Sequence[str], Help(N_("Judge of cuecard.yaml; may be repeated"), "--judge")
    ] = (),
    samples: Annotated[int, Help(N_("Trials of each task and agent"), min=1, max=1000)] = 1,
    concurrency: Annotated[int, Help(N_("Trials at the same time"), min=1, max=1024)] = 4,
    max_turns: Annotated[
        int, Help(N_("Agent turns before a trial is ended"), min=1, max=1000)
    ] = 60,
    seed: Annotated[int, N_("Seed of the first sample")] = 0,
    name: Annotated[str, N_("Name of the run")] = "",
    resume: Annotated[int | None, Help(N_("Go on with this run instead"), metavar="RUN")] = None,
    rerun: Annotated[
        Literal["failed"] | None, N_("With --resume: play these trials again, too")
    ] = None,
    replay: Annotated[
        int | None, Help(N_("Play this run again from its records, without a call"), metavar="RUN")
    ] = None,
    budget: Budget = None,
    json_lines: Annotated[bool, N_("Print what happens, a JSON object a line")] = False,
    workers: Annotated[
        bool, N_("Leave the trials to `cuecard worker` on any machines; needs PostgreSQL")
    ] = False,
    detach: Annotated[bool, N_("With --workers: do not wait for them")] = False,
) -> Result:
    from cuecard.core.engine.events import Limits
    from cuecard.core.evaluation.plans import RunPlan, RunSettings, create_replay, create_run
    from cuecard.core.evaluation.scores import score_as_judged
    from cuecard.tui.commands.run_output import problems_of, report

    if resume is not None and ours.given & {*_PLANNED, "name", "replay"}:
        raise typer.BadParameter(
            _(
                "a run goes on as it was planned; only --concurrency, --budget and --rerun can be given"
            ),
            param_hint="--resume",
        )
    if replay is not None and ours.given & {*_PLANNED, "budget"}:
        raise typer.BadParameter(
            _("a run is replayed as it was played; only --name can be given"), param_hint="--replay"
        )
    if rerun is not None and resume is None:
        raise typer.BadParameter(_("tell which run, with --resume RUN"), param_hint="--rerun")
    if ours.json and json_lines:
        raise typer.BadParameter(_("give one of them"), param_hint=["--json", "--json-lines"])
    if detach and not workers:
        raise typer.BadParameter(_("only with --workers"), param_hint="--detach")
    config, workspace, person = ours.config(), ours.workspace, ours.person
    if workers:
        workspace.workers.check()
    if replay is not None:
        record = create_replay(workspace, replay, by=person, name=name)
    elif resume is not None:
        record = workspace.runs.get(resume)
    else:
        players = tuple(dict.fromkeys(judges or [DEFAULT_JUDGE]))
        plan = RunPlan(
            name=name,
            tasks=_chosen(workspace, targets, person),
            agents=tuple(agents or [DEFAULT_AGENT]),
            samples=samples,
            limits=Limits(max_turns=max_turns),
            seed=seed,
            settings=RunSettings(user=user, world=world, judges=players, budget=budget),
        )
        with live_progress(_("Entering the trials…")):
            record = create_run(workspace, plan, by=person, config=config)
    way = _Way(concurrency, json_lines, rerun == "failed", budget if resume else None, person)
    if workers:
        from cuecard.core.evaluation.runs import change_budget

        if way.budget is not None:
            change_budget(workspace, record.id, way.budget, config)
        from cuecard.tui.commands.workers import offer

        offer(ours, record, "retry" if way.rerun_failed else "play")
        if detach:
            return Result("", lambda: {"run": record.id})
        played = _follow(ours, record, way)
    else:
        played = _play(workspace, record, config, way)
    scores = ours.outlasting(score_as_judged, workspace, record.id)
    trials = ours.outlasting(workspace.runs.trials, record.id)
    problems = problems_of(scores, trials, played.failures)
    stopped, halt = played.stopped, played.halt
    return report(
        ours, scores, problems, stopped=stopped, halt=halt, quiet=json_lines, workers=workers
    )


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
    from cuecard.core.engine.run_control import RunControl
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
                show = JsonLines(run.id, trials).on_event
            else:
                show = stack.enter_context(watching(title, names, config.currency))

            def on_event(event: RunEvent) -> None:
                if isinstance(event, TrialFinished) and event.problem:
                    failures[int(event.cell)] = event.problem
                elif isinstance(event, TrialLeftOpen):
                    cut.extend(event.cut)
                try:
                    show(event)
                except OutputLost as lost:
                    # No failure of the trial; and what nobody reads is not to be paid for.
                    exit_code_after(lost)
                    control.pause(Halt(_("The output takes no more"), str(lost)))

            outcome = await resume_run(
                workspace,
                run.id,
                config=config,
                concurrency=way.concurrency,
                on_event=on_event,
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


def _follow(ours: Context, run: RunRecord, way: _Way) -> _Played:
    from cuecard.core.engine.run_control import RunControl
    from cuecard.tui.commands.run_output import JsonLines, trial_name, watching
    from cuecard.tui.commands.workers import follow

    trials = {str(t.id): t for t in ours.outlasting(ours.workspace.runs.trials, run.id)}
    names = {cell: trial_name(trial) for cell, trial in trials.items()}
    title = _("Run {id}").format(id=run.id)
    control = RunControl(0)
    with ExitStack() as stack:
        if way.json_lines:
            show = JsonLines(run.id, trials).on_event
        else:
            show = stack.enter_context(watching(title, names, ours.config().currency))
        halt = follow(ours, run.id, control, show)
    return _Played(control.halt is not None or halt is not None, {}, halt or control.halt)


@verb("cuecard runs pause 4; cuecard runs budget 4 12.50", "json")
def runs(
    ours: Context,
    action: Annotated[
        Literal["pause", "resume", "cancel", "budget", "concurrency"] | None,
        Help(N_("What whoever plays the run is to do; none lists the runs"), metavar="ACTION"),
    ] = None,
    run: Annotated[int | None, Help(N_("Number of the run"), metavar="RUN")] = None,
    value: Annotated[
        float | None,
        Help(N_("The budget (none: no limit), or trials at the same time"), metavar="VALUE"),
    ] = None,
) -> Result:
    from cuecard.annotate.task_feedback import disputed_runs
    from cuecard.tui.commands.score_json import run_json

    if action is not None:
        return _order(ours, action, run, value)
    found, disputed = ours.workspace.runs.all(), disputed_runs(ours.workspace)
    return Result(
        lambda: _print_runs(found, disputed),
        lambda: {"runs": [{**run_json(r), "gold_disputed": disputed.get(r.id, 0)} for r in found]},
    )


def _order(ours: Context, kind: OrderKind, run: int | None, value: float | None) -> Result:
    from cuecard.core.evaluation.offering import give_order

    if run is None:
        raise typer.BadParameter(_("tell which run"), param_hint="RUN")
    if value is None and kind == "concurrency":
        raise typer.BadParameter(_("a number is needed"), param_hint="VALUE")
    if value is not None and kind not in ("budget", "concurrency"):
        raise typer.BadParameter(
            _("only a budget and a concurrency have a value"), param_hint="VALUE"
        )
    if value is not None and (value <= 0 or (kind == "concurrency" and not 1 <= value <= 1024)):
        raise typer.BadParameter(
            _("a budget is above 0, a concurrency from 1 to 1024"), param_hint="VALUE"
        )
    config = ours.config() if kind == "budget" else None
    order = give_order(ours.workspace, run, kind, ours.person, value, config=config)
    asked = _("Asked for. Whoever plays run {run} obeys within two seconds.").format(run=run)
    kept = _("Kept. Nobody plays run {run}; it holds when somebody goes on with it.").format(
        run=run
    )
    return Result(
        asked if order else kept,
        lambda: {"run": run, "action": kind, "value": value, "played": order is not None},
    )


def _print_runs(found: Sequence[RunRecord], disputed: Mapping[int, int]) -> None:
    if not found:
        note(_("No runs yet; `cuecard run` starts one."))
        return
    from cuecard.tui.present.labels import run_kind

    table(
        "",
        (
            *(_("name"), _("kind"), _("state"), _("by"), pgettext("when", "begun")),
            *((_("gold disputed"),) if disputed else ()),
            *(_("trials"), _("run")),
        ),
        [
            (
                *(run.name, run_kind(run), run.shown.label, run.created_by),
                f"{run.created_at.astimezone():%Y-%m-%d %H:%M}",
                *((disputed.get(run.id, ""),) if disputed else ()),
                *(f"{run.finished:,}/{run.trials:,}", run.id),
            )
            for run in found
        ],
        numbers=range(4, 8),
        cut=0,
    )


def _chosen(workspace: Workspace, targets: Sequence[str], person: str) -> tuple[str, ...]:
    """Ids of the tasks; files among the targets are imported first. Raises `NotFound`, and `FileProblems` if anything is
    wrong with a file, before anything is played.
    """
    tasks = [task for target in targets for task in _tasks_of(workspace, target, person)]
    if not targets:
        tasks = [summary.id for summary in workspace.tasks.summaries()]
    if not tasks:
        raise NotFound(
            _("There are no tasks to run"),
            workspace.public_url,
            _("`cuecard import` brings tasks in, `cuecard init` the sample tasks"),
        )
    return tuple(tasks)


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
            near(target, known)
            or _("give the id of a task in the workspace (`cuecard board`), or a file to import"),
        )
    report = import_path(workspace, path, by=person)
    if report.problems:
        raise FileProblems(
            _("These tasks cannot be run"),
            [FileProblem(p.file, p.place, p.reason, p.line) for p in report.problems],
            _("Nothing was run."),
        )
    return [task.task_id for task in report.tasks]
