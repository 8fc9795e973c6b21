"""Logging the queries issued and pages consulted while a task is written, by one key from any tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cuecard.core.i18n import _, ngettext
from cuecard.tui.screens.task.dialogs import AskLine
from cuecard.tui.screens.task.evidence import EvidencePane
from cuecard.tui.state.effort_view import last_page

if TYPE_CHECKING:
    from cuecard.tui.screens.task.drafting import DraftingScreen


async def log_effort(screen: DraftingScreen, kind: Literal["query", "page"]) -> None:
    """Ask what was searched for or which page it was, and enter it. Raises `CuecardError`."""
    task_id, person = screen.task_id, screen.author
    if kind == "query":
        question = AskLine(
            _("Log a query"),
            _("What did you search for? Left empty, the query is only counted."),
            button=_("Log"),
            required=False,
        )
    else:
        entries = await screen.services.ask(lambda ws: ws.effort.of(task_id))
        question = AskLine(
            _("Log a page"),
            _("Which page did you consult, by address or title? Left empty, it is only counted."),
            button=_("Log"),
            value=last_page(entries, person),
            required=False,
        )
    text = await screen.app.push_screen_wait(question)
    if text is None:
        return
    await screen.services.ask(lambda ws: ws.effort.add(task_id, person, kind, 1, text))
    totals = await screen.services.ask(lambda ws: ws.effort.totals(task_id, person))
    if kind == "query":
        told = ngettext("{n} query logged.", "{n} queries logged.", totals.queries)
        screen.cue_app.tell(told.format(n=totals.queries))
    else:
        told = ngettext("{n} page logged.", "{n} pages logged.", totals.pages)
        screen.cue_app.tell(told.format(n=totals.pages))
    await show_effort(screen)


async def show_effort(screen: DraftingScreen) -> None:
    """Tell the evidence tab, if it was opened, what is logged so far."""
    panes = screen.query(EvidencePane)
    if panes:
        task_id, person = screen.task_id, screen.author
        mine, everybody, entries = await screen.services.ask(
            lambda ws: (
                ws.effort.totals(task_id, person),
                ws.effort.totals(task_id),
                ws.effort.of(task_id),
            )
        )
        for pane in panes:
            pane.show_effort(mine, everybody, entries)
