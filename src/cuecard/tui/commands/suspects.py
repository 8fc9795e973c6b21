"""`cuecard suspects`: gold that may be wrong, by what all trials say of it, and figures of items and tasks."""

from typing import Annotated

from cuecard.core.i18n import N_, _
from cuecard.tui.commands.context import Context, pool_of
from cuecard.tui.commands.output import note
from cuecard.tui.commands.verb import TABLES, Help, Judges, Only, Page, Result, Reveal, Runs, verb


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
