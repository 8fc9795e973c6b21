"""`cuecard judge`: judge outputs produced elsewhere, or a run of the workspace, with one judge or several."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from cuecard.cli.choices import InputFormat
from cuecard.cli.context import Context
from cuecard.cli.judge_progress import Progress
from cuecard.cli.output import as_json, example, note
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.core.config import Config
    from cuecard.core.parts import Judge
    from cuecard.lab.judging import JudgeFailure
    from cuecard.lab.scores import RunScores

LEXICAL = "lexical"
_SHOWN = 10
Judged = TypeVar("Judged")


def register(app: typer.Typer) -> None:
    app.command(
        "judge",
        help=_(
            "Judge and score outputs from elsewhere, or a run of the workspace. Judging adds to what other"
            " judges said and never plays a trial again; a judging that was killed goes on where it stopped."
        ),
        epilog=example("cuecard judge --tasks tasks/ --responses out.jsonl --json"),
    )(judge)


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
    ] = InputFormat.AUTO,
    json: Annotated[
        bool, typer.Option("--json", help=_("Print JSON; of several judges as a list, judges"))
    ] = False,
) -> None:
    if run is not None and (tasks or responses):
        raise typer.BadParameter(_("give files or a run, not both"), param_hint="--run")
    if again and run is None:
        raise typer.BadParameter(_("only for a run: --run N"), param_hint="--again")
    chosen = tuple(dict.fromkeys(names or [LEXICAL]))
    ours = Context.of(context)
    config = _config_for(ours, chosen)
    if run is not None:
        raise typer.Exit(_judge_run(ours, config, run, chosen, again=again, json=json))
    if tasks is None or responses is None:
        raise typer.BadParameter(
            _("both are needed (or --run N for a run of the workspace)"),
            param_hint=["--tasks", "--responses"],
        )
    raise typer.Exit(_judge_files(config, tasks, responses, format.value, chosen, json=json))


def _config_for(ours: Context, names: Sequence[str]) -> Config:
    """The configuration; the embedded judge needs none. Raises `ConfigError`."""
    from cuecard.core.config import EMBEDDED

    return EMBEDDED if set(names) == {LEXICAL} else ours.config()


def _with_judges(
    config: Config, names: Sequence[str], perform: Callable[[Judge], Awaitable[Judged]]
) -> list[Judged]:
    """What `perform` gives for each judge, one after the other. Raises `ConfigError` before the first if
    any of them cannot be made.
    """
    from cuecard.core.judges.registry import build_judge
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
    from cuecard.annotate.adjudication.gold import disputed_runs
    from cuecard.cli.score import show
    from cuecard.cli.score_json import scores_json
    from cuecard.lab.judging import judge_run
    from cuecard.lab.scores import score_run

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
    from cuecard.cli.judge_files import Files, judged_json, print_judged
    from cuecard.cli.responses import read_responses, read_tasks
    from cuecard.lab.judging_files import JudgedResponses, judge_responses

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
