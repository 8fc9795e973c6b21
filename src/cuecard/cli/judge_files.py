"""What `cuecard judge` prints of outputs that were produced elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cuecard.cli.output import note, problem_json, prose
from cuecard.core.errors import CuecardError, FileProblem
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.lab.judging_files import JudgedResponses

_SHOWN = 10


class Files(NamedTuple):
    """What was read."""

    tasks: int
    responses: int
    problems: Sequence[FileProblem]


def judged_json(judged: JudgedResponses, files: Files) -> dict[str, Any]:
    """One judge's results."""
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
        _tell_failures(judged)
    if not any(judged.results or judged.failed for judged in done):
        raise CuecardError(
            _("Nothing was judged"),
            _("{tasks} tasks and {responses} responses were read").format(
                tasks=files.tasks, responses=files.responses
            ),
            _("each response names its task, by task_id, qid or instance_id"),
        )
    return 1 if files.problems or first.unknown or any(judged.failed for judged in done) else 0


def _tell_failures(judged: JudgedResponses) -> None:
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
    by = _("Judged by {judge}, model {model}.")
    prose(
        baselines_line([(_("judge"), judged.judge)])
        or by.format(judge=judged.judge.name, model=judged.judge.model)
    )
