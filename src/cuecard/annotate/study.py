"""The example study: a workspace that comes with Cuecard, in which there is something to see."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.core.errors import CuecardError, system_words
from cuecard.core.i18n import _, headed
from cuecard.core.system import replace_file

if TYPE_CHECKING:
    from cuecard.store.workspace import Workspace

STUDY = "(made for demonstration)"
"""What the names of the example study's runs end with."""
STUDY_NAME = "example-study.db"
"""The name of its file, in the folder where one works."""
STUDY_FILE = "examples/study.db.xz"
"""A workspace, compressed; `scripts/example_study.py` builds it."""


def write_study(file: Path) -> Path:
    """Write the example study as a workspace of its own; one that is there stays as it is. Raises `CuecardError`."""
    import lzma

    if file.exists():
        return file
    packed = (resources.files("cuecard") / STUDY_FILE).read_bytes()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, lzma.decompress(packed), new=True)
    except FileExistsError:
        return file
    except OSError as error:
        raise CuecardError(
            _("This file cannot be written"), headed(file, system_words(error))
        ) from error
    return file


def is_study(workspace: Workspace) -> bool:
    """Whether this workspace is the example study, whose people and results are made up."""
    return any(run.name.endswith(STUDY) for run in workspace.runs.all("grid"))
