"""What a file says of items: one entry for each line, read but not yet believed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from cuecard.annotate.labels_io.words import Value
from cuecard.core.errors import FileProblem, FileProblems
from cuecard.core.i18n import _
from cuecard.core.verdicts import Item
from cuecard.store.label_records import Phase

Format = Literal["vibesearch", "csv", "jsonl", "labelstudio"]


@dataclass(frozen=True)
class Entry:
    """`line` counts from 1. `trial`: as the file names it, "" if it does not; `texts`: what the item says,
    by its parts or as a whole, nothing if the file does not tell. `value` None: not labelled. `person`,
    `phase` and `at`: where the file tells.
    """

    line: int
    item: Item
    trial: str = ""
    texts: tuple[str, ...] = ()
    person: str = ""
    value: Value | None = None
    comment: str = ""
    seconds: float = 0
    gold_wrong: bool = False
    phase: Phase | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class LabelFile:
    """A file that was read. `sheet`: which of the two kinds of meta-evaluation sheets it is; its entries
    name no trial. `shows_judge`: the judge's decision stands beside the label.
    """

    path: str
    name: str
    format: Format
    entries: tuple[Entry, ...]
    sheet: Literal["", "recall", "precision"] = ""
    shows_judge: bool = False


class Problems:
    """Collects what is wrong with one file, not only the first."""

    MOST = 50

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[FileProblem] = []

    def add(self, line: int | None, reason: str, place: str = "") -> None:
        where = _("line {line}").format(line=line) if line else ""
        where = ", ".join(part for part in (where, place) if part)
        self.found.append(FileProblem(self.file, where, reason, line))

    def raise_any(self) -> None:
        """Raises `FileProblems` if there is anything."""
        if self.found:
            raise refused(self.found)


def refused(problems: Sequence[FileProblem]) -> FileProblems:
    shown = list(problems[: Problems.MOST])
    if len(problems) > len(shown):
        text = _("and {n} more problems").format(n=len(problems) - len(shown))
        shown.append(FileProblem(problems[-1].file, "", text))
    return FileProblems(
        _("These labels cannot be taken"),
        shown,
        _("Nothing was imported, from none of the files."),
    )
