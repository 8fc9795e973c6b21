"""`cuecard judge`: judge outputs produced elsewhere, or a run of the workspace once more."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cuecard.cli.choices import InputFormat
from cuecard.cli.context import Context
from cuecard.cli.output import as_json, console, example, note, problem_json, prose
from cuecard.core.errors import ConfigError, CuecardError, FileProblem
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.core.parts import Judge
    from cuecard.lab.judging import JudgedResponses

LEXICAL = "lexical"
_SHOWN = 10


def register(app: typer.Typer) -> None:
    app.command(
        "judge",
        help=_("Judge and score outputs from elsewhere, or a run again."),
        epilog=example("cuecard judge --tasks tasks/ --responses out.jsonl --json"),
    )(judge)


def judge(
    context: typer.Context,
    tasks: Annotated[Path | None, typer.Option(help=_("File or folder of tasks"))] = None,
    responses: Annotated[
        Path | None, typer.Option(help=_("File or folder of responses, as JSON lines"))
    ] = None,
    run: Annotated[int | None, typer.Option(help=_("A run of the workspace instead"))] = None,
    name: Annotated[str, typer.Option("--judge", help=_("Judge of cuecard.yaml"))] = LEXICAL,
    format: Annotated[
        InputFormat, typer.Option(help=_("Format of the tasks and responses"))
    ] = InputFormat.AUTO,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    if run is not None and (tasks or responses):
        raise typer.BadParameter(_("give files or a run, not both"), param_hint="--run")
    chosen = _judge_named(Context.of(context), name)
    if run is not None:
        raise typer.Exit(_judge_run(Context.of(context), run, chosen, json=json))
    if tasks is None or responses is None:
        raise typer.BadParameter(
            _("both are needed (or --run N for a run of the workspace)"),
            param_hint=["--tasks", "--responses"],
        )
    raise typer.Exit(_judge_files(tasks, responses, format.value, chosen, json=json))


def _judge_named(ours: Context, name: str) -> Judge:
    """Raises `ConfigError`."""
    from cuecard.lab.judging import lexical_judge

    judges = ours.config().judges if name != LEXICAL else {LEXICAL: None}
    if name not in judges:
        raise ConfigError(
            _("Unknown judge"), name, _("known judges: {names}").format(names=", ".join(judges))
        )
    return lexical_judge()


def _judge_run(ours: Context, run: int, judge: Judge, *, json: bool) -> int:
    from cuecard.cli.score import show
    from cuecard.lab.judging import judge_run
    from cuecard.lab.scores import score_run

    with ours.workspace() as workspace:
        with console(stderr=True).status(_("Judging…")):
            failures = asyncio.run(judge_run(workspace, run, judge, again=True))
        scores = score_run(workspace, run, judge.ref.name)
    show(scores, ours, json=json)
    for failure in failures[:_SHOWN]:
        note(
            _("trial {id} is not judged: {reason}").format(
                id=failure.trial_id, reason=failure.reason
            )
        )
    return 1 if failures else 0


def _judge_files(tasks: Path, responses: Path, format: str, judge: Judge, *, json: bool) -> int:
    from cuecard.cli.responses import read_responses, read_tasks
    from cuecard.lab.judging import judge_responses

    known, problems = read_tasks(tasks, format)
    found, trouble = read_responses(responses, format)
    problems = [*problems, *trouble]
    with console(stderr=True).status(_("Judging…")):
        judged = asyncio.run(judge_responses(known, found, judge))
    if json:
        as_json(_judged_json(judged, problems))
    elif judged.results:
        _print(judged)
    for problem in problems:
        note(str(problem))
    if judged.unknown:
        note(
            _("Responses to tasks that are not among these: {ids}").format(
                ids=_some(judged.unknown)
            )
        )
    if judged.missing and judged.results:
        note(
            ngettext(
                "{n} task has no response and is not in the means: {ids}",
                "{n} tasks have no response and are not in the means: {ids}",
                len(judged.missing),
            ).format(n=len(judged.missing), ids=_some(judged.missing))
        )
    if not judged.results:
        raise CuecardError(
            _("Nothing was judged"),
            _("{tasks} tasks and {responses} responses were read").format(
                tasks=len(known), responses=len(found)
            ),
            _("each response names its task, by task_id, qid or instance_id"),
        )
    return 1 if problems or judged.unknown else 0


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


def _judged_json(judged: JudgedResponses, problems: list[FileProblem]) -> dict[str, Any]:
    from cuecard.cli.score_json import aggregate_json, measures_json
    from cuecard.core.scoring.aggregate import TrialScore, aggregate

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
        "problems": [problem_json(problem) for problem in problems],
    }


def _print(judged: JudgedResponses) -> None:
    from cuecard.cli.labels import FAMILY, baselines_line
    from cuecard.cli.score_tables import Result, print_aggregate, print_results

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
    prose(baselines_line([(_("judge"), judged.judge)]))
