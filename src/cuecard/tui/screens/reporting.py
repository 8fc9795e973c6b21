"""Write a report on runs to a file that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _
from cuecard.core.text import slug
from cuecard.tui.state.paths import path_of

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace
    from cuecard.tui.base import CuecardScreen


async def write_report(screen: CuecardScreen[Any], runs: Sequence[int], title: str) -> None:
    """Ask where to, and write it in the format that the file's suffix names. Raises `CuecardError`."""
    from cuecard.core.formats.json_files import write_text
    from cuecard.results.report.gathering import report_of
    from cuecard.results.report.writing import FORMATS, format_of, written
    from cuecard.tui.screens.fidelity_dialogs import PathDialog

    text = _(
        "Scores, comparisons, errors, plots and the method, in one file that can be sent: .html, .md, .tex, .csv"
        " or .json. A file that is there is replaced."
    )
    typed = await screen.app.push_screen_wait(
        PathDialog(_("Write a report"), text, f"{slug(title) or 'report'}.html")
    )
    if typed is None:
        return
    path = path_of(typed)
    format = format_of(path)
    if format is None:
        raise CuecardError(
            _("The report could not be written"),
            _("the file's suffix names no format"),
            ", ".join(f".{known}" for known in FORMATS),
        )
    screen.cue_app.tell(_("Writing the report …"))

    def write(workspace: Workspace) -> Path:
        return write_text(path, written(report_of(workspace, runs), format))

    file = await screen.services.ask(write)
    screen.cue_app.tell(_("Written: {path}").format(path=file))
