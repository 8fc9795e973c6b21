"""`cuecard leaderboard`, `plan` and `suspects`: which agents these tasks tell apart, which difference a study to come would, and
which gold may be wrong.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.context import Context, check_place, pool_of
from cuecard.tui.commands.output import note
from cuecard.tui.commands.verb import TABLES, Help, Judges, Only, Page, Result, Reveal, Runs, verb


@verb("cuecard leaderboard 4 5", *TABLES, holds=True)
def leaderboard(
    ours: Context,
    runs: Runs,
    *,
    by: Annotated[
        str, N_("What is ranked: agent, model, scaffold, setting, memory, user, …")
    ] = "agent",
    measure: Annotated[Sequence[str], N_("Only this measure; may be repeated")] = (),
    pairs: Annotated[bool, N_("Also every pair, with intervals that hold at once")] = False,
    judge: Judges = (),
    only: Only = (),
) -> Result:
    from cuecard.annotate.results.comparisons import COMPARABLE, dimension_named, measures_in
    from cuecard.annotate.results.corrected import corrected_board, corrections_in
    from cuecard.annotate.results.judge_card import exam_notes
    from cuecard.annotate.results.leaderboard import leaderboard_table, leaderboards, pairs_table
    from cuecard.annotate.results.scores import unknown
    from cuecard.core.errors import NotAllowed

    dimension = dimension_named(by)
    if dimension not in COMPARABLE:
        raise unknown(_("This cannot be ranked"), by, COMPARABLE)
    pool = pool_of(ours.workspace, runs, judge, only, all_judges=dimension == "judge")
    known = measures_in(pool)
    for name in measure:
        if known and name not in known:
            raise unknown(_("No such measure"), name, known)
    found = leaderboards(pool, dimension, measure)
    if not found:
        raise NotAllowed(
            _("There is nothing to rank"),
            hint=_("It takes two with judged trials of one family."),
        )
    corrections = corrections_in(ours.workspace, pool)
    told = [corrected_board(one, pool, corrections) for one in found]
    found = tuple(board for both in zip(found, told, strict=True) for board in both if board)
    tables = [
        table
        for one in found
        for table in (leaderboard_table(one), *((pairs_table(one),) if pairs else ()))
        if table.lines
    ]
    tables[-1:] = [table.noted(exam_notes(ours.workspace, pool)) for table in tables[-1:]]
    return Result(
        Page(tables, _("Leaderboard") if ours.form else "", share=True),
        lambda: {"by": dimension, "leaderboards": [one.model_dump(mode="json") for one in found]},
    )


@verb("cuecard plan 4 --difference 0.05 --task-cost 20", *TABLES, holds=True)
def plan(
    ours: Context,
    runs: Annotated[
        Sequence[int], Help(N_("Runs of a pilot; none: plan by guesses"), metavar="RUN")
    ] = (),
    *,
    measure: Annotated[str, N_("By this measure instead of each family's main one")] = "",
    difference: Annotated[float, Help(N_("The difference that is wanted"), min=1e-6)] = 0.05,
    tasks: Annotated[
        int | None, Help(N_("Tasks of the study; default: the pilot's"), min=2)
    ] = None,
    samples: Annotated[int | None, Help(N_("Samples of each task"), min=1)] = None,
    users: Annotated[int | None, Help(N_("Users with whom each task is played"), min=1)] = None,
    judges: Annotated[int | None, Help(N_("Judges of each trial"), min=1)] = None,
    agents: Annotated[int | None, Help(N_("Agents that are paid for"), min=2)] = None,
    task_sd: Annotated[
        float | None, Help(N_("A guess: how agents differ by task, a standard deviation"), min=0)
    ] = None,
    sample_sd: Annotated[
        float | None, Help(N_("A guess: how samples of a task differ, a standard deviation"), min=0)
    ] = None,
    user_sd: Annotated[
        float | None, Help(N_("A guess: how agents differ by user, a standard deviation"), min=0)
    ] = None,
    judge_sd: Annotated[
        float | None, Help(N_("A guess: how agents differ by judge, a standard deviation"), min=0)
    ] = None,
    task_cost: Annotated[float, Help(N_("What it costs to make a task"), min=0)] = 0.0,
    trial_cost: Annotated[
        float | None, Help(N_("What a trial costs; default: as in the pilot"), min=0)
    ] = None,
    judgement_cost: Annotated[
        float | None, Help(N_("What a judge costs for a trial; default: as in the pilot"), min=0)
    ] = None,
    these_users: Annotated[
        bool, N_("The users are all that matter, and no sample of users")
    ] = False,
    plot: Annotated[
        Path | None,
        N_("Also draw it into this SVG file; of the first family where there are several"),
    ] = None,
    judge: Judges = (),
    only: Only = (),
) -> Result:
    from cuecard.annotate.results.comparisons import measures_in
    from cuecard.annotate.results.plan_tables import plan_json, plan_plot, plan_tables
    from cuecard.annotate.results.planning import Asked, guessed_plan, plans_of
    from cuecard.annotate.results.plots.svg import as_svg
    from cuecard.annotate.results.scores import unknown
    from cuecard.core.system import write_text

    asked = Asked(
        tasks=tasks,
        samples=samples,
        users=users,
        judges=judges,
        agents=agents,
        difference=difference,
        task_sd=task_sd,
        sample_sd=sample_sd,
        user_sd=user_sd,
        judge_sd=judge_sd,
        task_cost=task_cost,
        trial_cost=trial_cost,
        judgement_cost=judgement_cost,
        these_users=these_users,
    )
    if plot is not None:
        if plot.suffix.casefold() != ".svg":
            raise typer.BadParameter(_("the file's name ends in .svg"), param_hint="--plot")
        check_place(plot)
    if runs:
        pool = pool_of(ours.workspace, runs, judge, only)
        known = measures_in(pool)
        if measure and known and measure not in known:
            raise unknown(_("No such measure"), measure, known)
        usage = [used for run in pool.runs for used in ours.workspace.runs.usage(run.id)]
        found = plans_of(pool, asked, measure=measure, usage=usage)
    else:
        found = (guessed_plan(asked),)
    if plot is not None:
        write_text(plot, as_svg(plan_plot(found[0])) + "\n")
    return Result(
        Page(
            [table for one in found for table in plan_tables(one)],
            _("Plan") if ours.form else "",
            share=True,
        ),
        lambda: {"plans": [plan_json(one) for one in found]},
    )


@verb("cuecard suspects 4 5", *TABLES, holds=True)
def suspects(
    ours: Context,
    runs: Runs,
    *,
    items: Annotated[
        bool, N_("Figures of every item and task instead, and the fewest tasks that keep the order")
    ] = False,
    first: Annotated[
        int | None, Help(N_("How many suspects (20), or of many items (50)"), min=1)
    ] = None,
    judge: Judges = (),
    only: Only = (),
    reveal: Reveal = False,
) -> Result:
    from cuecard.annotate.results.suspect_tables import (
        items_data,
        items_table,
        page_table,
        suspect_data,
        suspect_tables,
        task_tables,
    )
    from cuecard.annotate.results.suspects import evidence, survey
    from cuecard.core.tables.texts import table_data

    pool = pool_of(ours.workspace, runs, judge, only)
    found = survey(ours.workspace, pool, None if items else ours.sight(reveal=reveal), items=items)
    if not found.trials:
        note(_("No trial of these runs is judged. Judge them first (`cuecard judge`)."))
    if items:
        sheets = task_tables(found)
        most = None if ours.form else first or 50
        return Result(
            Page(sheets if ours.json else [items_table(found.tasks, most), *sheets]),
            lambda: {"items": items_data(found), "sheets": list(map(table_data, sheets))},
        )
    listed = found.suspects[: first or 20]
    pages = {
        one.key: evidence(ours.workspace, one) if one.rival or one.figures.opened else ()
        for one in listed
    }
    named = [(one, page) for one in listed for page in pages[one.key]]
    tables = [*suspect_tables(found, first or 20), *([page_table(named)] if named else ())]
    return Result(
        Page(tables),
        lambda: {
            "suspects": [suspect_data(one, pages[one.key]) for one in listed],
            "of": len(found.suspects),
            "given_away": [suspect_data(one) for one in found.given_away],
            "tasks_without_pages": found.unread,
        },
    )
