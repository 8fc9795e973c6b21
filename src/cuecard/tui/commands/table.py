"""`cuecard table`: a paper's table, filled from runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cuecard.core.i18n import _
from cuecard.tui.commands.context import STDOUT, Context, check_place, write_result
from cuecard.tui.commands.output import as_json, note

if TYPE_CHECKING:
    from cuecard.core.tables.texts import Form


def table(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help=_(
                "main, interaction, errors, compactions, settings, profiles, tiers, curves, tools, causes, differences, trials or plots"
            ),
        ),
    ],
    runs: Annotated[list[int], typer.Argument(metavar="RUN...", help=_("Numbers of the runs"))],
    judge: Annotated[
        list[str] | None,
        typer.Option(help=_("Whose judgements; may be repeated. Default: each run's first judge")),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="DIMENSION=VALUE", help=_("Only these trials; may be repeated")),
    ] = None,
    k_trunc: Annotated[
        int | None,
        typer.Option(
            "--k-trunc",
            min=1,
            help=_("With curves: the fixed cohort is of trials with so many calls"),
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help=_("Print Markdown"))] = False,
    latex: Annotated[bool, typer.Option("--latex", help=_("Print LaTeX"))] = False,
    csv: Annotated[bool, typer.Option("--csv", help=_("Print CSV"))] = False,
    json: Annotated[bool, typer.Option("--json", help=_("Print JSON"))] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help=_("Write to this file instead"))
    ] = None,
) -> None:
    if sum((markdown, latex, csv, json)) > 1:
        raise typer.BadParameter(_("one format at a time"), param_hint="--markdown")
    from cuecard.annotate.results.papers import PAPER_TABLES, paper_table
    from cuecard.annotate.results.scores import unknown
    from cuecard.core.scoring.trial_score import MAX_K
    from cuecard.core.tables.texts import table_data, tables_text
    from cuecard.tui.commands.context import pool_of

    if name not in PAPER_TABLES:
        raise unknown(_("No such table"), name, list(PAPER_TABLES))
    if k_trunc is not None and name != "curves":
        raise typer.BadParameter(_("only for the table curves"), param_hint="--k-trunc")
    if k_trunc is not None and k_trunc > MAX_K:
        told = _("of a trial the first {n} calls are kept").format(n=MAX_K)
        raise typer.BadParameter(told, param_hint="--k-trunc")
    output = None if output == STDOUT else output
    kind = _kind(output, markdown=markdown, latex=latex, csv=csv, json=json)
    if output is not None:
        check_place(output)
    with Context.of(context).workspace() as workspace:
        pool = pool_of(workspace, runs, judge or (), only or ())
    tables = [table for table in paper_table(pool, name, k_trunc=k_trunc) if table.lines]
    if not tables:
        note(_nothing(name, judged=any(row.figures is not None for row in pool.rows)))
        if output is not None:
            return
    if kind == "json" and output is None:
        as_json({"table": name, "sheets": [table_data(table) for table in tables]})
        return
    if not kind:
        from cuecard.tui.commands.table_output import print_result_tables

        print_result_tables(tables, markdown=False)
        return
    text = tables_text(tables, kind, table=name)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_result(output, text)


def _nothing(name: str, *, judged: bool) -> str:
    if not judged:
        return _("No trial of these runs is judged. Judge them first (`cuecard judge`).")
    return _("These runs have nothing for the table {name}.").format(name=name)


def _kind(
    output: Path | None, *, markdown: bool, latex: bool, csv: bool, json: bool
) -> Form | None:
    """Raises `BadParameter` for a suffix that names no format, where none was asked for."""
    asked: dict[Form, bool] = {"md": markdown, "tex": latex, "csv": csv, "json": json}
    chosen: Form | None = next((kind for kind, wanted in asked.items() if wanted), None)
    if chosen or output is None:
        return chosen
    named = output.suffix.lstrip(".").casefold()
    word = {"markdown": "md", "latex": "tex"}.get(named, named)
    kind: Form | None = next((kind for kind in asked if kind == word), None)
    if kind is None:
        raise typer.BadParameter(
            _("the file's suffix names no format; give one with --format"), param_hint="--output"
        )
    return kind
