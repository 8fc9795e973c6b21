"""VibeSearchBench's meta-evaluation sheets: recall with a gold triple a line, precision with a predicted one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cuecard.annotate.labelling.files.entries import (
    CHINESE,
    Entry,
    LabelFile,
    Problems,
    Rows,
    Value,
    parse_rows,
    read_text,
    value_of,
)
from cuecard.core.i18n import _
from cuecard.core.label_records import LabelValue
from cuecard.core.tables.texts import csv_text, guarded, unguarded
from cuecard.core.text import one_line
from cuecard.core.verdicts import Item, ItemKind

SheetKind = Literal["recall", "precision"]
KIND_OF: dict[SheetKind, ItemKind] = {"recall": ItemKind.TRIPLE, "precision": ItemKind.PREDICTED}
COLUMNS: dict[SheetKind, tuple[str, ...]] = {
    "recall": (
        *("gt_index", "head", "relation", "tail", "model_covered", "supporting_pred_triples"),
        *("human_label", "human_comment"),
    ),
    "precision": (
        *("pred_index", "head", "relation", "tail", "model_valid", "supporting_gt_triples"),
        *("human_label", "human_comment"),
    ),
}
_INDEX = re.compile(r"[0-9]{1,9}(?:\.0+)?")
"""An index; a spreadsheet may have written 3 as 3.0."""


@dataclass(frozen=True)
class SheetRow:
    """A line of a sheet. `model`, `human`: None if the cell is blank. `supporting`: triples (head, relation, tail)."""

    index: int
    triple: tuple[str, str, str]
    model: LabelValue | None = None
    supporting: tuple[str, ...] = ()
    human: LabelValue | None = None
    comment: str = ""
    line: int = 0


@dataclass(frozen=True)
class Sheet:
    """A meta-evaluation sheet of one trial."""

    kind: SheetKind
    rows: tuple[SheetRow, ...]


def sheet_kind(columns: Sequence[str]) -> SheetKind | None:
    """Which sheet has these columns; None for another table."""
    if "gt_index" in columns:
        return "recall"
    return "precision" if "pred_index" in columns else None


def read_sheet(path: Path) -> Sheet:
    """Read a sheet. Raises `FileProblems` with everything that is wrong."""
    problems = Problems(str(path))
    rows = parse_rows(read_text(path), problems)
    kind = sheet_kind(rows.columns)
    if kind is None and not problems.found:
        text = _("is no meta-evaluation sheet: it has neither a gt_index nor a pred_index column")
        problems.add(1, text)
    sheet = parse_sheet(rows, kind or "recall", problems)
    problems.raise_any()
    return sheet


def parse_sheet(rows: Rows, kind: SheetKind, problems: Problems) -> Sheet:
    """What the table says; what is wrong goes to `problems`. Columns that it need not have are model's,
    the supporting triples and the comment.
    """
    index, head, relation, tail, model, supporting, human, comment = COLUMNS[kind]
    for name in (index, head, relation, tail, human):
        if name not in rows.columns and not problems.found:
            problems.add(1, _("there is no column {name}").format(name=name))
    if problems.found:
        return Sheet(kind, ())
    found: list[SheetRow] = []
    lines: dict[int, int] = {}
    for line, cells in rows.rows:
        number = cells[index].strip()
        if not _INDEX.fullmatch(number):
            problems.add(line, _("{value} is no index").format(value=one_line(number, 40)), index)
            continue
        at = int(number.partition(".")[0])
        if at in lines:
            text = _("index {n} stands already in line {line}").format(n=at, line=lines[at])
            problems.add(line, text)
            continue
        lines[at] = line
        triple = (unguarded(cells[head]), unguarded(cells[relation]), unguarded(cells[tail]))
        found.append(
            SheetRow(
                index=at,
                triple=triple,
                model=_decision(cells.get(model, ""), model, line, problems),
                supporting=tuple(
                    unguarded(text.strip())
                    for text in cells.get(supporting, "").splitlines()
                    if text.strip()
                ),
                human=_decision(cells[human], human, line, problems),
                comment=unguarded(cells.get(comment, "")),
                line=line,
            )
        )
    if not found and not problems.found:
        problems.add(None, _("has no lines below its column names"))
    return Sheet(kind, tuple(found))


def _decision(word: str, column: str, line: int, problems: Problems) -> LabelValue | None:
    try:
        value: Value | None = value_of(word, ItemKind.TRIPLE)
    except ValueError:
        text = _("{value} is none of 是, 否, 不确定 (or yes, no, unsure)")
        problems.add(line, text.format(value=one_line(word, 40)), column)
        return None
    return LabelValue(value.value) if value is not None else None


def sheet_text(sheet: Sheet, more: Sequence[str] = (), extra: Sequence[Sequence[str]] = ()) -> str:
    """The sheet as its CSV. `more`: further columns behind its own, with `extra`, their cells row by row."""
    lines = [
        [
            str(row.index),
            *map(guarded, row.triple),
            CHINESE[row.model] if row.model else "",
            "\n".join(guarded(text) for text in row.supporting),
            CHINESE[row.human] if row.human else "",
            guarded(row.comment),
            *(guarded(cell) for cell in (extra[at] if extra else ())),
        ]
        for at, row in enumerate(sheet.rows)
    ]
    return csv_text((*COLUMNS[sheet.kind], *more), lines)


def label_file(path: Path, rows: Rows, kind: SheetKind, problems: Problems) -> LabelFile:
    """The sheet's labels as entries, which name no trial."""
    sheet = parse_sheet(rows, kind, problems)
    return LabelFile(
        path=str(path),
        name=path.name,
        format="vibesearch",
        sheet=kind,
        shows_judge=any(row.model for row in sheet.rows),
        entries=tuple(
            Entry(
                line=row.line,
                item=Item(kind=KIND_OF[kind], index=row.index),
                texts=row.triple,
                value=row.human,
                comment=row.comment,
            )
            for row in sheet.rows
        ),
    )
