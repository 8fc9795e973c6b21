"""`cuecard compare`, `table`, `contamination`, `blame` and `report`: what runs say, as tables and as one file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cuecard.core.i18n import N_, _, listed, plural
from cuecard.tui.commands.context import Context, check_judges, check_place, pool_of
from cuecard.tui.commands.output import console, live_progress, note
from cuecard.tui.commands.verb import (
    STDOUT,
    TABLES,
    Budget,
    Help,
    Judges,
    Only,
    Page,
    Result,
    Runs,
    verb,
)

if TYPE_CHECKING:
    from cuecard.annotate.results.designs import DesignResult
    from cuecard.annotate.results.pool import Pool


@verb("cuecard compare 4 5 --by agent --base beta", *TABLES, holds=True)
def compare(
    ours: Context,
    runs: Runs,
    *,
    by: Annotated[
        str,
        N_(
            "What to compare: agent, run, model, scaffold, setting, memory, user, world, judge, compacted"
        ),
    ] = "",
    base: Annotated[str, N_("What the others are held against")] = "",
    measure: Annotated[Sequence[str], N_("Only this measure; may be repeated")] = (),
    design: Annotated[
        str, N_("A ready-made comparison instead, such as settings, memory, judges")
    ] = "",
    judge: Judges = (),
    only: Only = (),
    worst: Annotated[int, Help(N_("How many of the tasks that differ most"), min=0)] = 5,
) -> Result:
    from cuecard.annotate.results.comparison_tables import comparison_tables
    from cuecard.annotate.results.comparisons import COMPARABLE, comparisons, dimension_named
    from cuecard.annotate.results.corrected import (
        corrected_difference_table,
        corrected_differences,
        corrections_in,
    )
    from cuecard.annotate.results.designs import design_tables
    from cuecard.annotate.results.judge_card import exam_notes

    if by and design:
        raise typer.BadParameter(_("--by or --design, not both"), param_hint="--design")
    # A table that is read here needs no title above it.
    title = _("Comparison") if ours.form else ""
    everyone = by == "judge" or design in ("judges", "judge")
    pool = pool_of(ours.workspace, runs, judge, only, all_judges=everyone)
    if design:
        designs = _designs(pool, design)
        tables = [table for one in designs for table in design_tables(pool, one)]
        return Result(
            Page(tables, title, share=True),
            lambda: {"designs": [_design_json(pool, one) for one in designs]},
        )
    # Agents if there are several, else another dimension with several values.
    dimension = dimension_named(
        by or next((d for d in COMPARABLE if len(set(pool.values(d)) - {""}) > 1), "agent")
    )
    found = comparisons(pool, dimension, base or None, measures=measure)
    told = corrected_differences(found, pool, corrections_in(ours.workspace, pool))
    more = corrected_difference_table(found, told)
    tables = [*comparison_tables(found, tasks=worst), *([more] if more else ())]
    tables[-1:] = [table.noted(exam_notes(ours.workspace, pool)) for table in tables[-1:]]
    return Result(
        Page(tables, title, share=True),
        lambda: {
            "runs": [{"id": run.id, "uid": run.uid, "name": run.name} for run in pool.runs],
            "by": dimension,
            "comparisons": [one.model_dump(mode="json") for one in found],
            **({"corrected": [one.model_dump(mode="json") for one in told]} if told else {}),
        },
    )


def _designs(pool: Pool, name: str) -> list[DesignResult]:
    """By its name; `settings`: all that compare settings that the pool has."""
    from cuecard.annotate.results.designs import design_named, designs_in

    if name == "settings":
        found = [one for one in designs_in(pool) if one.design.dimension == "setting"]
        return found or [design_named(pool, "facts_settings")]
    return [design_named(pool, name)]


def _design_json(pool: Pool, one: DesignResult) -> dict[str, object]:
    from cuecard.annotate.results.designs import design_tables
    from cuecard.core.tables.texts import table_data

    return {
        "name": one.design.name,
        "dimension": one.design.dimension,
        "arms": list(one.arms),
        "base": one.base,
        "families": list(one.families),
        "sheets": [table_data(table) for table in design_tables(pool, one)],
    }


@verb("cuecard table main 4 --latex -o main.tex", *TABLES, holds=True)
def table(
    ours: Context,
    name: Annotated[
        str,
        Help(
            N_(
                "main, leaderboard, repeats, interaction, errors, compactions, settings, profiles, tiers, curves, tools, causes, differences, trials or plots"
            ),
            metavar="NAME",
        ),
    ],
    runs: Runs,
    *,
    judge: Judges = (),
    only: Only = (),
    k_trunc: Annotated[
        int | None, Help(N_("With curves: the fixed cohort is of trials with so many calls"), min=1)
    ] = None,
) -> Result:
    from cuecard.annotate.results.papers import PAPER_TABLES, paper_table
    from cuecard.annotate.results.scores import unknown
    from cuecard.core.scoring.trial_score import MAX_K
    from cuecard.core.tables.texts import table_data

    if name not in PAPER_TABLES:
        raise unknown(_("No such table"), name, list(PAPER_TABLES))
    if k_trunc is not None and name != "curves":
        raise typer.BadParameter(_("only for the table curves"), param_hint="--k-trunc")
    if k_trunc is not None and k_trunc > MAX_K:
        told = _("of a trial the first {n} calls are kept").format(n=MAX_K)
        raise typer.BadParameter(told, param_hint="--k-trunc")
    pool = pool_of(ours.workspace, runs, judge, only)
    tables = [table for table in paper_table(pool, name, k_trunc=k_trunc) if table.lines]
    if not tables and not any(row.figures is not None for row in pool.rows):
        note(_("No trial of these runs is judged. Judge them first (`cuecard judge`)."))
    elif not tables:
        note(_("These runs have nothing for the table {name}.").format(name=name))
    sheets = [table_data(table) for table in tables]
    return Result(Page(tables, share=True), lambda: {"table": name, "sheets": sheets})


@verb("cuecard contamination 4", *TABLES, holds=True)
def contamination(
    ours: Context,
    runs: Runs,
    *,
    only: Only = (),
    fail_if_any: Annotated[bool, N_("Exit with 1 where a trial met an answer")] = False,
) -> Result:
    from cuecard.annotate.results.contamination import contamination_tables, exposures
    from cuecard.core.worlds.contamination import Level

    pool = pool_of(ours.workspace, runs, (), only)
    with live_progress(_("Reading pages")) as status:
        found = exposures(
            ours.workspace,
            pool,
            ours.config().contamination,
            None if status is None else lambda done, of: status(f"{done:,}/{of:,}"),
        )
    if not found:
        note(_("No trial of these runs met pages other than those that are made from gold."))
    answers = any(met.level is Level.ANSWER for met in found.values())
    return Result(
        Page(contamination_tables(pool, found), share=True),
        lambda: {
            "trials": [
                {**met.model_dump(mode="json"), "level": met.level.name.lower()}
                for met in found.values()
            ]
        },
        code=int(fail_if_any and answers),
    )


@verb("cuecard blame 4 --model hosted --budget 2", *TABLES, holds=True)
def blame(
    ours: Context,
    runs: Runs,
    *,
    model: Annotated[
        str,
        N_(
            "Have this model of cuecard.yaml propose whose fault each failed trial is; rule is the baseline without a model"
        ),
    ] = "",
    judge: Judges = (),
    only: Only = (),
    concurrency: Annotated[int, Help(N_("Trials at the same time"), min=1, max=256)] = 4,
    budget: Budget = None,
) -> Result:
    from cuecard.annotate.results.errors.blame import blame_tables, failed_trials, said_of, shown_to
    from cuecard.core.evaluation.blame import BlameProposals, propose

    pool = pool_of(ours.workspace, runs, judge, only)
    rows = failed_trials(pool)
    done: BlameProposals | None = None
    if model and rows:
        person = ours.person
        with live_progress(_("Asking whose fault it is")) as status:
            asking = propose(
                ours.workspace,
                [row.trial.id for row in rows],
                person,
                rows[0].judged_by,
                model,
                ours.config(),
                concurrency=concurrency,
                budget=budget,
                on_progress=None if status is None else lambda n, of: status(f"{n:,}/{of:,}"),
            )
            done = asyncio.run(asking)
        alike: dict[str, list[str]] = {}
        for trial, reason in done.failures.items():
            alike.setdefault(reason, []).append(str(trial))
        for reason, trials in alike.items():
            told = {"trials": listed(trials, 6), "reason": reason}
            note(
                plural("Trial {trials}: {reason}", "Trials {trials}: {reason}", len(trials), **told)
            )
    said = said_of(ours.workspace, rows)
    if not any(row.judge for row in pool.rows):
        note(_("No trial of these runs is judged. Judge them first (`cuecard judge`)."))
    elif not rows:
        note(_("No trial of these runs failed."))
    elif not said:
        note(
            _(
                "Nobody has said whose fault any of the {n} failed trials is. In the app, . and f in a trial says it; --model proposes."
            ).format(n=len(rows))
        )
    return Result(
        Page(blame_tables(rows, said, ours.reader), share=True),
        lambda: {
            "failed": [row.trial.id for row in rows],
            "said": [one.model_dump(mode="json") for one in shown_to(ours.reader, said)],
            "proposed": done.model_dump(mode="json") if done else None,
        },
        code=int(bool(done and done.failures)),
    )


@verb("cuecard report 4 5 -o report.html", holds=True)
def report(
    ours: Context,
    runs: Annotated[Sequence[int], Help(N_("Runs by number"), metavar="RUN")],
    *,
    output: Annotated[
        Path, Help(N_("Write to this file; - is standard output"), "-o", "--output")
    ] = STDOUT,
    format: Annotated[
        Literal["html", "md", "tex", "csv", "json"] | None,
        N_("Default: by the file's suffix, else Markdown"),
    ] = None,
    title: Annotated[str, N_("Default: the names of the runs")] = "",
    judge: Annotated[str, N_("Whose judgements; none means the first of the run's judges")] = "",
    no_plots: Annotated[bool, N_("Without plots")] = False,
) -> Result:
    from cuecard.annotate.results.report import report_of
    from cuecard.annotate.results.report_formats import format_of, written

    wanted = format or ("md" if output == STDOUT else format_of(output))
    if wanted is None:
        raise typer.BadParameter(
            _("the file's suffix names no format; give one with --format"), param_hint="--output"
        )
    if output != STDOUT:
        check_place(output)
    check_judges(ours.workspace, runs, (judge,) if judge else ())
    with console(stderr=True).status("") as status:
        found = report_of(
            ours.workspace,
            runs,
            title=title,
            judges=(judge,) if judge else (),
            plots=not no_plots,
            contamination=ours.config().contamination,
            on_count=lambda done, of: status.update(
                _("Counting trials: {done} of {all}").format(done=f"{done:,}", all=f"{of:,}")
            ),
            doing=status.update,
        )
        status.update(_("Writing"))
        return Result(document=written(found, wanted), output=output)
