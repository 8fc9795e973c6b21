"""`cuecard compare`: compare agents, runs, settings or judges on the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import Context
from cuecard.tui.commands.output import as_json, say

if TYPE_CHECKING:
    from cuecard.annotate.results.designs import DesignResult
    from cuecard.annotate.results.pool import Pool
    from cuecard.core.tables.table import Table


def compare(
    context: typer.Context,
    runs: Annotated[list[int], typer.Argument(metavar="RUN...", help=_("Numbers of the runs"))],
    by: Annotated[
        str,
        typer.Option(
            help=_(
                "What to compare: agent, run, model, scaffold, setting, memory, user, world, judge, compacted"
            )
        ),
    ] = "",
    base: Annotated[str, typer.Option(help=_("What the others are held against"))] = "",
    measure: Annotated[
        list[str] | None, typer.Option(help=_("Only this measure; may be repeated"))
    ] = None,
    design: Annotated[
        str,
        typer.Option(help=_("A ready-made comparison instead, such as settings, memory, judges")),
    ] = "",
    judge: Annotated[
        list[str] | None,
        typer.Option(help=_("Whose judgements; may be repeated. Default: each run's first judge")),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="DIMENSION=VALUE", help=_("Only these trials; may be repeated")),
    ] = None,
    worst: Annotated[
        int, typer.Option(min=0, help=_("How many of the tasks that differ most"))
    ] = 5,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
) -> None:
    if json and markdown:
        raise typer.BadParameter(_("--json or --markdown, not both"), param_hint="--markdown")
    if by and design:
        raise typer.BadParameter(_("--by or --design, not both"), param_hint="--design")
    from cuecard.tui.commands.context import pool_of

    with Context.of(context).workspace() as workspace:
        pool = pool_of(
            workspace,
            runs,
            judge or (),
            only or (),
            all_judges=by == "judge" or design in ("judges", "judge"),
        )
    if design:
        _show_designs(pool, _designs(pool, design), json=json, markdown=markdown)
        return
    from cuecard.annotate.results.comparison_tables import comparison_tables
    from cuecard.annotate.results.comparisons import comparisons, dimension_named

    dimension = dimension_named(by) if by else _first_that_differs(pool)
    found = comparisons(pool, dimension_named(dimension), base or None, measures=measure or ())
    if json:
        runs_told = [{"id": run.id, "uid": run.uid, "name": run.name} for run in pool.runs]
        compared = [one.model_dump(mode="json") for one in found]
        as_json({"runs": runs_told, "by": dimension, "comparisons": compared})
        return
    _print(comparison_tables(found, tasks=worst), markdown=markdown)


def _first_that_differs(pool: Pool) -> str:
    """The default dimension: agents if there are several, else another with several values."""
    from cuecard.annotate.results.comparisons import COMPARABLE

    return next((d for d in COMPARABLE if len(set(pool.values(d)) - {""}) > 1), "agent")


def _designs(pool: Pool, name: str) -> list[DesignResult]:
    """By its name; `settings`: all that compare settings that the pool has."""
    from cuecard.annotate.results.designs import design_named, designs_in

    if name == "settings":
        found = [one for one in designs_in(pool) if one.design.dimension == "setting"]
        return found or [design_named(pool, "facts_settings")]
    return [design_named(pool, name)]


def _show_designs(
    pool: Pool, designs: Sequence[DesignResult], *, json: bool, markdown: bool
) -> None:
    from cuecard.annotate.results.designs import design_tables
    from cuecard.core.tables.texts import table_data

    if json:
        as_json(
            {
                "designs": [
                    {
                        "name": one.design.name,
                        "dimension": one.design.dimension,
                        "arms": list(one.arms),
                        "base": one.base,
                        "families": list(one.families),
                        "sheets": [table_data(table) for table in design_tables(pool, one)],
                    }
                    for one in designs
                ]
            }
        )
        return
    _print([s for one in designs for s in design_tables(pool, one)], markdown=markdown)


def _print(tables: Sequence[Table], *, markdown: bool) -> None:
    from cuecard.tui.commands.table_output import print_result_tables

    if markdown:
        say("# " + _("Comparison") + "\n")
    print_result_tables(tables, markdown=markdown)
