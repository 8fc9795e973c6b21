"""`cuecard score`: the numbers of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, example, note
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.lab.scores import RunScores


def register(app: typer.Typer) -> None:
    app.command("score", help=_("The scores of a run."), epilog=example("cuecard score 4 --json"))(
        score
    )


def score(
    context: typer.Context,
    run: Annotated[int, typer.Argument(metavar="RUN", help=_("Number of the run"))],
    judge: Annotated[
        str, typer.Option(help=_("Whose judgements; none means the first of the run's judges"))
    ] = "",
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
) -> None:
    from cuecard.annotate.adjudication.gold import disputed_runs
    from cuecard.cli.run_report import spent_line
    from cuecard.lab.scores import score_as_judged, score_run

    ours = Context.of(context)
    with ours.workspace() as workspace:
        scores = score_run(workspace, run, judge) if judge else score_as_judged(workspace, run)
        disputed = disputed_runs(workspace).get(run, 0)
    show(scores, ours, json=json, disputed=disputed)
    spent = spent_line(scores.usage, ours.config().currency)
    if spent:
        note(spent)


def show(scores: RunScores, ours: Context, *, json: bool, disputed: int = 0) -> None:
    """Print the scores of a run, and on stderr what is not in them yet. `disputed`: items of its gold that
    adjudication found wrong.
    """
    from cuecard.cli.score_json import scores_json
    from cuecard.cli.score_tables import print_scores

    if json:
        as_json({**scores_json(scores), "gold_disputed": disputed})
    else:
        print_scores(scores)
    run = scores.run
    unjudged = sum(scored.judge is None for scored in scores.trials)
    if run.trials > run.finished:
        note(
            ngettext(
                "{n} trial is still open. Go on with: {command}",
                "{n} trials are still open. Go on with: {command}",
                run.trials - run.finished,
            ).format(
                n=run.trials - run.finished, command=ours.command("run", "--resume", str(run.id))
            )
        )
    if disputed:
        note(
            ngettext(
                "Gold disputed: {n} item of the revisions played was found wrong by adjudication.",
                "Gold disputed: {n} items of the revisions played were found wrong by adjudication.",
                disputed,
            ).format(n=disputed)
        )
    if run.trials and not scores.groups:
        note(_("Examinations of tasks have no scores."))
    if unjudged:
        note(
            ngettext(
                "{n} trial is not judged by {judge}. Judge it with: {command}",
                "{n} trials are not judged by {judge}. Judge them with: {command}",
                unjudged,
            ).format(
                n=unjudged,
                judge=scores.judge,
                command=ours.command("judge", "--run", str(run.id), *_by(scores.judge)),
            )
        )


def _by(judge: str) -> tuple[str, ...]:
    return () if judge == "lexical" else ("--judge", judge)
