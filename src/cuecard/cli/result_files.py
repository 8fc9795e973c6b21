"""Where tables and reports go: a file that can be written to is asked for before anything is counted."""

from __future__ import annotations

from pathlib import Path

from cuecard.cli.output import note
from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _

STDOUT = Path("-")


def check_place(output: Path) -> None:
    """Raises `CuecardError` for a place that holds no file."""
    if output.is_dir():
        raise _unwritable(output, _("it is a folder"))
    if not output.parent.is_dir():
        raise _unwritable(output, _("there is no such folder"))


def write_result(output: Path, text: str) -> None:
    """Replace the file, whole or not at all, and say so. Raises `CuecardError`."""
    from cuecard.core.formats.json_files import write_text
    from cuecard.core.text import storable

    write_text(output, storable(text))
    note(_("Written to {file}.").format(file=output))


def _unwritable(output: Path, why: str) -> CuecardError:
    return CuecardError(
        _("This file cannot be written"), f"{output}: {why}", _("Choose another file with -o.")
    )
