"""`cuecard score`: the numbers of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.cli.context import Context
from cuecard.cli.output import as_json, example, note
from cuecard.core.i18n import _, ngettext

if TYPE_CHECKING:
    from cuecard.lab.scores import RunScores
    from cuecard.store.records import RunRecord


def register(app: typer.Typer) -> None:
    app.command(
        "score",
        help=_("The scores of one or more runs."),
        epilog=example("cuecard score 4 5 --by agent --by language"),
    )(score)


def score(
    context: typer.Context,
    runs: Annotated[list[int], typer.Argument(metavar="RUN...", help=_("Numbers of the runs"))],
    judge: Annotated[
        str, typer.Option(help=_("Whose judgements; none means the first of the run's judges"))
    ] = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help=_(
                "What lines are told apart by; may be repeated: agent, run, model, scaffold, setting, memory, user,"
                " world, judge, family, language, difficulty, domain, tier, compacted, task"
            )
        ),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help=_("Only this measure; may be repeated"))
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="DIMENSION=VALUE", help=_("Only these trials; may be repeated")),
    ] = None,
    sort: Annotated[
        str, typer.Option(help=_("Sort by a figure, highest first: triplet_f1, cost, trials"))
    ] = "",
    across: Annotated[
        str,
        typer.Option(help=_("Put the values of this dimension across, a table for each figure")),
    ] = "",
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
) -> None:
    if json and markdown:
        raise typer.BadParameter(_("--json or --markdown, not both"), param_hint="--markdown")
    from cuecard.annotate.adjudication.gold import disputed_runs
    from cuecard.cli.result_options import pool_of
    from cuecard.cli.run_report import spent_line
    from cuecard.cli.score_view import Cut, print_cut, tables_of
    from cuecard.results.group_scores import interval_groups, run_scores

    ours = Context.of(context)
    with ours.workspace() as workspace:
        pool = pool_of(workspace, runs, (judge,) if judge else (), only or ())
        usage = [used for run in pool.runs for used in workspace.runs.usage(run.id)]
        if only:
            kept = {row.trial.id for row in pool.rows}
            usage = [used for used in usage if used.trial_id in kept]
        disputed = disputed_runs(workspace)
    cut = Cut.of(by or (), measure or (), sort, across)
    plain = len(pool.runs) == 1 and not (by or measure or across or markdown)
    groups = interval_groups(pool) if json or plain else ()
    if json:
        from cuecard.cli.results_json import results_json

        data = results_json(pool, groups, usage, tables_of(pool, cut))
        as_json({**data, "gold_disputed": sum(disputed.get(run.id, 0) for run in pool.runs)})
    elif plain:
        from cuecard.cli.score_tables import print_scores

        if len({group.scores.agent for group in groups}) > 1:
            print_cut(pool, cut, markdown=False)
        print_scores(
            run_scores(pool, groups, usage),
            {(g.scores.agent, g.scores.family): g.figures for g in groups},
        )
    else:
        print_cut(pool, cut, markdown=markdown)
    for run in pool.runs:
        mine = [row for row in pool.rows if row.trial.run_id == run.id]
        ended = [row for row in mine if row.trial.termination is not None]
        _remarks(
            run,
            ours,
            judge=mine[0].judged_by if mine else judge,
            unjudged=sum(row.judge is None for row in ended),
            scored=bool(mine) or bool(only),
            disputed=disputed.get(run.id, 0),
        )
    spent = spent_line(usage, ours.config().currency)
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
    _remarks(
        scores.run,
        ours,
        judge=scores.judge,
        unjudged=sum(scored.judge is None for scored in scores.trials),
        scored=bool(scores.groups),
        disputed=disputed,
    )


def _remarks(
    run: RunRecord, ours: Context, *, judge: str, unjudged: int, scored: bool, disputed: int
) -> None:
    """What is not in the scores yet, and what to do about it."""
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
    if run.trials and not scored:
        note(_("Examinations of tasks have no scores."))
    if unjudged:
        note(
            ngettext(
                "{n} trial is not judged by {judge}. Judge it with: {command}",
                "{n} trials are not judged by {judge}. Judge them with: {command}",
                unjudged,
            ).format(
                n=unjudged,
                judge=judge,
                command=ours.command("judge", "--run", str(run.id), *_by(judge)),
            )
        )


def _by(judge: str) -> tuple[str, ...]:
    return () if judge == "lexical" else ("--judge", judge)
