"""What `cuecard import` needs around the files: a counter on a terminal, and standard input as a file."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cuecard.cli.output import console
from cuecard.core.i18n import _
from cuecard.core.text import one_line

if TYPE_CHECKING:
    from cuecard.lab.importing import ImportReport

_STDIN = Path("-")
_FEW = 50


@contextmanager
def counting(path: Path) -> Generator[Callable[[int, int], bool] | None]:
    """A listener for the progress of an import; None where nobody watches."""
    if not console(stderr=True).is_terminal:
        yield None
        return
    from rich.text import Text

    with console(stderr=True).status(Text(one_line(str(path)))) as status:

        def progress(done: int, of: int) -> bool:
            if of > _FEW:
                text = _("{path}: {done} of {all} files")
                status.update(Text(one_line(text.format(path=path, done=done, all=of))))
            return True

        yield progress


@contextmanager
def standard_input(paths: Sequence[Path]) -> Generator[list[Path]]:
    """The same paths, with `-` as a file that holds what stands on standard input."""
    if _STDIN not in paths:
        yield list(paths)
        return
    data = sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory(prefix="cuecard-") as folder:
        file = Path(folder) / f"stdin{_suffix(data)}"
        file.write_bytes(data)
        yield [file if path == _STDIN else path for path in paths]


def called(report: ImportReport, file: Path, path: Path) -> ImportReport:
    """The report with the name that the person gave."""
    if file == path:
        return report
    return report.model_copy(
        update={
            "tasks": tuple(one.model_copy(update={"file": str(path)}) for one in report.tasks),
            "problems": tuple(p.model_copy(update={"file": str(path)}) for p in report.problems),
        }
    )


def _suffix(data: bytes) -> str:
    """The suffix under which the formats look for such data."""
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return {b"{": ".json", b"[": ".json", b"<": ".graphml"}.get(start, ".yaml")
