"""`cuecard judge`: judge outputs from files, or a run of the workspace, with one or several judges."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cuecard.core.errors import CuecardError, FileProblem, NotFound
from cuecard.core.i18n import N_, _, listed, plural
from cuecard.core.players import DEFAULT_JUDGE
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.judging import ByWorkers, Progress, by_workers, config_for, with_judges
from cuecard.tui.commands.output import note, problem_json, prose
from cuecard.tui.commands.verb import Help, Result, verb

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import Judge, RecordedCall
    from cuecard.core.evaluation.judging import JudgeFailure
    from cuecard.core.evaluation.judging_files import JudgedResponses
    from cuecard.core.formats.base import ResponsesRead
    from cuecard.core.llm.hub import ModelHub
    from cuecard.core.tasks.models import Task


_SHOWN = 10


@verb(
    "cuecard judge --tasks tasks/ --responses out.jsonl --json",
    "json",
    json=N_("Print JSON; of several judges as a list, judges"),
)
def judge(
    ours: Context,
    *,
    tasks: Annotated[Path | None, N_("File or folder of tasks")] = None,
    responses: Annotated[Path | None, N_("File or folder of responses, as JSON lines")] = None,
    run: Annotated[int | None, N_("A run of the workspace instead")] = None,
    names: Annotated[
        Sequence[str], Help(N_("Judge of cuecard.yaml; may be repeated"), "--judge")
    ] = (),
    again: Annotated[bool, N_("Also the trials that the judge has judged before")] = False,
    workers: ByWorkers = False,
    format: Annotated[
        str,
        Help(
            N_("Format of the tasks and responses"),
            one_of=("auto", "cuecard.core.formats.base:FORMATS"),
        ),
    ] = "auto",
) -> Result:
    if run is not None and (tasks or responses):
        raise typer.BadParameter(_("give files or a run, not both"), param_hint="--run")
    if again and run is None:
        raise typer.BadParameter(_("only for a run: --run N"), param_hint="--again")
    if workers and run is None:
        raise typer.BadParameter(_("only for a run: --run N"), param_hint="--workers")
    chosen = tuple(dict.fromkeys(names or [DEFAULT_JUDGE]))
    config = config_for(ours, chosen)
    if run is not None and workers:
        failures = by_workers(ours, run, chosen, config, again=again)
        return _judged(ours, run, failures, None)
    if run is not None:
        return _judge_run(ours, config, run, chosen, again=again)
    if tasks is None or responses is None:
        raise typer.BadParameter(
            _("both are needed (or --run N for a run of the workspace)"),
            param_hint=["--tasks", "--responses"],
        )
    return _judge_files(ours, config, tasks, responses, format, chosen)


def _judge_run(
    ours: Context, config: Config, run: int, names: Sequence[str], *, again: bool
) -> Result:
    from cuecard.core.engine.run_control import RunControl
    from cuecard.core.evaluation.judging import judge_run
    from cuecard.core.evaluation.run_trials import playing
    from cuecard.core.evaluation.sharing import Meter, within_limits

    workspace, control = ours.workspace, RunControl()
    meters: list[Meter] = []
    with Progress(config.currency) as progress:

        @asynccontextmanager
        async def limits(hub: ModelHub) -> AsyncGenerator[None]:
            async with within_limits(workspace, hub, run_id=run, control=control) as meter:
                meters.append(meter)
                yield

        def called(call: RecordedCall) -> None:
            meters[0].judged(call)
            progress.called(call)

        async def work(judges: Sequence[Judge]) -> dict[str, Sequence[JudgeFailure]]:
            found: dict[str, Sequence[JudgeFailure]] = {}
            # Whoever else judged it meanwhile would pay for the same.
            async with playing(workspace, run, ours.reader):
                for each in judges:
                    progress.begin(each.ref.name)
                    found[each.ref.name] = await judge_run(
                        workspace,
                        run,
                        each,
                        again=again,
                        on_progress=progress.moved,
                        on_call=called,
                        control=control,
                    )
            return found

        failures = with_judges(config, names, work, limits)
    return _judged(ours, run, failures, progress)


def _judged(
    ours: Context,
    run: int,
    failures: Mapping[str, Sequence[JudgeFailure]],
    progress: Progress | None,
) -> Result:
    """The scores of the run by each of these judges."""
    from cuecard.annotate.task_feedback import disputed_runs
    from cuecard.core.evaluation.scores import score_run
    from cuecard.tui.commands.score import remark
    from cuecard.tui.commands.score_json import scores_json
    from cuecard.tui.commands.score_output import print_scores

    done = [
        (ours.outlasting(score_run, ours.workspace, run, name), failed)
        for name, failed in failures.items()
    ]
    disputed = ours.outlasting(disputed_runs, ours.workspace).get(run, 0)

    def show() -> None:
        for scores, _failures in done:
            print_scores(scores)

    def data() -> object:
        scored = [{**scores_json(s), "gold_disputed": disputed} for s, _failures in done]
        return scored[0] if len(scored) == 1 else {"judges": scored}

    def remarks() -> None:
        for scores, failed in done:
            remark(
                scores.run,
                ours,
                judge=scores.judge,
                unjudged=sum(scored.judge is None for scored in scores.trials),
                scored=bool(scores.groups),
                disputed=disputed,
            )
            _tell_unjudged(scores.judge, [trial.scores for trial in scores.trials])
            _tell_failures(scores.judge, failed)
        if progress is not None:
            progress.report()

    code = 1 if any(failed for _scores, failed in done) else 0
    return Result(show, data, code=code, remarks=remarks)


def _tell_unjudged(name: str, scores: Sequence[dict[str, float | None]]) -> None:
    """How many items the judge has left open, on stderr."""
    left = int(sum(found.get("unjudged") or 0 for found in scores))
    if left:
        note(
            plural(
                "{n} item is left unjudged by {judge}; it counts neither as right nor as wrong.",
                "{n} items are left unjudged by {judge}; they count neither as right nor as wrong.",
                left,
                judge=name,
            )
        )


def _tell_failures(name: str, failures: Sequence[JudgeFailure]) -> None:
    for failure in [each for each in failures if not each.halted][:_SHOWN]:
        note(
            _("trial {id} is not judged: {reason}").format(
                id=failure.trial_id, reason=failure.reason
            )
        )
    halted = [failure for failure in failures if failure.halted]
    if halted:
        note(
            plural(
                "{judge} had to stop, {n} trial is left: {reason}",
                "{judge} had to stop, {n} trials are left: {reason}",
                len(halted),
                judge=name,
                reason=halted[0].reason,
            )
        )


def _judge_files(
    ours: Context, config: Config, tasks: Path, responses: Path, format: str, names: Sequence[str]
) -> Result:
    from cuecard.core.evaluation.judging_files import judge_responses

    known, problems = read_tasks(tasks, format)
    found, trouble = read_responses(responses, format)
    files = Files(len(known), len(found), (*problems, *trouble))
    with Progress(config.currency) as progress:

        async def work(judges: Sequence[Judge]) -> list[JudgedResponses]:
            done: list[JudgedResponses] = []
            for each in judges:
                progress.begin(each.ref.name)
                done.append(
                    await judge_responses(
                        known, found, each, on_progress=progress.moved, on_call=progress.called
                    )
                )
            return done

        done = with_judges(config, names, work)
    first = done[0]
    failed = any(judged.failed for judged in done)

    def data() -> object:
        shown = [judged_json(judged, files) for judged in done]
        return shown[0] if len(shown) == 1 else {"judges": shown}

    def show() -> None:
        for judged in done:
            if judged.results:
                _print(judged)

    def remarks() -> None:
        _tell_files(first, files)
        if not ours.json:
            _tell_unusable(first)
        for judged in done:
            for f in judged.failed[:_SHOWN]:
                text = _("{task} #{sample} is not judged by {judge} and not in its means: {reason}")
                note(
                    text.format(
                        task=f.task_id, sample=f.sample, judge=judged.judge.name, reason=f.reason
                    )
                )
        if not failed and not any(judged.results for judged in done):
            raise CuecardError(
                _("Nothing was judged"),
                _("Read: {tasks}, {responses}").format(
                    tasks=plural("{n} task", "{n} tasks", files.tasks),
                    responses=plural("{n} response", "{n} responses", files.responses),
                ),
                _("each response names its task, by task_id, qid or instance_id"),
            )
        for judged in done:
            _tell_unjudged(judged.judge.name, [result.scores for result in judged.results])
        progress.report()

    return Result(
        show, data, code=1 if files.problems or first.unknown or failed else 0, remarks=remarks
    )


class Files(NamedTuple):
    """The tasks and responses that were read."""

    tasks: int
    responses: int
    problems: Sequence[FileProblem]


def judged_json(judged: JudgedResponses, files: Files) -> dict[str, Any]:
    """One judge's results."""
    from cuecard.core.scoring.aggregate import TrialScore, aggregate
    from cuecard.tui.commands.score_json import aggregate_json, measures_json

    return {
        "judge": judged.judge.model_dump(mode="json"),
        "results": [
            {
                "task_id": result.task_id,
                "sample": result.sample,
                "family": result.family,
                "usable": result.usable,
                "reason": result.reason,
                **measures_json(result.measures),
            }
            for result in judged.results
        ],
        # Names of measures tell families apart, so that one mapping holds them all.
        "aggregate": aggregate_json(
            aggregate(TrialScore(r.task_id, r.sample, r.measures) for r in judged.results)
        ),
        "families": {
            found.family: {"tasks": found.tasks, "responses": found.responses}
            for found in judged.aggregates
        },
        "unknown": list(judged.unknown),
        "missing": list(judged.missing),
        "failed": [failure.model_dump(mode="json") for failure in judged.failed],
        "problems": [problem_json(problem) for problem in files.problems],
    }


def _tell_files(first: JudgedResponses, files: Files) -> None:
    """What of the files is not in the results."""
    for problem in files.problems:
        note(str(problem))
    if first.unknown:
        text = _("Responses to tasks that are not among these: {ids}")
        note(text.format(ids=listed(first.unknown, _SHOWN)))
    if first.missing and first.results:
        note(
            plural(
                "{n} task has no response and is not in the means: {ids}",
                "{n} tasks have no response and are not in the means: {ids}",
                len(first.missing),
                ids=listed(first.missing, _SHOWN),
            )
        )


def _tell_unusable(judged: JudgedResponses) -> None:
    for result in [each for each in judged.results if not each.usable][:_SHOWN]:
        note(
            _("{task} #{sample} scores 0: {reason}").format(
                task=result.task_id, sample=result.sample, reason=_(result.reason)
            )
        )


def _print(judged: JudgedResponses) -> None:
    from cuecard.tui.commands.score_output import (
        FAMILY,
        Result,
        baselines_line,
        print_aggregate,
        print_results,
    )

    several = any(result.sample for result in judged.results)
    print_results(
        [
            Result(r.family, f"{r.task_id} #{r.sample}" if several else r.task_id, r.measures)
            for r in judged.results
        ],
        {found.family: found.measures for found in judged.aggregates},
    )
    for found in judged.aggregates:
        title = plural(
            "{family}: {n} response to {tasks} tasks",
            "{family}: {n} responses to {tasks} tasks",
            found.responses,
            family=_(FAMILY[found.family]),
            tasks=found.tasks,
        )
        print_aggregate(title, found.measures)
    by = _("Judged by {judge}, model {model}.")
    prose(
        baselines_line([(_("judge"), judged.judge)])
        or by.format(judge=judged.judge.name, model=judged.judge.model)
    )


_IDS = ("task_id", "qid", "instance_id", "id")
_SAMPLES = ("sample", "sample_idx", "trial_idx", "sample_id")


def read_tasks(path: Path, format: str) -> tuple[list[Task], list[FileProblem]]:
    """Raises `CuecardError` when the path is absent or its format unknown."""
    from cuecard.annotate.task_files import format_named

    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    return format_named(format, path).read_tasks(path)


def read_responses(path: Path, format: str) -> ResponsesRead:
    """Responses in the named format if it has a form of its own for them, else JSON lines with
    `response` and whatever these lines call the task's id and the sample. Raises `NotFound`.
    """
    from cuecard.core.formats.base import FORMATS, collect_responses
    from cuecard.core.formats.files import first_objects

    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    reader = FORMATS[format].read_responses if format in FORMATS else None
    if reader:
        return reader(path)
    keys = next((set(found) for found in first_objects(path, limit=1)), set[str]())
    id_key = next((key for key in _IDS if key in keys), _IDS[0])
    sample_key = next((key for key in _SAMPLES if key in keys), _SAMPLES[0])
    return collect_responses(path, id_key=id_key, sample_key=sample_key, patterns=("*.jsonl",))
