"""`cuecard judge`: judge outputs from files, or a run of the workspace, with one or several judges."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from cuecard.core.errors import CuecardError, FileProblem, NotFound
from cuecard.core.i18n import _, ngettext
from cuecard.core.players import DEFAULT_JUDGE, all_embedded
from cuecard.tui.commands.context import AUTO, Context
from cuecard.tui.commands.output import CallProgress, as_json, note, problem_json, prose
from cuecard.tui.commands.transfer import InputFormat

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.engine.step_context import Judge, RecordedCall
    from cuecard.core.evaluation.judging import JudgedResponses, JudgeFailure
    from cuecard.core.evaluation.scores import RunScores
    from cuecard.core.formats.base import ResponsesRead
    from cuecard.core.tasks.models import Task


class Progress(CallProgress):
    """Of one judge after another."""

    def __init__(self, currency: str) -> None:
        super().__init__(currency, _("Judging…"))
        self._name = ""

    def begin(self, judge: str) -> None:
        """The next judge begins."""
        self._name = judge
        self.moved(0, 0)

    def moved(self, done: int, total: int) -> None:
        """`done` of `total` are judged."""
        line = _("Judging with {judge}: {done} of {total}, {calls} calls")
        self.show(line.format(judge=self._name, done=done, total=total, calls=self.calls))

    def called(self, call: RecordedCall) -> None:
        """Count a model call; calls read back from the record are not counted."""
        self.count("judge", call.model, call.reply)


_SHOWN = 10
Judged = TypeVar("Judged")


def judge(
    context: typer.Context,
    tasks: Annotated[Path | None, typer.Option(help=_("File or folder of tasks"))] = None,
    responses: Annotated[
        Path | None, typer.Option(help=_("File or folder of responses, as JSON lines"))
    ] = None,
    run: Annotated[int | None, typer.Option(help=_("A run of the workspace instead"))] = None,
    names: Annotated[
        list[str] | None, typer.Option("--judge", help=_("Judge of cuecard.yaml; may be repeated"))
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help=_("Also the trials that the judge has judged before"))
    ] = False,
    format: Annotated[
        InputFormat, typer.Option(help=_("Format of the tasks and responses"))
    ] = AUTO,
    json: Annotated[
        bool, typer.Option("--json", help=_("Print JSON; of several judges as a list, judges"))
    ] = False,
) -> None:
    if run is not None and (tasks or responses):
        raise typer.BadParameter(_("give files or a run, not both"), param_hint="--run")
    if again and run is None:
        raise typer.BadParameter(_("only for a run: --run N"), param_hint="--again")
    chosen = tuple(dict.fromkeys(names or [DEFAULT_JUDGE]))
    ours = Context.of(context)
    config = _config_for(ours, chosen)
    if run is not None:
        raise typer.Exit(_judge_run(ours, config, run, chosen, again=again, json=json))
    if tasks is None or responses is None:
        raise typer.BadParameter(
            _("both are needed (or --run N for a run of the workspace)"),
            param_hint=["--tasks", "--responses"],
        )
    raise typer.Exit(_judge_files(config, tasks, responses, format, chosen, json=json))


def _config_for(ours: Context, names: Sequence[str]) -> Config:
    """The configuration; embedded judges need none. Raises `ConfigError`."""
    from cuecard.core.config import EMBEDDED

    return EMBEDDED if all_embedded("judge", names) else ours.config()


def _with_judges(
    config: Config, names: Sequence[str], perform: Callable[[Judge], Awaitable[Judged]]
) -> list[Judged]:
    """What `perform` gives for each judge, one after the other. Raises `ConfigError` before the first if
    any of them cannot be made.
    """
    from cuecard.core.engine.players import build_judge
    from cuecard.core.llm.hub import ModelHub

    async def all_of_them() -> list[Judged]:
        hub = ModelHub(config)
        try:
            judges = [build_judge(name, config, hub) for name in names]
            return [await perform(each) for each in judges]
        finally:
            await hub.close()

    return asyncio.run(all_of_them())


def _judge_run(
    ours: Context, config: Config, run: int, names: Sequence[str], *, again: bool, json: bool
) -> int:
    from cuecard.annotate.task_feedback import disputed_runs
    from cuecard.core.evaluation.judging import judge_run
    from cuecard.core.evaluation.scores import score_run
    from cuecard.tui.commands.score import show
    from cuecard.tui.commands.score_json import scores_json

    with ours.workspace() as workspace, Progress(config.currency) as progress:

        async def perform(each: Judge) -> tuple[RunScores, tuple[JudgeFailure, ...]]:
            progress.begin(each.ref.name)
            failures = await judge_run(
                workspace,
                run,
                each,
                again=again,
                on_progress=progress.moved,
                on_call=progress.called,
            )
            return await asyncio.to_thread(score_run, workspace, run, each.ref.name), failures

        done = _with_judges(config, names, perform)
        disputed = disputed_runs(workspace).get(run, 0)
    if json and len(done) > 1:
        scored = [{**scores_json(s), "gold_disputed": disputed} for s, _failures in done]
        as_json({"judges": scored})
    for scores, failures in done:
        if not json or len(done) == 1:
            show(scores, ours, json=json, disputed=disputed)
        _tell_unjudged(scores.judge, [trial.scores for trial in scores.trials])
        _tell_failures(scores.judge, failures)
    progress.report()
    return 1 if any(failures for _scores, failures in done) else 0


def _tell_unjudged(name: str, scores: Sequence[dict[str, float | None]]) -> None:
    """How many items the judge has left open, on stderr."""
    left = int(sum(found.get("unjudged") or 0 for found in scores))
    if left:
        note(
            ngettext(
                "{n} item is left unjudged by {judge}; it counts neither as right nor as wrong.",
                "{n} items are left unjudged by {judge}; they count neither as right nor as wrong.",
                left,
            ).format(n=left, judge=name)
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
            ngettext(
                "{judge} had to stop, {n} trial is left: {reason}",
                "{judge} had to stop, {n} trials are left: {reason}",
                len(halted),
            ).format(judge=name, n=len(halted), reason=halted[0].reason)
        )


def _judge_files(
    config: Config,
    tasks: Path,
    responses: Path,
    format: str,
    names: Sequence[str],
    *,
    json: bool,
) -> int:
    from cuecard.core.evaluation.judging import judge_responses

    known, problems = read_tasks(tasks, format)
    found, trouble = read_responses(responses, format)
    files = Files(len(known), len(found), (*problems, *trouble))
    with Progress(config.currency) as progress:

        async def perform(each: Judge) -> JudgedResponses:
            progress.begin(each.ref.name)
            return await judge_responses(
                known, found, each, on_progress=progress.moved, on_call=progress.called
            )

        done = _with_judges(config, names, perform)
    if json:
        shown = [judged_json(judged, files) for judged in done]
        as_json(shown[0] if len(shown) == 1 else {"judges": shown})
    code = print_judged(done, files, tables=not json)
    for judged in done:
        _tell_unjudged(judged.judge.name, [result.scores for result in judged.results])
    progress.report()
    return code


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


def print_judged(done: Sequence[JudgedResponses], files: Files, *, tables: bool) -> int:
    """Tables on stdout if wanted, on stderr what is not in them; the exit code.

    Raises `CuecardError` where nothing was judged.
    """
    for judged in done:
        if tables and judged.results:
            _print(judged)
    for problem in files.problems:
        note(str(problem))
    first = done[0]
    if first.unknown:
        note(
            _("Responses to tasks that are not among these: {ids}").format(ids=_some(first.unknown))
        )
    if first.missing and first.results:
        note(
            ngettext(
                "{n} task has no response and is not in the means: {ids}",
                "{n} tasks have no response and are not in the means: {ids}",
                len(first.missing),
            ).format(n=len(first.missing), ids=_some(first.missing))
        )
    if tables:
        _tell_unusable(first)
    for judged in done:
        _judge_files_tell_failures(judged)
    if not any(judged.results or judged.failed for judged in done):
        raise CuecardError(
            _("Nothing was judged"),
            _("{tasks} tasks and {responses} responses were read").format(
                tasks=files.tasks, responses=files.responses
            ),
            _("each response names its task, by task_id, qid or instance_id"),
        )
    return 1 if files.problems or first.unknown or any(judged.failed for judged in done) else 0


def _judge_files_tell_failures(judged: JudgedResponses) -> None:
    for failure in judged.failed[:_SHOWN]:
        note(
            _("{task} #{sample} is not judged by {judge} and not in its means: {reason}").format(
                task=failure.task_id,
                sample=failure.sample,
                judge=judged.judge.name,
                reason=failure.reason,
            )
        )


def _tell_unusable(judged: JudgedResponses) -> None:
    for result in [each for each in judged.results if not each.usable][:_SHOWN]:
        note(
            _("{task} #{sample} scores 0: {reason}").format(
                task=result.task_id, sample=result.sample, reason=_(result.reason)
            )
        )


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


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
        title = ngettext(
            "{family}: {n} response to {tasks} tasks",
            "{family}: {n} responses to {tasks} tasks",
            found.responses,
        ).format(family=_(FAMILY[found.family]), n=found.responses, tasks=found.tasks)
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
    from cuecard.core.formats.base import collect_responses
    from cuecard.core.formats.files import first_objects
    from cuecard.core.formats.registry import FORMATS

    if not path.exists():
        raise NotFound(_("There is no such file"), str(path))
    reader = FORMATS[format].read_responses if format in FORMATS else None
    if reader:
        return reader(path)
    keys = next((set(found) for found in first_objects(path, limit=1)), set[str]())
    id_key = next((key for key in _IDS if key in keys), _IDS[0])
    sample_key = next((key for key in _SAMPLES if key in keys), _SAMPLES[0])
    return collect_responses(path, id_key=id_key, sample_key=sample_key, patterns=("*.jsonl",))
