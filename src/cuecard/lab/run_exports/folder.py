"""A folder that is written whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import JsonValue
from pydantic_core import to_json

from cuecard.core.errors import CuecardError
from cuecard.core.i18n import _


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """A place beside `folder` to write into; it takes the name `folder` in the end, and goes if anything fails.

    Raises `CuecardError` for a folder that holds something (an export is never mixed with other files) and for
    one that cannot be written.
    """
    check_new(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.part-", dir=folder.parent))
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        yield draft
        if folder.is_dir():
            folder.rmdir()
        draft.chmod(0o755)
        draft.rename(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error
    finally:
        if draft.exists():
            shutil.rmtree(draft, ignore_errors=True)


def check_new(folder: Path) -> None:
    """Raises `CuecardError` where something stands in this place."""
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise _unwritable(folder, error) from error
    if taken:
        raise CuecardError(
            _("There is something in this place already"),
            str(folder),
            _(
                "Name a folder that is empty or not there yet: an export is mixed with nothing else."
            ),
        )


def append_line(path: Path, data: Mapping[str, JsonValue]) -> None:
    """One more line of JSON lines; what is no number in JSON becomes null."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(as_json(data) + b"\n")


def write_json(path: Path, data: Mapping[str, JsonValue], indent: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_json(data, indent) + b"\n")


def as_json(data: object, indent: int | None = None) -> bytes:
    return to_json(data, indent=indent, inf_nan_mode="null")


def _unwritable(folder: Path, error: OSError) -> CuecardError:
    return CuecardError(_("This folder cannot be written"), f"{folder}: {error.strerror or error}")
