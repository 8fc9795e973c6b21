"""Rules about table tasks."""

from __future__ import annotations

from cuecard.annotate.lint.finding import Finding, error
from cuecard.core.i18n import _
from cuecard.core.tasks import Table
from cuecard.core.text import normalise


def lint_table(table: Table) -> list[Finding]:
    """L003 and L012."""
    findings: list[Finding] = []
    first: dict[tuple[str, ...], int] = {}
    for index, row in enumerate(table.rows):
        key = tuple(normalise(cell) for cell in table.key_of(row))
        for column, cell in zip(table.unique_columns, key, strict=True):
            if not cell:
                findings.append(
                    error(
                        "L012",
                        f"gold.rows[{index}]",
                        _("the key column {column} is empty").format(column=column),
                        _("Fill it in; rows are joined on their key."),
                    )
                )
        if key in first and all(key):
            findings.append(
                error(
                    "L003",
                    f"gold.rows[{index}]",
                    _("the same key stands at gold.rows[{first}]").format(first=first[key]),
                    _("Remove one row, or add a column to unique_columns that tells them apart."),
                )
            )
        first.setdefault(key, index)
    return findings
